/** What the next prompt is about, as the user chose it: selections and files. */

import * as vscode from "vscode";
import type { Attachment } from "../shared/messages";
import type { PromptContext } from "../shared/protocol";

interface Attached extends Attachment {
  context: PromptContext;
}

export class Attachments implements vscode.Disposable {
  private made = 0;
  private attached: Attached[] = [];
  private readonly changes = new vscode.EventEmitter<Attachment[]>();
  readonly onChange = this.changes.event;

  get shown(): Attachment[] {
    return this.attached.map(({ id, label }) => ({ id, label }));
  }

  add(label: string, context: PromptContext): void {
    if (this.attached.some((other) => other.label === label)) return;
    this.made += 1;
    this.attached.push({ id: `attachment-${this.made}`, label, context });
    this.changes.fire(this.shown);
  }

  remove(id: string): void {
    this.attached = this.attached.filter((attached) => attached.id !== id);
    this.changes.fire(this.shown);
  }

  /** All of it, for a prompt that goes out now. */
  take(): { context: PromptContext[]; about: string[] } {
    const taken = this.attached;
    this.attached = [];
    if (taken.length > 0) this.changes.fire([]);
    return { context: taken.map(({ context }) => context), about: taken.map(({ label }) => label) };
  }

  dispose(): void {
    this.changes.dispose();
  }
}

/** A place in a file as people write it: `src/main.rs:3-9`. */
export function placeLabel(uri: vscode.Uri, range?: vscode.Range): string {
  const path = vscode.workspace.asRelativePath(uri, false);
  if (range === undefined) return path;
  const first = range.start.line + 1;
  // A selection that ends at the beginning of a line does not hold that line.
  const last = range.end.character === 0 && range.end.line > range.start.line ? range.end.line : range.end.line + 1;
  return first === last ? `${path}:${first}` : `${path}:${first}-${last}`;
}
