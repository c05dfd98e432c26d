import { describe, expect, test } from "vitest";
import { type Chat, type ChatEvent, emptyChat } from "../src/shared/chat";
import type { Update } from "../src/shared/protocol";
import { OUTPUT_MAX_CHARS, reduce } from "../src/shared/reduce";

const opened: ChatEvent = { type: "opened", sessionId: "s", model: "m", commands: [], again: false };

function update(update: Update, at = 0): ChatEvent {
  return { type: "update", update, at };
}

function after(...events: ChatEvent[]): Chat {
  return events.reduce(reduce, emptyChat({ kind: "starting" }));
}

const call = update({ kind: "tool_call", toolCallId: "t", name: "bash", title: "$ ls", input: { command: "ls" }, status: "pending" });

describe("what is said", () => {
  test("chunks of one kind become one text, and another kind begins another", () => {
    const chat = after(
      opened,
      update({ kind: "agent_thought_chunk", text: "hm" }),
      update({ kind: "agent_message_chunk", text: "Hel" }),
      update({ kind: "agent_message_chunk", text: "lo" }),
    );
    expect(chat.items).toEqual([
      { kind: "thought", id: "item-1", text: "hm" },
      { kind: "answer", id: "item-2", text: "Hello" },
    ]);
  });

  test("any split of a text into chunks gives the same chat", () => {
    const text = "one **two** three";
    const whole = after(opened, update({ kind: "agent_message_chunk", text }));
    const letters = after(opened, ...Array.from(text, (letter) => update({ kind: "agent_message_chunk", text: letter })));
    expect(letters).toEqual(whole);
  });

  test("a prompt begins a turn, and its end ends it without a word when all went well", () => {
    const prompted = after(opened, { type: "prompted", text: "hi", about: ["a.rs:1"] });
    expect(prompted.turn).toEqual({});
    const chat = reduce(prompted, update({ kind: "turn_end", turnId: "turn-1", stopReason: "end_turn" }));
    expect(chat.turn).toBeUndefined();
    expect(chat.items).toEqual([{ kind: "user", id: "item-1", text: "hi", about: ["a.rs:1"] }]);
  });

  test("a turn that failed says why", () => {
    const chat = after(opened, { type: "prompted", text: "hi", about: [] }, update({ kind: "turn_end", turnId: "1", stopReason: "error", error: "overloaded" }));
    expect(chat.items.at(-1)).toMatchObject({ kind: "end", stopReason: "error", error: "overloaded" });
  });

  test("a refused prompt ends the turn that it had begun", () => {
    const chat = after(opened, { type: "prompted", text: "hi", about: [] }, { type: "refused", reason: "busy" });
    expect(chat.turn).toBeUndefined();
    expect(chat.items.at(-1)).toMatchObject({ kind: "notice", level: "error", text: "busy" });
  });
});

describe("tool calls", () => {
  test("output is appended, and time runs from the first sign of work to the last", () => {
    const chat = after(
      opened,
      { type: "prompted", text: "go", about: [] },
      call,
      update({ kind: "tool_call_update", toolCallId: "t", status: "in_progress", output: "a\n" }, 1000),
      update({ kind: "tool_call_update", toolCallId: "t", status: "in_progress", output: "b\n" }, 2000),
      update({ kind: "tool_call_update", toolCallId: "t", status: "completed", exitCode: 0 }, 3500),
    );
    expect(chat.items.at(-1)).toMatchObject({ output: "a\nb\n", status: "completed", exitCode: 0, startedAt: 1000, endedAt: 3500 });
    expect(chat.turn).toEqual({});
  });

  test("the turn says what it is doing while a call runs", () => {
    expect(after(opened, { type: "prompted", text: "go", about: [] }, call).turn).toEqual({ doing: "$ ls" });
  });

  test("only the end of a flood is kept, in whole lines, and what is left out is counted", () => {
    const line = `${"x".repeat(99)}\n`;
    const events = Array.from({ length: 1000 }, () => update({ kind: "tool_call_update", toolCallId: "t", status: "in_progress", output: line }));
    const item = after(opened, call, ...events).items.at(-1);
    if (item?.kind !== "call") throw new Error("a call was expected");
    expect(item.output.length).toBeLessThanOrEqual(OUTPUT_MAX_CHARS);
    expect(item.output.startsWith("x".repeat(99))).toBe(true);
    expect(item.output.length + item.leftOut).toBe(100_000);
  });

  test("an update of an unknown call changes nothing", () => {
    const chat = after(opened);
    expect(reduce(chat, update({ kind: "tool_call_update", toolCallId: "?", status: "completed" }))).toBe(chat);
  });
});

