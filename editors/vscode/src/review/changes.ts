/** What waits for review in the open conversation, and what the user decides about it. */

import * as vscode from "vscode";
import type { ChatStore } from "../conversation/chat-store";
import { type Conversation, reason } from "../conversation/conversation";
import type { Server } from "../server/server";
import type { Change, ChangeList, Reviewed } from "../shared/protocol";

/** While somebody types, not every letter is a reason to compare again. */
const AFTER_TYPING_MS = 400;

export interface Selection {
  paths?: string[];
  hunks?: string[];
}

export class Changes implements vscode.Disposable {
  private list: Change[] = [];
  private remarks: string[] = [];
  /** The conversation that the list is of. */
  private listed: string | undefined;
  private listing = 0;
  private typing: NodeJS.Timeout | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly conversation: Conversation,
    private readonly store: ChatStore,
  ) {
    this.subscriptions = [
      conversation.onOpened(() => void this.refresh()),
      // Other contents may well have the same number of changes.
      server.onUpdate(({ sessionId, update }) => {
        if (update.kind === "changes" && sessionId === conversation.sessionId) void this.refresh();
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.at(document.uri) !== undefined) this.refreshSoon();
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (this.at(document.uri) !== undefined) this.refreshSoon();
      }),
    ];
  }

  get all(): Change[] {
    return this.list;
  }

  /** What cannot be reviewed, in words. */
  get whatIsLeftOut(): string[] {
    return this.remarks;
  }

  get hunkCount(): number {
    return this.list.reduce((sum, change) => sum + change.hunks.length, 0);
  }

  byPath(path: string): Change | undefined {
    return this.list.find((change) => change.path === path);
  }

  /** The change of a file of the workspace. */
  at(uri: vscode.Uri): Change | undefined {
    if (uri.scheme !== "file" || this.list.length === 0) return undefined;
    return this.list.find((change) => this.fileOf(change.path)?.path === uri.path);
  }

  /** The file that a change is about. */
  fileOf(path: string): vscode.Uri | undefined {
    const folder = this.conversation.folder;
    return folder === undefined ? undefined : vscode.Uri.joinPath(folder.uri, path);
  }

  async refresh(): Promise<void> {
    clearTimeout(this.typing);
    const sessionId = this.conversation.sessionId;
    const listing = ++this.listing;
    if (sessionId !== this.listed) this.take([], []);
    this.listed = sessionId;
    let list: ChangeList = { changes: [], ignored: 0, remarks: [] };
    if (sessionId !== undefined) {
      try {
        list = await this.server.request<ChangeList>("airlock/changes/list", { sessionId });
      } catch (error) {
        // The server is gone, or busy with the sandbox: what is shown stays until it tells again.
        this.server.log.warn(`the changes cannot be listed: ${reason(error)}`);
        return;
      }
    }
    // A later answer may have come first.
    if (listing !== this.listing) return;
    this.take(list.changes, list.remarks);
    this.tellCount();
  }

  async accept(selection: Selection): Promise<Reviewed> {
    return await this.decide("accept", selection);
  }

  async reject(selection: Selection): Promise<Reviewed> {
    return await this.decide("reject", selection);
  }

  dispose(): void {
    clearTimeout(this.typing);
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  private take(list: Change[], remarks: string[]): void {
    this.list = list;
    this.remarks = remarks;
    this.changed.fire();
  }

  /** Changes that waited when a conversation was reopened are told to nobody else. */
  private tellCount(): void {
    const { sessionId, changes } = this.store.chat;
    const [count, files] = [this.hunkCount, this.list.length];
    if (sessionId !== this.conversation.sessionId || (changes.count === count && changes.files === files)) return;
    this.store.tell({ type: "update", update: { kind: "changes", count, files }, at: Date.now() });
  }

  private refreshSoon(): void {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => void this.refresh(), AFTER_TYPING_MS);
  }

  private async decide(verdict: "accept" | "reject", selection: Selection): Promise<Reviewed> {
    const sessionId = this.conversation.sessionId;
    if (sessionId === undefined) return { done: [], failed: [] };
    try {
      return await this.server.request<Reviewed>(`airlock/changes/${verdict}`, { sessionId, ...selection });
    } finally {
      await this.refresh();
    }
  }
}
