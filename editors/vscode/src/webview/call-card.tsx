/** A tool call: one line, which opens to what went in and what came out. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CallItem } from "../shared/chat";
import { inputFields } from "../shared/input-fields";
import { neutral, neutralOutput } from "../shared/neutral";
import { isOver } from "../shared/reduce";
import { duration } from "../shared/words";
import { Icon } from "./icon";

export function CallCard({ item }: { item: CallItem }) {
  // Until the user says otherwise, it is open while it runs, and when it failed.
  const [wish, setWish] = useState<boolean | undefined>(undefined);
  const isOpen = wish ?? (item.status === "in_progress" || item.status === "failed");
  const { icon, words } = stateOf(item);
  const title = neutral(item.title);
  return (
    <section class={`call ${item.status}`} aria-label={`${title}: ${words}`}>
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={() => setWish(!isOpen)} title={title}>
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
        <Icon name={icon} spins={icon === "loading"} />
        <span class="call-title">{title}</span>
        <Facts item={item} />
      </button>
      {isOpen && (
        <div class="call-body">
          <Input item={item} />
          <Output item={item} />
        </div>
      )}
    </section>
  );
}

function stateOf(item: CallItem): { icon: string; words: string } {
  switch (item.status) {
    case "pending":
      return { icon: "circle-outline", words: "waiting" };
    case "in_progress":
      return { icon: "loading", words: "running" };
    case "completed":
      return item.exitCode !== undefined && item.exitCode !== 0 ? { icon: "warning", words: "done" } : { icon: "check", words: "done" };
    case "failed":
      return { icon: "error", words: "failed" };
  }
}

function Facts({ item }: { item: CallItem }) {
  const took = item.startedAt !== undefined && item.endedAt !== undefined ? duration(item.endedAt - item.startedAt) : "";
  return (
    <span class="call-facts">
      {item.exitCode !== undefined && <span class={item.exitCode === 0 ? "exit" : "exit bad"}>exit code {item.exitCode}</span>}
      {took !== "" && <span>{took}</span>}
    </span>
  );
}

function Input({ item }: { item: CallItem }) {
  const fields = inputFields(item.input).filter(({ value }) => !item.title.endsWith(value));
  if (fields.length === 0) return null;
  return (
    <dl class="call-input">
      {fields.map(({ name, value }) => (
        <>
          <dt>{name}</dt>
          <dd>{neutral(value)}</dd>
        </>
      ))}
    </dl>
  );
}

function Output({ item }: { item: CallItem }) {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    // While it runs, its end is what matters.
    if (box.current !== null && !isOver(item.status)) box.current.scrollTop = box.current.scrollHeight;
  }, [item.output, item.status]);
  if (item.output === "") return <p class="call-quiet">{isOver(item.status) ? "No output" : "No output yet"}</p>;
  return (
    <>
      {item.leftOut > 0 && <p class="call-quiet">{item.leftOut.toLocaleString()} characters before this are not shown</p>}
      <pre class="call-output" ref={box} tabIndex={0} aria-label="Output">
        {neutralOutput(item.output)}
      </pre>
    </>
  );
}
