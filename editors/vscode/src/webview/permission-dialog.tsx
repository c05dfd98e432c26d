/** A question of the agent's: the whole text it is about, and the answers. Nothing else can be used until it is answered. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Question } from "../shared/chat";
import { neutral } from "../shared/neutral";
import { primaryAnswer } from "../shared/words";
import { post } from "./vscode-api";

export function PermissionDialog({ question }: { question: Question }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const refusal = question.options.find((option) => option.kind === "reject");
  const primary = primaryAnswer(question.options);
  const answer = (option: string) => post({ type: "answer", question: question.id, option });
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const refuse = (event: Event) => {
    event.preventDefault();
    if (refusal !== undefined) answer(refusal.id);
  };
  return (
    <dialog class="permission" ref={dialog} onCancel={refuse} aria-labelledby="question-title" aria-describedby="question-detail">
      <h2 id="question-title">{neutral(question.title)}</h2>
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
            autofocus={option === refusal}
            onClick={() => answer(option.id)}
          >
            {neutral(option.label)}
          </button>
        ))}
      </div>
    </dialog>
  );
}
