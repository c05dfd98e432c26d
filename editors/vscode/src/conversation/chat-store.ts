/** The chat's state on our side, and who wants to hear what happens to it. */

import * as vscode from "vscode";
import { type Chat, type ChatEvent, emptyChat } from "../shared/chat";
import { reduce } from "../shared/reduce";

/** Events that come within a frame of the screen go to the page together. */
const TOGETHER_MS = 16;

export class ChatStore implements vscode.Disposable {
  private current: Chat = emptyChat({ kind: "starting" });
  private waiting: ChatEvent[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly batches = new vscode.EventEmitter<ChatEvent[]>();
  private readonly changes = new vscode.EventEmitter<Chat>();
  /** For the page: everything, in order. */
  readonly onEvents = this.batches.event;
  /** For all who show the present only. */
  readonly onChange = this.changes.event;

  get chat(): Chat {
    return this.current;
  }

  tell(event: ChatEvent): void {
    this.current = reduce(this.current, event);
    this.waiting.push(event);
    this.timer ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  /** The state for a page that begins: what it is told afterwards is what happened since. */
  snapshot(): Chat {
    this.flush();
    return this.current;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting.length === 0) return;
    const events = this.waiting;
    this.waiting = [];
    this.batches.fire(events);
    this.changes.fire(this.current);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.batches.dispose();
    this.changes.dispose();
  }
}
