/** The conversation. It follows its end, unless the user has scrolled up to read. */

import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Chat, Item } from "../shared/chat";
import { CallCard } from "./call-card";
import { Icon } from "./icon";
import { EndLine, Notice } from "./notice";
import { Answer, QueuedMessage, Thought, UserMessage } from "./said";

/** So near to its end, a list counts as being there. */
const NEAR_PX = 40;

export function Transcript({ chat }: { chat: Chat }) {
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  });
  const noteScroll = (event: Event) => {
    const element = event.currentTarget as HTMLDivElement;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
  };
  const { items, turn, connection, queued } = chat;
  const last = items.at(-1);
  const speaks = last?.kind === "answer" || (last?.kind === "call" && last.status === "in_progress");
  return (
    <div class="transcript" ref={list} onScroll={noteScroll} role="log" aria-label="Conversation" aria-live="polite" aria-busy={turn !== undefined} tabIndex={0}>
      {items.length === 0 && turn === undefined && <Beginning chat={chat} />}
      {items.map((item, index) => (
        <Entry key={`${item.id} ${index}`} item={item} isOpen={turn !== undefined && index === items.length - 1} />
      ))}
      {connection.kind === "restarting" && (
        <p class="waiting" role="status">
          <Icon name="loading" spins /> Starting the server again
        </p>
      )}
      {turn !== undefined && !speaks && (
        <p class="waiting" role="status">
          <Icon name="loading" spins /> Thinking
        </p>
      )}
      {queued.map((prompt) => (
        <QueuedMessage key={prompt.id} prompt={prompt} />
      ))}
    </div>
  );
}

const Entry = memo(function Entry({ item, isOpen }: { item: Item; isOpen: boolean }) {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "answer":
      return <Answer item={item} />;
    case "thought":
      return <Thought item={item} isOpen={isOpen} />;
    case "call":
      return <CallCard item={item} />;
    case "notice":
      return <Notice level={item.level} text={item.text} />;
    case "end":
      return <EndLine item={item} />;
  }
});

function Beginning({ chat }: { chat: Chat }) {
  if (chat.sessionId === undefined || chat.replaying) {
    return (
      <p class="waiting" role="status">
        <Icon name="loading" spins /> {chat.replaying ? "Opening the conversation" : "Starting"}
      </p>
    );
  }
  return (
    <div class="beginning">
      <h1>What shall we do?</h1>
      <p>The agent works behind a wall, on a view of your files. What it changes waits for your review.</p>
      <ul>
        <li><kbd>/</kbd> lists commands</li>
        <li><kbd>@</kbd> names a file</li>
        <li>Select code and choose <em>Ask About the Selection</em></li>
      </ul>
    </div>
  );
}
