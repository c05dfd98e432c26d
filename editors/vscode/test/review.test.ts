import { expect, test } from "vitest";
import { type ChangeNode, changeTree, hunkPlace } from "../src/review/change-tree";
import type { Change, Hunk } from "../src/shared/protocol";

function hunk(text: string): Hunk {
  return { id: text, oldStart: 3, oldLines: 1, newStart: 4, newLines: 2, text };
}

function change(path: string, hunks = [hunk("-old\n+new\n")]): Change {
  return { path, kind: "modified", binary: false, protected: false, conflict: false, hunks };
}

function outline(nodes: ChangeNode[], indent = ""): string[] {
  return nodes.flatMap((node) => [`${indent}${node.label}`, ...(node.kind === "hunk" ? [] : outline(node.children, `${indent}  `))]);
}

test("folders come before files, and a chain of folders is one node", () => {
  const tree = changeTree([change("z.txt"), change("src/a/b/c.rs"), change("src/a/b/d.rs"), change("a.txt")]);
  expect(outline(tree)).toEqual(["src/a/b", "  c.rs", "    + new", "  d.rs", "    + new", "a.txt", "  + new", "z.txt", "  + new"]);
});

test("a node's path is what the server knows it by", () => {
  const [folder] = changeTree([change("src/a/b/c.rs")]);
  expect(folder).toMatchObject({ kind: "folder", path: "src/a/b", children: [{ kind: "file", path: "src/a/b/c.rs" }] });
});

test("folders that only begin alike stay apart", () => {
  expect(outline(changeTree([change("app/x", []), change("app-evil/x", [])]))).toEqual(["app", "  x", "app-evil", "  x"]);
});

test("a hunk is named by its first telling line, and by its place", () => {
  const [file] = changeTree([change("a", [hunk("-gone\n"), hunk("-old\n+\n+  new()\n"), hunk("binary file")])]);
  expect(outline(file?.kind === "file" ? file.children : [])).toEqual(["- gone", "+ new()", "binary file"]);
  expect(hunkPlace(hunk("+x"))).toBe("line 4, +2 −1");
  expect(hunkPlace({ ...hunk(""), oldStart: 0, newStart: 0 })).toBe("");
});
