/**
 * A question of the agent's: the whole text it is about, and the answers.
 *
 * Architecture invariant: it never takes the keyboard. Who types somewhere else, in an editor or in the input, goes on
 * typing there. Nor does it take an answer before anybody can have read it.
 */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../shared/chat";
import { neutral } from "../shared/neutral";
import { primaryAnswer } from "../shared/words";
import { Focus } from "./focus";
import { post } from "./vscode-api";

/** For so long no key and no click is an answer: it was on its way to what was here before. */
export const UNREAD_MS = 500;

export function PermissionDialog({ question }: { question: Question }) {
  const dialog = useRef<HTMLElement>(null);
  const [isReadable, setReadable] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReadable(true), UNREAD_MS);
    return () => clearTimeout(timer);
  }, []);
  useLayoutEffect(() => {
    const element = dialog.current;
    return () => {
      // The user was in it. A page whose window is elsewhere remembers the last place only, and must not come forward.
      if (document.hasFocus() && element?.contains(document.activeElement)) Focus.request(undefined);
    };
  }, []);
  const refusal = question.options.find((option) => option.kind === "reject");
  const primary = primaryAnswer(question.options);
  const answer = (option: string) => post({ type: "answer", question: question.id, option });
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (isReadable && refusal !== undefined) answer(refusal.id);
  };
  return (
    <section class="permission" ref={dialog} role="dialog" tabIndex={-1} onKeyDown={press} aria-labelledby="question-title" aria-describedby="question-detail">
      <div role="alert">
        <h2 id="question-title">{neutral(question.title)}</h2>
      </div>
      {question.detail !== "" && (
        <pre id="question-detail" class="detail" tabIndex={0}>
          {neutral(question.detail)}
        </pre>
      )}
      <div class="answers">
        {question.options.map((option) => (
          <button
            key={option.id}
            type="button"
            class={option === primary ? "button" : "button secondary"}
            disabled={!isReadable}
            onClick={() => answer(option.id)}
          >
            {neutral(option.label)}
          </button>
        ))}
      </div>
    </section>
  );
}
