/** The tree of pending changes, with a badge that counts them. */

import * as vscode from "vscode";
import { neutral, neutralMessage, neutralName } from "../shared/neutral";
import type { Change } from "../shared/protocol";
import { count } from "../shared/words";
import { type ChangeNode, changeTree, type FileNode, type FolderNode, type HunkNode, hunkPlace, sameTree } from "./change-tree";
import type { Changes } from "./changes";

export const CHANGES_VIEW = "airlock.changes";

export class ChangesView implements vscode.TreeDataProvider<ChangeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly tree: vscode.TreeView<ChangeNode>;
  private readonly subscription: vscode.Disposable;
  private drawn: Change[] = [];

  constructor(private readonly changes: Changes) {
    this.tree = vscode.window.createTreeView(CHANGES_VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.subscription = changes.onChange(() => this.show());
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    if (node === undefined) return changeTree(this.changes.all);
    return node.kind === "hunk" ? [] : node.children;
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
    this.subscription.dispose();
    this.tree.dispose();
    this.changed.dispose();
  }

  private show(): void {
    const hunks = this.changes.hunkCount;
    this.tree.badge = hunks === 0 ? undefined : { value: hunks, tooltip: `${count(hunks, "change")} to review` };
    this.tree.message = neutralMessage(this.changes.whatIsLeftOut.join(" "));
    void vscode.commands.executeCommand("setContext", "airlock.hasChanges", hunks > 0);
    // A tree that is drawn anew loses the click that is just being made.
    if (sameTree(this.drawn, this.changes.all)) return;
    this.drawn = this.changes.all;
    this.changed.fire();
  }

  private folderItem(node: FolderNode): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState.Expanded);
    item.id = `folder ${node.path}`;
    item.iconPath = vscode.ThemeIcon.Folder;
    item.contextValue = "folder";
    item.accessibilityInformation = { label: `Folder ${node.label}` };
    return item;
  }

  private fileItem(node: FileNode): vscode.TreeItem {
    const { change } = node;
    // A new file, and one that goes, is one hunk: the file itself.
    const state = change.kind === "modified" ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed;
    const item = new vscode.TreeItem(node.label, state);
    item.id = `file ${node.path}`;
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

const KINDS = { created: "new", modified: "changed", deleted: "deleted" } as const;

function explain(change: { protected: boolean; conflict: boolean }): string[] {
  const why: string[] = [];
  if (change.protected) why.push("**Protected**: this may run something later. “Accept all” leaves it; accept it by itself after you have read it.");
  if (change.conflict) why.push("**You changed the same lines.** “Accept all” leaves it; accepted by itself, the file gets both sides, marked.");
  return why;
}

function hunkItem(node: HunkNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState.None);
  item.id = `hunk ${node.path} ${node.hunk.id}`;
  item.description = hunkPlace(node.hunk);
  item.iconPath = new vscode.ThemeIcon(node.hunk.newLines === 0 ? "diff-removed" : node.hunk.oldLines === 0 ? "diff-added" : "diff-modified");
  item.contextValue = "hunk";
  item.tooltip = new vscode.MarkdownString().appendCodeblock(neutral(node.hunk.text), "diff");
  item.command = { command: "airlock.showChange", title: "Show the Change", arguments: [node] };
  item.accessibilityInformation = { label: `Change at ${hunkPlace(node.hunk)}: ${node.label}` };
  return item;
}
