/** What the typed letters may become. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Completion } from "../shared/completion";
import { neutralName } from "../shared/neutral";

export const OPTION_ID = (index: number) => `completion-${index}`;

interface Props {
  choices: Completion[];
  chosen: number;
  take: (choice: Completion) => void;
}

export function CompletionList({ choices, chosen, take }: Props) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <ul class="completions" id="completions" role="listbox" aria-label="Completions" ref={list}>
      {choices.map((choice, index) => (
        <li
          key={choice.insert}
          id={OPTION_ID(index)}
          role="option"
          aria-selected={index === chosen}
          // Not on click: the input would lose the cursor first.
          onMouseDown={(event) => {
            event.preventDefault();
            take(choice);
          }}
        >
          <span class="completion-label">{neutralName(choice.label)}</span>
          <span class="completion-detail">{neutralName(choice.detail)}</span>
        </li>
      ))}
    </ul>
  );
}
