/** Accepting and rejecting, at every level, and telling what came of it. */

import * as vscode from "vscode";
import { reason } from "../conversation/conversation";
import { neutralMessage, neutralName } from "../shared/neutral";
import type { Change, ChangeList, Hunk, Selection } from "../shared/protocol";
import { count } from "../shared/words";
import { type ChangeNode, changesAt } from "./change-tree";
import type { Changes } from "./changes";
import { conflictQuestion, conflicts, settle, type Way, WAYS } from "./conflict";
import { NOT_WHAT_IT_WAS, type OutcomeWords, outcomeWords, type Verdict } from "./outcome";

/** Names a hunk where there is no tree: in a code lens. */
export interface HunkArgument {
  path: string;
  hunkId: string;
}

/** One of the ways to settle a hunk in conflict: in a code lens. */
export interface SettleArgument {
  path: string;
  hunk: Hunk;
  way: Way;
}

/** A row of the tree that is there no more, or shows something else by now, comes as `undefined`. */
export async function decide(changes: Changes, verdict: Verdict, what: ChangeNode | HunkArgument | undefined): Promise<void> {
  if (what === undefined) {
    void vscode.window.showWarningMessage(NOT_WHAT_IT_WAS);
    return;
  }
  const hunks = verdict === "accept" ? hunksOf(what) : [];
  if (conflicts(hunks) === 0) {
    await run(changes, verdict, selectionOf(what), what.path);
    return;
  }
  const chosen = await vscode.window.showQuickPick(WAYS, { title: neutralName(what.path), placeHolder: conflictQuestion(hunks) });
  if (chosen !== undefined) await settleConflicts(changes, what.path, hunks, chosen.way);
}

export async function settleHunk(changes: Changes, { path, hunk, way }: SettleArgument): Promise<void> {
  await settleConflicts(changes, path, [hunk], way);
}

/** All that was on the screen, and nothing that came since. What is protected or in conflict is left. */
export async function acceptAll(changes: Changes, shown: ChangeList): Promise<void> {
  await run(changes, "accept", { list: shown.digest });
}

export async function rejectAll(changes: Changes, shown: ChangeList): Promise<void> {
  const paths = shown.changes.map((change) => change.path);
  const files = count(paths.length, "file");
  const sure = await vscode.window.showWarningMessage(
    `Reject all changes in ${files}?`,
    { modal: true, detail: "What the agent wrote there is thrown away. Your own files stay as they are." },
    "Reject All",
  );
  // One by one, so that only those are left that became others while the question was open.
  if (sure !== undefined) await run(changes, "reject", { paths, shown: digests(shown.changes) });
}

/** A file is all the hunks that were shown of it, so that nothing lands that was not. */
export function selectionOf(what: ChangeNode | HunkArgument): Selection {
  if ("hunkId" in what) return { hunks: [what.hunkId] };
  switch (what.kind) {
    case "hunk":
      return { hunks: [what.hunk.id] };
    case "file":
      return { hunks: what.change.hunks.map((hunk) => hunk.id) };
    case "folder":
      // Not by hunks: what is protected would count as named by itself.
      return { paths: [what.path], shown: digests(changesAt(what)) };
  }
}

function digests(changes: Change[]): Record<string, string> {
  return Object.fromEntries(changes.map(({ path, digest }) => [path, digest]));
}

/** The hunks that a verdict is about; a folder leaves those in conflict alone. */
function hunksOf(what: ChangeNode | HunkArgument): Hunk[] {
  if ("hunkId" in what || what.kind === "folder") return [];
  return what.kind === "hunk" ? [what.hunk] : what.change.hunks;
}

async function settleConflicts(changes: Changes, path: string, hunks: Hunk[], way: Way): Promise<void> {
  const { accept, reject } = settle(hunks, way);
  if (accept.length > 0 && !(await run(changes, "accept", { hunks: accept }, path))) return;
  if (reject.length > 0) await run(changes, "reject", { hunks: reject }, path);
  const file = changes.fileOf(path);
  if (way === "byHand" && file !== undefined) await showMarks(file);
}

/** Opens a file at the first mark in it. */
async function showMarks(file: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(file);
  const mark = document.positionAt(Math.max(0, document.getText().search(/^<<<<<<< /m)));
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(mark, mark) });
}

/** Whether all of it was done. */
async function run(changes: Changes, verdict: Verdict, selection: Selection, path?: string): Promise<boolean> {
  try {
    const outcome = await (verdict === "accept" ? changes.accept(selection) : changes.reject(selection));
    void tell(verdict, outcomeWords(verdict, outcome, "hunks" in selection ? selection.hunks : [], path));
    return outcome.failed.length === 0;
  } catch (error) {
    void vscode.window.showErrorMessage(neutralMessage(`The changes could not be ${verdict}ed: ${reason(error)}`));
    return false;
  }
}

async function tell(verdict: Verdict, { message, detail }: OutcomeWords): Promise<void> {
  if (detail === undefined) {
    vscode.window.setStatusBarMessage(`$(check) ${message}`, 4000);
    return;
  }
  const asked = await vscode.window.showWarningMessage(message, "Why?");
  if (asked !== undefined) await vscode.window.showWarningMessage(`These were not ${verdict}ed`, { modal: true, detail });
}
