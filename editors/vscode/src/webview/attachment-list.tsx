/** What the next prompt is about, each with a way to take it off. */

import type { Attachment } from "../shared/messages";
import { neutralName } from "../shared/neutral";
import { Icon } from "./icon";
import { post } from "./vscode-api";

export function AttachmentList({ attachments }: { attachments: Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments" aria-label="About">
      {attachments.map(({ id, label }) => (
        <li key={id}>
          <Icon name="file-code" />
          <span>{neutralName(label)}</span>
          <button type="button" aria-label={`Remove ${neutralName(label)}`} title="Remove" onClick={() => post({ type: "detach", id })}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
