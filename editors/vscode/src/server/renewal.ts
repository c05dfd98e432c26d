/** A server with the new settings: once after a burst of changes, and not while the agent is at work. */

import * as vscode from "vscode";
import type { ChatStore } from "../conversation/chat-store";

const BURST_MS = 1000;

const LATER = "Airlock takes up the new settings when the agent is done.";
const NOW = "Restart Now";

export class Renewal implements vscode.Disposable {
  private burst: NodeJS.Timeout | undefined;
  private waits = false;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly store: ChatStore,
    private readonly restart: () => void,
  ) {
    this.subscription = store.onChange(({ turn }) => {
      if (turn === undefined) this.runIfWaiting();
    });
  }

  want(): void {
    clearTimeout(this.burst);
    this.burst = setTimeout(() => void this.run(), BURST_MS);
  }

  dispose(): void {
    clearTimeout(this.burst);
    this.subscription.dispose();
  }

  private async run(): Promise<void> {
    if (this.waits) return;
    if (this.store.chat.turn === undefined) return this.restart();
    this.waits = true;
    if ((await vscode.window.showInformationMessage(LATER, NOW)) === NOW) this.runIfWaiting();
  }

  private runIfWaiting(): void {
    if (!this.waits) return;
    this.waits = false;
    this.restart();
  }
}
