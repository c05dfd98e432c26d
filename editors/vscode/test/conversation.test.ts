import { expect, test, vi } from "vitest";
import { ChatStore } from "../src/conversation/chat-store";
import { Conversation } from "../src/conversation/conversation";
import type { Update } from "../src/shared/protocol";
import { FakeServer, memory } from "./fake-server";

const ended: Extract<Update, { kind: "turn_end" }> = { kind: "turn_end", turnId: "turn", stopReason: "end_turn" };
const replayed: Update = { kind: "usage", inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, contextUsed: 0, contextSize: 1 };

function window(kept: Record<string, unknown> = {}) {
  const server = new FakeServer();
  const store = new ChatStore();
  const conversation = new Conversation(server.asServer, store, memory(kept));
  const asked = () => server.of("airlock/session/prompt").map(({ text }) => text);
  return { server, store, conversation, asked };
}

test("a question during a turn leaves the turn as it is, and is asked when that is over", async () => {
  const { server, store, conversation, asked } = window();
  await conversation.prompt("Serve it", [], []);
  await conversation.prompt("Fix it", [{ uri: "file:///a" }], ["a:1"], "Fix this problem");
  expect(store.chat).toMatchObject({ turn: {}, queued: [{ text: "Fix this problem", about: ["a:1"] }] });
  expect(asked()).toEqual(["Serve it"]);
  server.tell("new", { ...ended, stopReason: "cancelled" });
  expect(store.chat).toMatchObject({ turn: {}, queued: [] });
  expect(store.chat.items.at(-1)).toMatchObject({ kind: "user", text: "Fix this problem" });
  await vi.waitFor(() => expect(asked()).toEqual(["Serve it", "Fix it"]));
  expect(server.of("airlock/session/prompt")[1]).toMatchObject({ context: [{ uri: "file:///a" }] });
});

test("several questions are asked one after the other, and none that was taken back", async () => {
  const { server, store, conversation, asked } = window();
  for (const text of ["one", "two", "three", "four"]) await conversation.prompt(text, [], []);
  conversation.takeBack(store.chat.queued[1]?.id ?? "");
  server.tell("new", ended);
  expect(store.chat.queued.map(({ text }) => text)).toEqual(["four"]);
  server.tell("new", ended);
  await vi.waitFor(() => expect(asked()).toEqual(["one", "two", "four"]));
});

test("a question that is refused does not hold up the next one", async () => {
  const { server, store, conversation, asked } = window();
  await conversation.prompt("one", [], []);
  await conversation.prompt("two", [], []);
  await conversation.prompt("three", [], []);
  const prompt = vi.fn().mockRejectedValueOnce(new Error("no")).mockResolvedValue({});
  server.answers["airlock/session/prompt"] = prompt;
  server.tell("new", ended);
  await vi.waitFor(() => expect(asked()).toEqual(["one", "two", "three"]));
  expect(store.chat.items).toContainEqual(expect.objectContaining({ kind: "notice", text: "no" }));
});

test("a question that waits when the server ends is asked in the conversation that comes back", async () => {
  const { server, store, conversation, asked } = window();
  await conversation.prompt("one", [], []);
  await conversation.prompt("two", [], []);
  server.states.fire({ kind: "restarting" });
  expect(store.chat).toMatchObject({ queued: [{ text: "two" }] });
  server.states.fire({ kind: "running" });
  await vi.waitFor(() => expect(store.chat.replaying).toBe(true));
  expect(asked()).toEqual(["one"]);
  server.tell("new", replayed);
  await vi.waitFor(() => expect(asked()).toEqual(["one", "two"]));
});

const refuse = (why: string) => () => {
  throw new Error(why);
};

test("after a crash it is said whether the conversation goes on or is a new one, and why is logged", async () => {
  const { server, store, conversation } = window();
  await conversation.prompt("one", [], []);
  server.states.fire({ kind: "restarting" });
  server.answers["airlock/session/load"] = refuse("cannot read the history");
  server.states.fire({ kind: "running" });
  await vi.waitFor(() => expect(store.chat.items).toMatchObject([{ kind: "notice", text: expect.stringContaining("with a new conversation") as string }]));
  expect(server.logged.join()).toContain("cannot read the history");
});

test("a last conversation that cannot be opened is not taken for nothing, unless nothing was said in it", async () => {
  const lost = window({ "airlock.lastSession": "last" });
  lost.server.answers["airlock/session/load"] = refuse("cannot read the history");
  await lost.conversation.ensure();
  expect(lost.store.chat.items).toMatchObject([{ text: expect.stringContaining("this is a new one") as string }]);
  const empty = window({ "airlock.lastSession": "last" });
  empty.server.answers["airlock/session/load"] = refuse('there is no session "last": /sessions lists those there are');
  await empty.conversation.ensure();
  expect(empty.store.chat.items).toEqual([]);
});

test("a conversation that another process still holds is waited for", async () => {
  const { server, store, conversation } = window({ "airlock.lastSession": "last" });
  const load = vi.fn().mockRejectedValueOnce(new Error("the session last is open in another window or editor")).mockResolvedValue({ sessionId: "last", model: "m", commands: [] });
  server.answers["airlock/session/load"] = load;
  await conversation.ensure();
  expect(store.chat.sessionId).toBe("last");
});
