/** The conversation that this window has: opens it, speaks in it, and finds it again when the server was gone. */

import * as vscode from "vscode";
import type { Server } from "../server/server";
import type { PromptContext, SessionOpened, SessionUpdate, TurnBegun } from "../shared/protocol";
import type { ChatStore } from "./chat-store";

/** Where the last conversation's id is kept, so that a window that is opened again goes on with it. */
const LAST = "airlock.lastSession";

const CAME_BACK = "Airlock's server ended and was started again. The conversation goes on; an answer that was in work is lost.";
const CAME_BACK_NEW = "Airlock's server was started again, with a new conversation. The one before is under Reopen a Conversation.";
const BEGAN_NEW = "The last conversation could not be opened, so this is a new one. The one before is under Reopen a Conversation.";

/** Words of the server's refusals: another process has it; nothing of it was kept, as when nothing was said in it. */
const IS_HELD = "is open in another";
const IS_EMPTY = "there is no session";

const HELD_MAX_MS = 8000;
const HELD_POLL_MS = 250;

interface Prompt {
  text: string;
  context: PromptContext[];
  about: string[];
  /** What the user sees of it. */
  shown: string;
}

interface Opened {
  sessionId: string;
  folder: vscode.WorkspaceFolder;
}

export class Conversation implements vscode.Disposable {
  private open: Opened | undefined;
  /** What was open when the server was gone. */
  private lost: Opened | undefined;
  private opening: Promise<Opened> | undefined;
  /** Updates of sessions that we do not know yet: they may come before the response that names them. */
  private early: SessionUpdate[] = [];
  /** What was asked while a turn was in work, the oldest first. */
  private queue: (Prompt & { id: string })[] = [];
  private queuedSoFar = 0;
  private readonly openings = new vscode.EventEmitter<void>();
  /** One was begun, reopened or found again. */
  readonly onOpened = this.openings.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly store: ChatStore,
    private readonly memory: vscode.Memento,
  ) {
    this.subscriptions = [
      server.onUpdate((update) => this.take(update)),
      server.onState((state) => {
        store.tell({ type: "connection", connection: state });
        if (state.kind === "running") void this.findAgain();
        else this.lose();
      }),
    ];
  }

  get sessionId(): string | undefined {
    return this.open?.sessionId;
  }

  get folder(): vscode.WorkspaceFolder | undefined {
    return this.open?.folder ?? vscode.workspace.workspaceFolders?.[0];
  }

  /** The open conversation; the last one is taken up again, or a new one begun, where there is none. */
  async ensure(): Promise<Opened> {
    if (this.open !== undefined) return this.open;
    return await this.exclusively(async () => {
      if (this.open !== undefined) return this.open;
      const last = this.memory.get<string>(LAST);
      const folder = this.chosenFolder();
      return last === undefined ? await this.begin(folder) : await this.loadOrBegin({ sessionId: last, folder }, { begun: BEGAN_NEW });
    });
  }

  async startNew(): Promise<void> {
    const folder = await this.askFolder();
    if (folder === undefined) return;
    await this.exclusively(async () => {
      await this.close();
      return await this.begin(folder);
    });
  }

  async reopen(sessionId: string): Promise<void> {
    if (sessionId === this.sessionId) return;
    const folder = this.chosenFolder();
    await this.exclusively(async () => {
      const before = this.open?.sessionId;
      await this.close();
      try {
        return await this.load(sessionId, folder);
      } catch (error) {
        void vscode.window.showErrorMessage(`This conversation cannot be reopened: ${reason(error)}`);
        return before === undefined ? await this.begin(folder) : await this.loadOrBegin({ sessionId: before, folder }, { begun: BEGAN_NEW });
      }
    });
  }

  /** Says something, shown as it is or in other words: at once, or when the turn in work is over. */
  async prompt(text: string, context: PromptContext[], about: string[], shown = text): Promise<void> {
    const { sessionId } = await this.ensure();
    const prompt = { text, context, about, shown };
    if (this.isBusy) this.enqueue(prompt);
    else await this.send(sessionId, prompt);
  }

  /** Takes back a prompt that still waits. */
  takeBack(id: string): void {
    this.queue = this.queue.filter((prompt) => prompt.id !== id);
    this.store.tell({ type: "unqueued", id });
  }

  async stop(): Promise<void> {
    if (this.open !== undefined) await this.server.notify("airlock/session/cancel", { sessionId: this.open.sessionId });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, this.openings).dispose();
  }

  private get isBusy(): boolean {
    const { turn, replaying } = this.store.chat;
    return turn !== undefined || replaying;
  }

  private enqueue(prompt: Prompt): void {
    this.queuedSoFar += 1;
    const id = `queued-${this.queuedSoFar}`;
    this.queue.push({ ...prompt, id });
    this.store.tell({ type: "queued", prompt: { id, text: prompt.shown, about: prompt.about } });
  }

  /** What comes of it arrives as updates. */
  private async send(sessionId: string, { text, context, about, shown }: Prompt): Promise<void> {
    this.store.tell({ type: "prompted", text: shown, about });
    try {
      await this.server.request<TurnBegun>("airlock/session/prompt", { sessionId, text, context });
    } catch (error) {
      this.store.tell({ type: "refused", reason: reason(error) });
      this.sendQueued();
    }
  }

  private sendQueued(): void {
    const [next] = this.queue;
    if (next === undefined || this.open === undefined || this.isBusy) return;
    this.takeBack(next.id);
    void this.send(this.open.sessionId, next);
  }

  private chosenFolder(): vscode.WorkspaceFolder {
    const folder = this.folder;
    if (folder === undefined) throw new Error("Open a folder first: it is what the agent works on.");
    return folder;
  }

  /** With several folders, the user says which one it is about. */
  private async askFolder(): Promise<vscode.WorkspaceFolder | undefined> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    if (folders.length <= 1) return this.chosenFolder();
    return await vscode.window.showWorkspaceFolderPick({ placeHolder: "The folder that the conversation is about" });
  }

  /** One opening at a time; who comes meanwhile gets what it gives. */
  private async exclusively(work: () => Promise<Opened>): Promise<Opened> {
    const before = this.opening ?? Promise.resolve(undefined);
    const opening = before.catch(() => undefined).then(work);
    this.opening = opening;
    try {
      return await opening;
    } finally {
      if (this.opening === opening) this.opening = undefined;
    }
  }

  private async begin(folder: vscode.WorkspaceFolder, note?: string): Promise<Opened> {
    const opened = await this.server.request<SessionOpened>("airlock/session/new", { folder: folder.uri.toString() });
    return this.entered(opened, folder, { again: false, ...(note === undefined ? {} : { note }) });
  }

  private async load(sessionId: string, folder: vscode.WorkspaceFolder, note?: string): Promise<Opened> {
    const params = { sessionId, folder: folder.uri.toString() };
    const opened = await this.server.request<SessionOpened>("airlock/session/load", params);
    return this.entered(opened, folder, { again: true, ...(note === undefined ? {} : { note }) });
  }

  /** Where it cannot be loaded, the user is told that it is another one, unless there was nothing in it. */
  private async loadOrBegin({ sessionId, folder }: Opened, notes: { loaded?: string; begun: string }): Promise<Opened> {
    try {
      return await this.loadWhenFree(sessionId, folder, notes.loaded);
    } catch (error) {
      this.server.log.warn(`the conversation ${sessionId} cannot be loaded: ${reason(error)}`);
      const nothingIsLost = reason(error).includes(IS_EMPTY) && !this.store.chat.items.some(({ kind }) => kind === "user");
      return await this.begin(folder, nothingIsLost ? undefined : notes.begun);
    }
  }

  /** A window that was closed a moment ago, this one before a reload, may still hold it: that is waited for. */
  private async loadWhenFree(sessionId: string, folder: vscode.WorkspaceFolder, note?: string): Promise<Opened> {
    const until = Date.now() + HELD_MAX_MS;
    for (;;) {
      try {
        return await this.load(sessionId, folder, note);
      } catch (error) {
        if (!reason(error).includes(IS_HELD) || Date.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, HELD_POLL_MS));
      }
    }
  }

  private entered({ sessionId, model, commands }: SessionOpened, folder: vscode.WorkspaceFolder, how: { again: boolean; note?: string }): Opened {
    const opened = { sessionId, folder };
    this.open = opened;
    const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1;
    this.store.tell({ type: "opened", sessionId, model, commands, ...how, ...(several ? { folder: folder.name } : {}) });
    void this.memory.update(LAST, sessionId);
    const early = this.early.filter((update) => update.sessionId === sessionId);
    this.early = [];
    for (const update of early) this.take(update);
    this.openings.fire();
    this.sendQueued();
    return opened;
  }

  private async close(): Promise<void> {
    const open = this.open;
    this.open = undefined;
    if (open !== undefined) await this.server.request("airlock/session/close", { sessionId: open.sessionId });
  }

  private take(update: SessionUpdate): void {
    if (update.sessionId === this.open?.sessionId) {
      this.store.tell({ type: "update", update: update.update, at: Date.now() });
      this.sendQueued();
    } else if (this.opening !== undefined) {
      this.early.push(update);
    }
  }

  /** The server is gone, and the session with it; its history is not. */
  private lose(): void {
    if (this.open !== undefined) this.store.tell({ type: "interrupted" });
    this.lost = this.open ?? this.lost;
    this.open = undefined;
  }

  private async findAgain(): Promise<void> {
    const lost = this.lost;
    this.lost = undefined;
    if (lost === undefined) return;
    try {
      await this.exclusively(async () => this.open ?? (await this.loadOrBegin(lost, { loaded: CAME_BACK, begun: CAME_BACK_NEW })));
    } catch (error) {
      this.store.tell({ type: "refused", reason: reason(error) });
    }
  }
}

export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
