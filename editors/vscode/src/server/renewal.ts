/** A server with the new settings: once after a burst of changes, and not while the agent is at work. */

import * as vscode from "vscode";
import type { ChatStore } from "../conversation/chat-store";

const BURST_MS = 1000;

const LATER = "Airlock takes up the new settings when the agent is done";

export class Renewal implements vscode.Disposable {
  private burst: NodeJS.Timeout | undefined;
  /** Ends the waiting for the turn in work, if there is one. */
  private goOn: (() => void) | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly store: ChatStore,
    private readonly restart: () => void,
  ) {
    this.subscription = store.onChange(({ turn }) => {
      if (turn === undefined) this.goOn?.();
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
    if (this.goOn !== undefined) return;
    if (this.store.chat.turn !== undefined) await this.turnOver();
    this.restart();
  }

  private async turnOver(): Promise<void> {
    const over = new Promise<void>((resolve) => (this.goOn = resolve));
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: LATER }, () => over);
    this.goOn = undefined;
  }
}
