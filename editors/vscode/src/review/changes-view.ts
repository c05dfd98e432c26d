/** The tree of pending changes, with a badge that counts them. */

import { createHash } from "node:crypto";
import * as vscode from "vscode";
import { neutral, neutralMessage, neutralName } from "../shared/neutral";
import type { ChangeList, Hunk } from "../shared/protocol";
import { count } from "../shared/words";
import { type ChangeNode, changesAt, changeTree, type FileNode, type FolderNode, type HunkNode, hunkPlace, sameTree } from "./change-tree";
import type { Changes } from "./changes";

export const CHANGES_VIEW = "airlock.changes";

export class ChangesView implements vscode.TreeDataProvider<ChangeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly tree: vscode.TreeView<ChangeNode>;
  private readonly subscriptions: vscode.Disposable[];
  /** The list that VS Code has last taken over. */
  private drawn: ChangeList;
  /** Which rows the user opened or closed: those that change have another id, and VS Code forgets it. */
  private readonly states = new Map<string, vscode.TreeItemCollapsibleState>();

  constructor(private readonly changes: Changes) {
    this.tree = vscode.window.createTreeView(CHANGES_VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.drawn = changes.list;
    const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    this.subscriptions = [
      changes.onChange(() => this.show()),
      this.tree.onDidCollapseElement(({ element }) => this.states.set(stateName(element), Collapsed)),
      this.tree.onDidExpandElement(({ element }) => this.states.set(stateName(element), Expanded)),
    ];
  }

  /** The list that is on the screen. Where none is, because the tree is out of sight or still empty, the last one. */
  async shown(): Promise<ChangeList> {
    if (this.tree.visible && this.drawn.changes.length > 0) return this.drawn;
    await this.changes.whenListed();
    return this.changes.list;
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    if (node !== undefined) return node.kind === "hunk" ? [] : node.children;
    this.drawn = this.changes.list;
    return changeTree(this.drawn.changes);
  }

  getTreeItem(node: ChangeNode): vscode.TreeItem {
    switch (node.kind) {
      case "folder":
        return this.folderItem(node);
      case "file":
        return this.fileItem(node);
      case "hunk":
        return hunkItem(node);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.tree.dispose();
    this.changed.dispose();
  }

  private show(): void {
    const hunks = this.changes.hunkCount;
    this.tree.badge = hunks === 0 ? undefined : { value: hunks, tooltip: `${count(hunks, "change")} to review` };
    this.tree.message = neutralMessage(this.changes.whatIsLeftOut.join(" "));
    void vscode.commands.executeCommand("setContext", "airlock.hasChanges", hunks > 0);
    // A tree that is drawn anew loses the click that is just being made.
    if (sameTree(this.drawn.changes, this.changes.all)) this.drawn = this.changes.list;
    else this.changed.fire();
  }

  private folderItem(node: FolderNode): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, this.states.get(stateName(node)) ?? vscode.TreeItemCollapsibleState.Expanded);
    item.id = rowId(node);
    item.iconPath = vscode.ThemeIcon.Folder;
    item.contextValue = "folder";
    item.accessibilityInformation = { label: `Folder ${node.label}` };
    return item;
  }

  private fileItem(node: FileNode): vscode.TreeItem {
    const { change } = node;
    // A new file, and one that goes, is one hunk: the file itself.
    const state = change.kind === "modified" ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed;
    const item = new vscode.TreeItem(node.label, this.states.get(stateName(node)) ?? state);
    item.id = rowId(node);
    // Its icon, and its decoration, follow from the file.
    const file = this.changes.fileOf(node.path);
    if (file !== undefined) item.resourceUri = file;
    const words = [KINDS[change.kind], change.protected ? "protected" : "", change.conflict ? "you changed it too" : ""].filter(Boolean);
    item.description = words.join(", ");
    const rest = [`: ${words.join(", ")}`, ...explain(change)].join("\n\n");
    item.tooltip = new vscode.MarkdownString().appendText(neutralName(node.path)).appendMarkdown(rest);
    item.contextValue = "file";
    item.command = { command: "airlock.showChange", title: "Show the Change", arguments: [node] };
    item.accessibilityInformation = { label: `${node.label}, ${words.join(", ")}, ${count(change.hunks.length, "change")}` };
    return item;
  }
}

function stateName({ kind, path }: ChangeNode): string {
  return `${kind} ${path}`;
}

/**
 * Names a row with all that it means. A click tells us of the row by its id: one on a row that shows what was there a
 * moment ago finds nothing, instead of what has come in its place.
 */
function rowId(node: ChangeNode): string {
  const digests = changesAt(node).map(({ digest }) => digest);
  return [stateName(node), node.kind === "hunk" ? node.hunk.id : createHash("sha256").update(digests.join()).digest("hex")].join(" ");
}

const KINDS = { created: "new", modified: "changed", deleted: "deleted" } as const;

function explain(change: { protected: boolean; conflict: boolean }): string[] {
  const why: string[] = [];
  if (change.protected) why.push("**Protected**: this may run something later. “Accept all” leaves it; accept it by itself after you have read it.");
  if (change.conflict) why.push("**You changed the same lines.** “Accept all” leaves it. Accept it by itself, and choose: yours, the agent's, or both.");
  return why;
}

function hunkItem(node: HunkNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState.None);
  const words = [hunkPlace(node.hunk), node.hunk.conflict === undefined ? "" : "you changed it too"].filter(Boolean).join(", ");
  item.id = rowId(node);
  item.description = words;
  item.iconPath = new vscode.ThemeIcon(iconOf(node.hunk));
  item.contextValue = "hunk";
  item.tooltip = new vscode.MarkdownString().appendCodeblock(neutral(node.hunk.text), "diff");
  item.command = { command: "airlock.showChange", title: "Show the Change", arguments: [node] };
  item.accessibilityInformation = { label: `Change at ${words}: ${node.label}` };
  return item;
}

function iconOf({ conflict, newLines, oldLines }: Hunk): string {
  if (conflict !== undefined) return "warning";
  return newLines === 0 ? "diff-removed" : oldLines === 0 ? "diff-added" : "diff-modified";
}
