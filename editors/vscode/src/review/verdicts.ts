/** Accepting and rejecting, at every level, and telling what came of it. */

import * as vscode from "vscode";
import { reason } from "../conversation/conversation";
import { neutralMessage } from "../shared/neutral";
import { count } from "../shared/words";
import type { ChangeNode } from "./change-tree";
import type { Changes, Selection } from "./changes";
import { type OutcomeWords, outcomeWords, type Verdict } from "./outcome";

/** Names a hunk where there is no tree: in a code lens. */
export interface HunkArgument {
  path: string;
  hunkId: string;
}

export async function decide(changes: Changes, verdict: Verdict, what: ChangeNode | HunkArgument | undefined): Promise<void> {
  if (what === undefined) return;
  await run(changes, verdict, selectionOf(what), what.path);
}

export async function acceptAll(changes: Changes): Promise<void> {
  await run(changes, "accept", {});
}

export async function rejectAll(changes: Changes): Promise<void> {
  // Named one by one, so that nothing goes that came while the question stood there.
  const paths = changes.all.map((change) => change.path);
  const files = count(paths.length, "file");
  const sure = await vscode.window.showWarningMessage(
    `Reject all changes in ${files}?`,
    { modal: true, detail: "What the agent wrote there is thrown away. Your own files stay as they are." },
    "Reject All",
  );
  if (sure !== undefined) await run(changes, "reject", { paths });
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
      return { paths: [what.path] };
  }
}

async function run(changes: Changes, verdict: Verdict, selection: Selection, path?: string): Promise<void> {
  try {
    const outcome = await (verdict === "accept" ? changes.accept(selection) : changes.reject(selection));
    await tell(verdict, outcomeWords(verdict, outcome, selection.hunks ?? [], path));
  } catch (error) {
    void vscode.window.showErrorMessage(neutralMessage(`The changes could not be ${verdict}ed: ${reason(error)}`));
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
