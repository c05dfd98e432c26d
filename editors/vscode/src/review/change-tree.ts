/** The pending changes as a tree: folders, files, hunks. Pure. */

import { neutral, neutralName } from "../shared/neutral";
import type { Change, Hunk } from "../shared/protocol";

/** A node's `path` is what the server knows it by, its `label` is safe to show. */
export interface FolderNode {
  kind: "folder";
  /** From the workspace's root, without a slash at the end. */
  path: string;
  /** What is shown: a chain of folders with one child each is one node. */
  label: string;
  children: (FolderNode | FileNode)[];
}

export interface FileNode {
  kind: "file";
  path: string;
  label: string;
  change: Change;
  children: HunkNode[];
}

export interface HunkNode {
  kind: "hunk";
  path: string;
  label: string;
  hunk: Hunk;
  change: Change;
}

export type ChangeNode = FolderNode | FileNode | HunkNode;

export function changeTree(changes: Change[]): (FolderNode | FileNode)[] {
  return grow(changes, "");
}

/** Whether two lists make the same tree: what a file would be with all of it accepted does not show there. */
export function sameTree(a: Change[], b: Change[]): boolean {
  const shown = (changes: Change[]) =>
    changes.map(({ proposed, hunks, ...change }) => [change, proposed === undefined, hunks.map(({ text, ...hunk }) => [hunk, text.length])]);
  return JSON.stringify(shown(a)) === JSON.stringify(shown(b));
}

/** All changes at a node and below it. */
export function changesAt(node: ChangeNode): Change[] {
  return node.kind === "folder" ? node.children.flatMap(changesAt) : [node.change];
}

/** The file that stands first in the tree. */
export function firstFile(nodes: (FolderNode | FileNode)[]): FileNode | undefined {
  const [first] = nodes;
  return first?.kind === "folder" ? firstFile(first.children) : first;
}

function grow(changes: Change[], folder: string): (FolderNode | FileNode)[] {
  const folders = new Map<string, Change[]>();
  const files: FileNode[] = [];
  for (const change of changes) {
    const rest = folder === "" ? change.path : change.path.slice(folder.length + 1);
    const slash = rest.indexOf("/");
    if (slash < 0) files.push(fileNode(change, rest));
    else {
      const name = rest.slice(0, slash);
      folders.set(name, [...(folders.get(name) ?? []), change]);
    }
  }
  const grown = [...folders].map(([name, inside]) => folderNode(folder === "" ? name : `${folder}/${name}`, name, inside));
  const byLabel = (a: { label: string }, b: { label: string }) => a.label.localeCompare(b.label);
  return [...grown.sort(byLabel), ...files.sort(byLabel)];
}

function folderNode(path: string, name: string, changes: Change[]): FolderNode {
  const children = grow(changes, path);
  const [only] = children;
  const label = neutralName(name);
  if (children.length === 1 && only?.kind === "folder") return { ...only, label: `${label}/${only.label}` };
  return { kind: "folder", path, label, children };
}

function fileNode(change: Change, name: string): FileNode {
  const children = change.hunks.map((hunk): HunkNode => ({ kind: "hunk", path: change.path, label: hunkLabel(hunk), hunk, change }));
  return { kind: "file", path: change.path, label: neutralName(name), change, children };
}

/** The hunk's first telling line; of a conflict, the first one of the agent's. */
function hunkLabel(hunk: Hunk): string {
  const lines = hunk.text.split("\n").filter((line) => line.slice(1).trim() !== "");
  const middle = hunk.conflict === undefined ? -1 : lines.findLastIndex((line) => /^\+=+$/.test(line));
  const line = lines.slice(middle + 1).find((line) => line.startsWith("+")) ?? lines[0] ?? "empty lines";
  return neutral(line.replace(/^([+-])\s*/, "$1 ").trimEnd());
}

/** Where a hunk is, for people. */
export function hunkPlace(hunk: Hunk): string {
  if (hunk.oldStart === 0 && hunk.newStart === 0) return "";
  const added = hunk.newLines > 0 ? ` +${hunk.newLines}` : "";
  const gone = hunk.oldLines > 0 ? ` −${hunk.oldLines}` : "";
  return `line ${Math.max(1, hunk.newStart)},${added}${gone}`;
}
