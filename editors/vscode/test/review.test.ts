import { expect, test } from "vitest";
import { type ChangeNode, changeTree, hunkPlace, sameTree } from "../src/review/change-tree";
import { outcomeWords } from "../src/review/outcome";
import type { Change, Hunk } from "../src/shared/protocol";

function hunk(text: string): Hunk {
  return { id: text, oldStart: 3, oldLines: 1, newStart: 4, newLines: 2, text };
}

function change(path: string, hunks = [hunk("-old\n+new\n")]): Change {
  return { path, digest: "d", kind: "modified", binary: false, protected: false, conflict: false, hunks };
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
  const fought = { ...hunk("-mine\n+<<<<<<< ours\n+mine\n+=======\n+its\n+>>>>>>> theirs\n"), conflict: { theirs: "t", both: "b" } };
  expect(outline(changeTree([change("a", [fought])]))).toEqual(["a", "  + its"]);
  expect(hunkPlace(hunk("+x"))).toBe("line 4, +2 −1");
  expect(hunkPlace({ ...hunk(""), oldStart: 0, newStart: 0 })).toBe("");
});

test("names and lines are shown as what they are, and known by what they were", () => {
  const [folder] = changeTree([change("d\u202eir/evil\ntxt.exe", [hunk("+a\u202e\tb\r\n")])]);
  expect(folder && outline([folder])).toEqual(["d⟨U+202E⟩ir", "  evil⟨U+000A⟩txt.exe", "    + a⟨U+202E⟩\tb"]);
  expect(folder).toMatchObject({ path: "d\u202eir", children: [{ path: "d\u202eir/evil\ntxt.exe" }] });
});

test("a tree is drawn anew when something in it is another", () => {
  const list = [change("a.txt"), change("b.txt")];
  expect(sameTree(list, [{ ...change("a.txt"), hunks: [hunk("-old\n+new\n")] }, change("b.txt")])).toBe(true);
  const [first, second] = [{ ...change("a.txt"), proposed: "one" }, { ...change("a.txt"), proposed: "two" }];
  expect(sameTree([first], [second])).toBe(true);
  const others: Partial<Change>[] = [{ path: "c.txt" }, { digest: "e" }, { conflict: true }, { protected: true }, { kind: "deleted" }, { hunks: [] }, { proposed: "x" }];
  for (const other of [...others, { hunks: [{ ...hunk("-old\n+new\n"), newStart: 9 }] }, { hunks: [hunk("-old\n+newer\n")] }]) {
    expect(sameTree([change("a.txt")], [{ ...change("a.txt"), ...other }])).toBe(false);
  }
  expect(sameTree(list, list.slice(1))).toBe(false);
});

test("what came of a verdict names files, never ids, and makes no link of a name", () => {
  const gone = (path: string) => ({ path, why: "that hunk is not pending any more" });
  expect(outcomeWords("accept", { done: ["a"], failed: [] }, ["3fa9"], "a")).toEqual({ message: "Accepted 1 file." });
  expect(outcomeWords("accept", { done: [], failed: [gone("3fa9"), gone("77e0")] }, ["3fa9", "77e0"], "src/a.rs")).toEqual({
    message: "Not accepted: src/a.rs",
    detail: "src/a.rs: That change is not what it was: look at it again.",
  });
  expect(outcomeWords("reject", { done: [], failed: [gone("3fa9")] }, ["3fa9"]).message).toBe("That change is not what it was: look at it again.");
  const evil = { path: "[x](command:quit)", why: "it is protected" };
  expect(outcomeWords("accept", { done: ["a"], failed: [evil] }, [])).toEqual({
    message: "Accepted 1 file. Not accepted: [x] (command:quit)",
    detail: "[x](command:quit): it is protected",
  });
});
