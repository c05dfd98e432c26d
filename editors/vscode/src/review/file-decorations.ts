/** Marks files with pending changes in the explorer. */

import * as vscode from "vscode";
import { count } from "../shared/words";
import type { Changes } from "./changes";

export class FileDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeFileDecorations = this.changed.event;
  private readonly subscription: vscode.Disposable;

  constructor(private readonly changes: Changes) {
    this.subscription = changes.onChange(() => this.changed.fire(undefined));
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const change = this.changes.at(uri);
    if (change === undefined) return undefined;
    const decoration = new vscode.FileDecoration(
      change.protected ? "A!" : "A",
      `Airlock: ${count(change.hunks.length, "change")} to review${change.protected ? ", protected" : ""}`,
      new vscode.ThemeColor("airlock.pendingChange"),
    );
    decoration.propagate = true;
    return decoration;
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}
