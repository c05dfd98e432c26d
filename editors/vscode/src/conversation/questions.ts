/** The agent's questions: shown in the chat until the user answers, or the answer no longer matters. */

import type * as vscode from "vscode";
import type { PermissionRequest } from "../shared/protocol";
import type { ChatStore } from "./chat-store";

export class Questions {
  private made = 0;
  private readonly waiting = new Map<string, (option: string | null) => void>();

  constructor(
    private readonly store: ChatStore,
    private readonly announce: (title: string) => void,
  ) {}

  ask({ title, detail, options }: PermissionRequest, token: vscode.CancellationToken): Promise<string | null> {
    this.made += 1;
    const id = `question-${this.made}`;
    this.store.tell({ type: "asked", question: { id, title, detail, options } });
    this.announce(title);
    return new Promise((resolve) => {
      const taken = token.onCancellationRequested(() => this.answer(id, null));
      this.waiting.set(id, (option) => {
        taken.dispose();
        resolve(option);
      });
    });
  }

  /** `null` is no answer, which is a refusal. */
  answer(id: string, option: string | null): void {
    const resolve = this.waiting.get(id);
    this.waiting.delete(id);
    this.store.tell({ type: "answered", id });
    resolve?.(option);
  }

  /** The server that asked is gone. */
  forget(): void {
    for (const id of [...this.waiting.keys()]) this.answer(id, null);
  }
}
