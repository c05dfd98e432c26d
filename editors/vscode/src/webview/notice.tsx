/** What Airlock itself tells the user. */

import type { EndItem } from "../shared/chat";
import { neutral } from "../shared/neutral";
import type { NoticeLevel } from "../shared/protocol";
import { stopped } from "../shared/words";
import { Icon } from "./icon";

const ICONS: Record<NoticeLevel, string> = { info: "info", warning: "warning", error: "error" };

export function Notice({ level, text }: { level: NoticeLevel; text: string }) {
  return (
    <div class={`notice ${level}`} role={level === "error" ? "alert" : "note"}>
      <Icon name={ICONS[level]} />
      <span>{sentence(neutral(text))}</span>
    </div>
  );
}

/** How a turn ended that did not end well. */
export function EndLine({ item }: { item: EndItem }) {
  const words = stopped(item.stopReason);
  if (item.stopReason === "cancelled") {
    return (
      <p class="end">
        <Icon name="debug-stop" /> {words}
      </p>
    );
  }
  return <Notice level={item.stopReason === "error" ? "error" : "warning"} text={item.error ?? words} />;
}

/** The server's messages are parts of sentences; here they stand alone. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
