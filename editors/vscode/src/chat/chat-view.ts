/** The chat in the side bar: carries what happens to the page, and what the user does there back. */

import * as vscode from "vscode";
import type { ChatStore } from "../conversation/chat-store";
import { chatSettings, onSettingsChange } from "../settings";
import { neutralMessage, neutralName } from "../shared/neutral";
import { type FromPage, PAGE_COMMANDS, type ToPage } from "../shared/messages";
import type { Attachments } from "./attachments";
import { page } from "./page";

export const CHAT_VIEW = "airlock.chat";

const SHOW = "Show Question";

/** What the page's wishes mean. */
export interface ChatActions {
  shown(): void;
  prompt(text: string): void;
  takeBack(id: string): void;
  stop(): void;
  answer(question: string, option: string): void;
  findFiles(query: string): Promise<string[]>;
  openFile(path: string): void;
}

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private isReady = false;
  private waiting: ToPage[] = [];
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly store: ChatStore,
    private readonly attachments: Attachments,
    private readonly actions: ChatActions,
  ) {
    this.subscriptions = [
      store.onEvents((events) => this.post({ type: "events", events })),
      attachments.onChange((shown) => this.post({ type: "attachments", attachments: shown })),
      onSettingsChange(["chat"], () => this.post({ type: "settings", settings: chatSettings() })),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.isReady = false;
    const dist = vscode.Uri.joinPath(this.extensionUri, "dist");
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((message: FromPage) => this.take(message));
    view.onDidDispose(() => {
      if (this.view === view) this.view = undefined;
      this.isReady = false;
    });
    view.webview.html = page(view.webview, dist);
  }

  get isShown(): boolean {
    return this.isReady;
  }

  /** Brings the chat to the front, with the cursor in its input. */
  async focus(text?: string): Promise<void> {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.post(text === undefined ? { type: "focus" } : { type: "focus", text }, true);
  }

  /**
   * Tells of a question that has come. It takes neither the keyboard nor the place of another view, in which the user
   * may be typing.
   */
  async announce(title: string): Promise<void> {
    if (this.view?.visible === true) return;
    const chosen = await vscode.window.showWarningMessage(neutralMessage(`Airlock asks: ${neutralName(title)}`), SHOW);
    if (chosen === SHOW) await this.focus();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  /** A page that is not there yet begins with the whole state; only wishes have to wait for it. */
  private post(message: ToPage, waits = false): void {
    if (this.view !== undefined && this.isReady) void this.view.webview.postMessage(message);
    else if (waits) this.waiting.push(message);
  }

  private take(message: FromPage): void {
    switch (message.type) {
      case "ready": {
        const chat = this.store.snapshot();
        this.isReady = true;
        this.post({ type: "state", chat, settings: chatSettings(), attachments: this.attachments.shown });
        for (const waited of this.waiting.splice(0)) this.post(waited);
        return this.actions.shown();
      }
      case "prompt":
        return this.actions.prompt(message.text);
      case "takeBack":
        return this.actions.takeBack(message.id);
      case "stop":
        return this.actions.stop();
      case "answer":
        return this.actions.answer(message.question, message.option);
      case "detach":
        return this.attachments.remove(message.id);
      case "findFiles":
        return void this.actions.findFiles(message.query).then((files) => this.post({ type: "files", ticket: message.ticket, files }));
      case "openFile":
        return this.actions.openFile(message.path);
      case "copy":
        return void vscode.env.clipboard.writeText(message.text);
      case "run":
        // The page shows what the agent wrote: it may ask for these and nothing else.
        if (PAGE_COMMANDS.includes(message.command)) void vscode.commands.executeCommand(message.command);
    }
  }
}
