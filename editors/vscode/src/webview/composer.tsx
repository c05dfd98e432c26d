/** The input: several lines, completion of slash commands and files, send and stop. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Chat } from "../shared/chat";
import { type Completion, complete, insertion, tokenAt } from "../shared/completion";
import type { Attachment, ChatSettings } from "../shared/messages";
import { AttachmentList } from "./attachment-list";
import { CompletionList, OPTION_ID } from "./completion-list";
import { FilesFound } from "./files-found";
import { Focus } from "./focus";
import { Icon } from "./icon";
import { draft, keepDraft, post } from "./vscode-api";

interface Props {
  chat: Chat;
  settings: ChatSettings;
  attachments: Attachment[];
}

export function Composer({ chat, settings, attachments }: Props) {
  const [text, setText] = useState(draft);
  const [choices, setChoices] = useState<Completion[]>([]);
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLTextAreaElement>(null);
  const isBusy = chat.turn !== undefined;
  const maySend = chat.sessionId !== undefined && chat.connection.kind === "running" && !isBusy && text.trim() !== "";

  useEffect(() => keepDraft(text), [text]);
  useEffect(
    () =>
      Focus.offer((given) => {
        if (given !== undefined) setText(given);
        input.current?.focus();
      }),
    [],
  );
  useLayoutEffect(() => fitToText(input.current), [text]);

  const closeList = () => {
    FilesFound.forget();
    setChoices([]);
  };
  const write = (next: string, cursor: number) => {
    setText(next);
    const token = tokenAt(next, cursor);
    setChosen(0);
    if (token?.kind !== "file") {
      FilesFound.forget();
      return setChoices(complete(token, chat.commands));
    }
    void FilesFound.ask(token.typed).then((files) => setChoices(complete(token, chat.commands, files)));
  };
  const send = () => {
    if (!maySend) return;
    post({ type: "prompt", text: text.trimEnd() });
    setText("");
    closeList();
  };
  const take = (choice: Completion) => {
    const next = insertion(text, choice);
    setText(next.text);
    closeList();
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(next.cursor, next.cursor);
    });
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (choices.length > 0 && pressedInList(event, choices, chosen, { take, choose: setChosen, close: closeList })) {
      return event.preventDefault();
    }
    const withModifier = event.ctrlKey || event.metaKey;
    const sends = settings.sendWith === "enter" ? !event.shiftKey && !event.altKey : withModifier;
    if (event.key === "Enter" && sends) {
      event.preventDefault();
      send();
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {choices.length > 0 && <CompletionList choices={choices} chosen={chosen} take={take} />}
      <AttachmentList attachments={attachments} />
      <div class="input-row">
        <textarea
          ref={input}
          rows={1}
          value={text}
          placeholder="Ask Airlock"
          aria-label="Ask Airlock. A slash lists commands, an at sign files."
          aria-controls="completions"
          aria-autocomplete="list"
          {...(choices.length > 0 ? { "aria-activedescendant": OPTION_ID(chosen) } : {})}
          onInput={(event) => write(event.currentTarget.value, event.currentTarget.selectionStart)}
          onKeyDown={press}
          onBlur={closeList}
        />
        {isBusy ? (
          <button type="button" class="icon-button stop" title="Stop (Escape)" aria-label="Stop" onClick={() => post({ type: "stop" })}>
            <Icon name="debug-stop" />
          </button>
        ) : (
          <button type="submit" class="icon-button" title="Send" aria-label="Send" disabled={!maySend}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}

/** Keys that mean the list while it is open; `true` when it was one. */
function pressedInList(
  event: KeyboardEvent,
  choices: Completion[],
  chosen: number,
  list: { take: (choice: Completion) => void; choose: (index: number) => void; close: () => void },
): boolean {
  const choice = choices[chosen];
  switch (event.key) {
    case "ArrowDown":
      list.choose((chosen + 1) % choices.length);
      return true;
    case "ArrowUp":
      list.choose((chosen + choices.length - 1) % choices.length);
      return true;
    case "Escape":
      list.close();
      return true;
    case "Enter":
    case "Tab":
      if (choice === undefined || event.shiftKey) return false;
      // A command that stands there in full is to be sent, not completed.
      if (event.key === "Enter" && choice.isWhole) return false;
      list.take(choice);
      return true;
    default:
      return false;
  }
}

function fitToText(input: HTMLTextAreaElement | null): void {
  if (input === null) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}
