/** Above the input: what waits for review. */

import type { Chat } from "../shared/chat";
import { count } from "../shared/words";
import { Icon } from "./icon";
import { post } from "./vscode-api";

export function ReviewBar({ changes }: { changes: Chat["changes"] }) {
  if (changes.count === 0) return null;
  return (
    <div class="review-bar" role="status">
      <Icon name="diff-multiple" />
      <span class="review-words">
        {count(changes.count, "change")} in {count(changes.files, "file")} to review
      </span>
      <span class="review-actions">
        <button type="button" class="button" onClick={() => post({ type: "run", command: "airlock.review" })}>
          Review
        </button>
        <button type="button" class="button secondary" onClick={() => post({ type: "run", command: "airlock.acceptAll" })}>
          Accept All
        </button>
      </span>
    </div>
  );
}
