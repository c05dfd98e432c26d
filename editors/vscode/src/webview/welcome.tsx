/** What is shown when there is no server to talk to: why, and what to do. */

import type { Connection } from "../shared/chat";
import type { PageCommand } from "../shared/messages";
import { Icon } from "./icon";
import { post } from "./vscode-api";

type Kind = Extract<Connection, { kind: "restricted" | "no_folder" | "failed" }>;

export function Welcome({ connection }: { connection: Kind }) {
  switch (connection.kind) {
    case "restricted":
      return (
        <Page icon="shield" title="Airlock is off in Restricted Mode">
          <p>Nothing of this workspace is read, and nothing is started, until you trust it.</p>
          <Action command="airlock.manageTrust" label="Manage Workspace Trust" />
        </Page>
      );
    case "no_folder":
      return (
        <Page icon="folder" title="Open a folder to begin">
          <p>The agent works on a copy-on-write view of a folder. Your files change only when you accept what it did.</p>
          <Action command="airlock.openFolder" label="Open Folder" />
        </Page>
      );
    case "failed":
      return (
        <Page icon="error" title="Airlock is not running">
          <p class="reason" role="alert">{connection.reason}</p>
          <Action command="airlock.restartServer" label="Try Again" />
          <Action command="airlock.openSettings" label="Open Settings" secondary />
          <Action command="airlock.showLog" label="Show Log" secondary />
        </Page>
      );
  }
}

function Page({ icon, title, children }: { icon: string; title: string; children: preact.ComponentChildren }) {
  return (
    <main class="welcome">
      <Icon name={icon} />
      <h1>{title}</h1>
      {children}
    </main>
  );
}

function Action({ command, label, secondary = false }: { command: PageCommand; label: string; secondary?: boolean }) {
  return (
    <button type="button" class={secondary ? "button secondary" : "button"} onClick={() => post({ type: "run", command })}>
      {label}
    </button>
  );
}
