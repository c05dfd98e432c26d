/** What waits for review in the open conversation, and what the user decides about it. */

import * as vscode from "vscode";
import type { ChatStore } from "../conversation/chat-store";
import { type Conversation, reason } from "../conversation/conversation";
import type { Server } from "../server/server";
import type { Change, ChangeList, Reviewed, Selection } from "../shared/protocol";

/** While somebody types, not every letter is a reason to compare again. */
const AFTER_TYPING_MS = 400;

const NOTHING: ChangeList = { digest: "", changes: [], ignored: 0, remarks: [] };

export class Changes implements vscode.Disposable {
  private last = NOTHING;
  /** The conversation that the list is of. */
  private listed: string | undefined;
  private listing = 0;
  private refreshing = Promise.resolve();
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

  /** The last list that came. What is on the screen may be an earlier one for a moment. */
  get list(): ChangeList {
    return this.last;
  }

  get all(): Change[] {
    return this.last.changes;
  }

  /** What cannot be reviewed, in words. */
  get whatIsLeftOut(): string[] {
    return this.last.remarks;
  }

  get hunkCount(): number {
    return this.all.reduce((sum, change) => sum + change.hunks.length, 0);
  }

  byPath(path: string): Change | undefined {
    return this.all.find((change) => change.path === path);
  }

  /** The change of a file of the workspace. */
  at(uri: vscode.Uri): Change | undefined {
    if (uri.scheme !== "file" || this.all.length === 0) return undefined;
    return this.all.find((change) => this.fileOf(change.path)?.path === uri.path);
  }

  /** The file that a change is about. */
  fileOf(path: string): vscode.Uri | undefined {
    const folder = this.conversation.folder;
    return folder === undefined ? undefined : vscode.Uri.joinPath(folder.uri, path);
  }

  refresh(): Promise<void> {
    this.refreshing = this.fetch();
    return this.refreshing;
  }

  /** Waits for a list that is on its way. */
  whenListed(): Promise<void> {
    return this.refreshing;
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

  private async fetch(): Promise<void> {
    clearTimeout(this.typing);
    const sessionId = this.conversation.sessionId;
    const listing = ++this.listing;
    if (sessionId !== this.listed) this.take(NOTHING);
    this.listed = sessionId;
    let list = NOTHING;
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
    this.take(list);
    this.tellCount();
  }

  private take(list: ChangeList): void {
    this.last = list;
    this.changed.fire();
  }

  /** Changes that waited when a conversation was reopened are told to nobody else. */
  private tellCount(): void {
    const { sessionId, changes } = this.store.chat;
    const [count, files] = [this.hunkCount, this.all.length];
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