describe("sessions", () => {
  const replay = [update({ kind: "user_message", text: "before" }), call, update({ kind: "tool_call_update", toolCallId: "t", status: "completed" }, 5)];
  const usage: Update = { kind: "usage", inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, contextUsed: 3, contextSize: 10 };

  test("a replay ends with the usage, and claims no durations", () => {
    const chat = after({ ...opened, again: true }, ...replay);
    expect(chat.replaying).toBe(true);
    expect(chat.items.at(-1)).not.toHaveProperty("endedAt");
    expect(reduce(chat, update(usage)).replaying).toBe(false);
  });

  test("a note is said when the replay is over, and at once where there is none", () => {
    const again = after({ ...opened, again: true, note: "back" }, ...replay, update(usage));
    expect(again.items.at(-1)).toMatchObject({ kind: "notice", text: "back" });
    expect(after({ ...opened, note: "back" }).items).toMatchObject([{ kind: "notice", text: "back" }]);
  });

  test("what waits to be asked outlives the turn, the server and the conversation", () => {
    const queued: ChatEvent = { type: "queued", prompt: { id: "q", text: "and then?", about: [] } };
    const chat = after(opened, { type: "prompted", text: "go", about: [] }, queued);
    expect(chat.turn).toEqual({});
    for (const event of [update({ kind: "turn_end", turnId: "1", stopReason: "cancelled" }), { type: "interrupted" } as const, opened]) {
      expect(reduce(chat, event).queued).toHaveLength(1);
    }
    expect(reduce(chat, { type: "unqueued", id: "q" }).queued).toEqual([]);
  });

  test("opening another one leaves nothing of the one before", () => {
    const chat = after(opened, ...replay, update({ kind: "changes", count: 3, files: 1 }), { ...opened, sessionId: "other" });
    expect(chat).toEqual(after({ ...opened, sessionId: "other" }));
  });

  test("when the server is gone, nothing is in work and nothing is asked", () => {
    const question = { id: "q", title: "?", detail: "", options: [] };
    const chat = after(opened, { type: "prompted", text: "go", about: [] }, call, { type: "asked", question }, { type: "interrupted" });
    expect(chat.turn).toBeUndefined();
    expect(chat.questions).toEqual([]);
    expect(chat.items.at(-1)).toMatchObject({ status: "failed" });
  });

  test("questions wait in order and go when they are answered", () => {
    const question = (id: string) => ({ id, title: id, detail: "", options: [] });
    const chat = after(opened, { type: "asked", question: question("a") }, { type: "asked", question: question("b") }, { type: "answered", id: "a" });
    expect(chat.questions.map(({ id }) => id)).toEqual(["b"]);
  });

  test("what a newer server says is ignored", () => {
    const chat = after(opened);
    expect(reduce(chat, update({ kind: "weather" } as unknown as Update))).toBe(chat);
  });

  test("reducing changes nothing that it was given", () => {
    const chat = Object.freeze(after(opened, call));
    const before = structuredClone(chat);
    reduce(chat, update({ kind: "tool_call_update", toolCallId: "t", status: "completed", output: "x" }));
    expect(chat).toEqual(before);
  });
});
