/** Accept and Reject above each hunk: in the diff, and in the file itself. */

import * as vscode from "vscode";
import { showsLensesInFiles } from "../settings";
import type { Change, Hunk } from "../shared/protocol";
import type { Changes } from "./changes";
import { isProposal, pathOf } from "./diff";

export class HunkLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly subscription: vscode.Disposable;

  constructor(private readonly changes: Changes) {
    this.subscription = changes.onChange(() => this.changed.fire());
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (isProposal(document.uri)) {
      const change = this.changes.byPath(pathOf(document.uri));
      return change === undefined ? [] : change.hunks.flatMap((hunk) => inDiff(change, hunk, document));
    }
    const change = showsLensesInFiles() ? this.changes.at(document.uri) : undefined;
    return change === undefined ? [] : change.hunks.flatMap((hunk) => inFile(change, hunk, document));
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}

function inDiff(change: Change, hunk: Hunk, document: vscode.TextDocument): vscode.CodeLens[] {
  const range = lineOf(hunk.newStart, document);
  return [lens(range, "$(check) Accept", "airlock.acceptHunk", change, hunk), lens(range, "$(close) Reject", "airlock.rejectHunk", change, hunk)];
}

function inFile(change: Change, hunk: Hunk, document: vscode.TextDocument): vscode.CodeLens[] {
  const range = lineOf(hunk.oldStart, document);
  return [
    lens(range, `$(shield) Airlock: ${summary(hunk)}`, "airlock.showHunk", change, hunk),
    lens(range, "$(check) Accept", "airlock.acceptHunk", change, hunk),
    lens(range, "$(close) Reject", "airlock.rejectHunk", change, hunk),
  ];
}

function lens(range: vscode.Range, title: string, command: string, change: Change, hunk: Hunk): vscode.CodeLens {
  return new vscode.CodeLens(range, { title, command, arguments: [{ path: change.path, hunkId: hunk.id }] });
}

function lineOf(start: number, document: vscode.TextDocument): vscode.Range {
  const line = Math.min(Math.max(0, start - 1), document.lineCount - 1);
  return new vscode.Range(line, 0, line, 0);
}

function summary(hunk: Hunk): string {
  const parts = [hunk.newLines > 0 ? `+${hunk.newLines}` : "", hunk.oldLines > 0 ? `−${hunk.oldLines}` : ""].filter(Boolean);
  return parts.length > 0 ? `${parts.join(" ")} proposed` : "proposed";
}
