/** VS Code's own diff editor: your file on the left, what the agent proposes on the right. */

import * as vscode from "vscode";
import { neutral, neutralMessage, neutralName } from "../shared/neutral";
import type { Change, Hunk } from "../shared/protocol";
import type { Changes } from "./changes";

/** Documents that we make: what the agent proposes, and the nothing before a file is created. */
export const SCHEME = "airlock";

type Side = "proposed" | "nothing";

export class ProposedTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly subscription: vscode.Disposable;

  constructor(private readonly changes: Changes) {
    this.subscription = changes.onChange(() => {
      for (const document of vscode.workspace.textDocuments) {
        if (isProposal(document.uri)) this.changed.fire(document.uri);
      }
      void closeWhatIsDecided(changes);
    });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return isProposal(uri) ? (this.changes.byPath(pathOf(uri))?.proposed ?? "") : "";
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}

export async function showDiff(changes: Changes, change: Change, hunk?: Hunk): Promise<void> {
  if (change.binary || (change.proposed === undefined && change.kind !== "deleted")) {
    const what = change.hunks.map((one) => one.text.trim()).join("\n");
    void vscode.window.showInformationMessage(`${neutralMessage(neutralName(change.path))} has no text to compare.`, { modal: true, detail: neutral(what) });
    return;
  }
  const file = changes.fileOf(change.path);
  if (file === undefined) return;
  const left = change.kind === "created" ? document(change.path, "nothing") : file;
  const right = document(change.path, change.kind === "deleted" ? "nothing" : "proposed");
  const options: vscode.TextDocumentShowOptions = { preview: true };
  if (hunk !== undefined) {
    const line = Math.max(0, hunk.newStart - 1);
    options.selection = new vscode.Range(line, 0, line, 0);
  }
  await vscode.commands.executeCommand("vscode.diff", left, right, title(change), options);
}

export function isProposal(uri: vscode.Uri): boolean {
  return uri.scheme === SCHEME && uri.query === "proposed";
}

/** Whether a document of ours shows this change. A new text is there only when VS Code has taken it over. */
export function shows(document: vscode.TextDocument, { proposed }: Change): boolean {
  return asShown(document.getText()) === asShown(proposed ?? "");
}

/** VS Code has one kind of line end in a document, and no mark of its encoding. */
function asShown(text: string): string {
  return text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
}

/** The path in the workspace that one of our documents is about. */
export function pathOf(uri: vscode.Uri): string {
  return uri.path.slice(1);
}

function document(path: string, side: Side): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query: side });
}

function title(change: Change): string {
  const name = neutralName(change.path.slice(change.path.lastIndexOf("/") + 1));
  const what = { created: "new file", modified: "proposed changes", deleted: "to be deleted" }[change.kind];
  return `${name} (${what})`;
}

/** A diff of what is not pending any more shows nothing: it goes. */
async function closeWhatIsDecided(changes: Changes): Promise<void> {
  const over = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME && changes.byPath(pathOf(input.modified)) === undefined);
  if (over.length > 0) await vscode.window.tabGroups.close(over, true);
}
