/** Accept and Reject above each hunk: in the diff, and in the file itself. */

import * as vscode from "vscode";
import { showsLensesInFiles } from "../settings";
import type { Change, Hunk } from "../shared/protocol";
import type { Changes } from "./changes";
import { WAYS } from "./conflict";
import { isProposal, pathOf, shows } from "./diff";
import type { HunkArgument, SettleArgument } from "./verdicts";

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
      // Accept would else stand above lines that it does not mean. VS Code asks again when the text has changed.
      if (change === undefined || !shows(document, change)) return [];
      return change.hunks.flatMap((hunk) => verdicts(change, hunk, lineOf(hunk.newStart, document)));
    }
    const change = showsLensesInFiles() ? this.changes.at(document.uri) : undefined;
    return change === undefined ? [] : change.hunks.flatMap((hunk) => inFile(change, hunk, document));
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}


function inFile(change: Change, hunk: Hunk, document: vscode.TextDocument): vscode.CodeLens[] {
  const range = lineOf(hunk.oldStart, document);
  const title = `$(shield) Airlock: ${hunk.conflict === undefined ? summary(hunk) : "you and the agent changed this"}`;
  return [lens(range, title, "airlock.showHunk", { path: change.path, hunkId: hunk.id }), ...verdicts(change, hunk, range)];
}

function verdicts({ path }: Change, hunk: Hunk, range: vscode.Range): vscode.CodeLens[] {
  if (hunk.conflict !== undefined) {
    return WAYS.map(({ way, label }) => lens(range, label, "airlock.settleHunk", { path, hunk, way }));
  }
  const argument = { path, hunkId: hunk.id };
  return [lens(range, "$(check) Accept", "airlock.acceptHunk", argument), lens(range, "$(close) Reject", "airlock.rejectHunk", argument)];
}

function lens(range: vscode.Range, title: string, command: string, argument: HunkArgument | SettleArgument): vscode.CodeLens {
  return new vscode.CodeLens(range, { title, command, arguments: [argument] });
}

function lineOf(start: number, document: vscode.TextDocument): vscode.Range {
  const line = Math.min(Math.max(0, start - 1), document.lineCount - 1);
  return new vscode.Range(line, 0, line, 0);
}

function summary(hunk: Hunk): string {
  const parts = [hunk.newLines > 0 ? `+${hunk.newLines}` : "", hunk.oldLines > 0 ? `−${hunk.oldLines}` : ""].filter(Boolean);
  return parts.length > 0 ? `${parts.join(" ")} proposed` : "proposed";
}
