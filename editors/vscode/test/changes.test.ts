import { expect, test, vi } from "vitest";
import { ChatStore } from "../src/conversation/chat-store";
import { Conversation } from "../src/conversation/conversation";
import { changeTree } from "../src/review/change-tree";
import { Changes } from "../src/review/changes";
import { selectionOf } from "../src/review/verdicts";
import type { Change } from "../src/shared/protocol";
import { FakeServer, memory } from "./fake-server";

function change(path: string, ...ids: string[]): Change {
  const hunks = ids.map((id) => ({ id, oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, text: "-a\n+b\n" }));
  return { path, kind: "modified", binary: false, protected: false, conflict: false, hunks };
}

async function reviewing(...list: Change[]) {
  const server = new FakeServer();
  const show = (...changes: Change[]) => (server.answers["airlock/changes/list"] = () => ({ changes, ignored: 0, remarks: [] }));
  show(...list);
  const store = new ChatStore();
  const conversation = new Conversation(server.asServer, store, memory());
  const changes = new Changes(server.asServer, conversation, store);
  await conversation.ensure();
  const holds = async (...ids: string[]) => {
    await vi.waitFor(() => expect(changes.all.flatMap(({ hunks }) => hunks.map(({ id }) => id))).toEqual(ids));
  };
  await holds(...list.flatMap(({ hunks }) => hunks.map(({ id }) => id)));
  return { server, store, conversation, changes, show, holds };
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

test("a file is decided as it was shown, a folder by its name", () => {
  const [folder, file] = changeTree([change("docs/a.md", "1"), change("b.txt", "2", "3")]);
  if (folder === undefined || file === undefined) throw new Error("two nodes were expected");
  expect(selectionOf(folder)).toEqual({ paths: ["docs"] });
  expect(selectionOf(file)).toEqual({ hunks: ["2", "3"] });
  expect(selectionOf({ path: "b.txt", hunkId: "3" })).toEqual({ hunks: ["3"] });
});
