/** What was said: by the user, by the agent, and by the agent to itself. */

import { useMemo } from "preact/hooks";
import type { AnswerItem, QueuedPrompt, ThoughtItem, UserItem } from "../shared/chat";
import { neutral } from "../shared/neutral";
import { Icon } from "./icon";
import { toHtml } from "./markdown";
import { post } from "./vscode-api";

export function UserMessage({ item }: { item: UserItem }) {
  return (
    <article class="user" aria-label="You">
      <Prompt {...item} />
    </article>
  );
}

/** What the user asked while the agent was at work. */
export function QueuedMessage({ prompt }: { prompt: QueuedPrompt }) {
  return (
    <article class="user queued" aria-label="You, not asked yet">
      <Prompt {...prompt} />
      <p class="queue-note">
        <Icon name="clock" /> Waits until the agent is done
        <button type="button" class="icon-button" title="Take back" aria-label="Take back" onClick={() => post({ type: "takeBack", id: prompt.id })}>
          <Icon name="close" />
        </button>
      </p>
    </article>
  );
}

function Prompt({ text, about }: { text: string; about: string[] }) {
  return (
    <>
      {about.length > 0 && (
        <ul class="about" aria-label="About">
          {about.map((place) => (
            <li key={place}>{neutral(place)}</li>
          ))}
        </ul>
      )}
      <div class="text">{neutral(text)}</div>
    </>
  );
}

export function Answer({ item }: { item: AnswerItem }) {
  return (
    <article class="answer" aria-label="Airlock">
      <Markdown text={item.text} />
    </article>
  );
}

export function Thought({ item, isOpen }: { item: ThoughtItem; isOpen: boolean }) {
  return (
    <details class="thought">
      <summary>
        <Icon name="lightbulb" /> {isOpen ? "Thinking" : "Thought about it"}
      </summary>
      <Markdown text={item.text} />
    </details>
  );
}

function Markdown({ text }: { text: string }) {
  const html = useMemo(() => toHtml(text), [text]);
  return <div class="markdown" onClick={follow} onKeyDown={followByKey} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** Files open in the editor, code goes to the clipboard; links to the web are VS Code's to ask about. */
function follow(event: Event): void {
  const target = event.target as HTMLElement;
  const file = target.closest<HTMLElement>("[data-file]")?.dataset["file"];
  if (file !== undefined) {
    event.preventDefault();
    post({ type: "openFile", path: file });
  } else if (target.classList.contains("copy")) {
    const code = target.closest(".code")?.querySelector("pre")?.textContent ?? "";
    post({ type: "copy", text: code });
    target.textContent = "Copied";
    setTimeout(() => (target.textContent = "Copy"), 1500);
  }
}

function followByKey(event: KeyboardEvent): void {
  const isFile = (event.target as HTMLElement).dataset["file"] !== undefined;
  if (isFile && (event.key === "Enter" || event.key === " ")) follow(event);
}
