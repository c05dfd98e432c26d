/**
 * The chat's one state machine: `reduce(chat, event)` gives the next chat and changes nothing.
 *
 * The extension and the page both run it over the same events, so that a page that was closed can be shown again.
 */

import { type CallItem, type Chat, type ChatEvent, emptyChat, type Item } from "./chat";
import type { Update } from "./protocol";

/** The end of a call's output that is kept; the agent itself has all of it. */
export const OUTPUT_MAX_CHARS = 64 * 1024;

export function reduce(chat: Chat, event: ChatEvent): Chat {
  switch (event.type) {
    case "connection":
      return { ...chat, connection: event.connection };
    case "opened": {
      const { type: _, again, ...opened } = event;
      // What waits was not asked yet: it is asked here.
      const next = { ...emptyChat({ kind: "running" }), ...opened, replaying: again, queued: chat.queued };
      return again ? next : replayed(next);
    }
    case "prompted":
      return { ...append(chat, { kind: "user", text: event.text, about: event.about }), replaying: false, turn: {} };
    case "queued":
      return { ...chat, queued: [...chat.queued, event.prompt] };
    case "unqueued":
      return { ...chat, queued: chat.queued.filter(({ id }) => id !== event.id) };
    case "refused":
      return withoutTurn(append(chat, { kind: "notice", level: "error", text: event.reason }));
    case "interrupted":
      return interrupted(chat);
    case "asked":
      return { ...chat, questions: [...chat.questions, event.question] };
    case "answered":
      return { ...chat, questions: chat.questions.filter((question) => question.id !== event.id) };
    case "update":
      return updated(chat, event.update, event.at);
  }
}

function updated(chat: Chat, update: Update, at: number): Chat {
  switch (update.kind) {
    case "user_message":
      return append(chat, { kind: "user", text: update.text, about: [] });
    case "agent_message_chunk":
      return said(chat, "answer", update.text);
    case "agent_thought_chunk":
      return said(chat, "thought", update.text);
    case "tool_call":
      return called(chat, update);
    case "tool_call_update":
      return callWentOn(chat, update, at);
    case "usage": {
      const { kind: _, ...usage } = update;
      return replayed({ ...chat, usage });
    }
    case "sandbox": {
      const { kind: _, ...sandbox } = update;
      return { ...chat, sandbox };
    }
    case "changes":
      return { ...chat, changes: { count: update.count, files: update.files } };
    case "commands":
      return { ...chat, commands: update.commands };
    case "model":
      return { ...chat, model: update.model };
    case "notice":
      return append(chat, { kind: "notice", level: update.level, text: update.text });
    case "turn_end":
      return ended(chat, update);
    default:
      // A newer server says more than we know.
      return chat;
  }
}

/** All that was said before has been told. */
function replayed(chat: Chat): Chat {
  const { note, ...rest } = chat;
  const over = { ...rest, replaying: false };
  return note === undefined ? over : append(over, { kind: "notice", level: "warning", text: note });
}

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

function append(chat: Chat, item: Without<Item, "id">): Chat {
  const made = chat.made + 1;
  return { ...chat, made, items: [...chat.items, { ...item, id: `item-${made}` }] };
}

/** Text goes on in the last item if that is of the same kind. */
function said(chat: Chat, kind: "answer" | "thought", text: string): Chat {
  const last = chat.items.at(-1);
  if (last?.kind !== kind) return append(chat, { kind, text });
  return { ...chat, items: [...chat.items.slice(0, -1), { ...last, text: last.text + text }] };
}

function called(chat: Chat, call: Extract<Update, { kind: "tool_call" }>): Chat {
  const { toolCallId, name, title, input } = call;
  const item: CallItem = { kind: "call", id: toolCallId, name, title, input, status: "pending", output: "", leftOut: 0 };
  const next = { ...chat, items: [...chat.items, item] };
  return chat.turn ? { ...next, turn: { doing: title } } : next;
}

function callWentOn(chat: Chat, update: Extract<Update, { kind: "tool_call_update" }>, at: number): Chat {
  // The last one with this id: a conversation that was taken up again may count its calls anew.
  const index = chat.items.findLastIndex((item) => item.kind === "call" && item.id === update.toolCallId);
  const call = chat.items[index];
  if (call?.kind !== "call") return chat;
  const next: CallItem = { ...call, status: update.status };
  if (update.output !== undefined) Object.assign(next, tail(call, update.output));
  if (update.exitCode !== undefined) next.exitCode = update.exitCode;
  // How long it took is not kept in a history.
  if (!chat.replaying) {
    next.startedAt ??= at;
    if (isOver(update.status)) next.endedAt = at;
  }
  const items = chat.items.with(index, next);
  return isOver(update.status) && chat.turn ? { ...chat, items, turn: {} } : { ...chat, items };
}

function tail(call: CallItem, more: string): Pick<CallItem, "output" | "leftOut"> {
  const all = call.output + more;
  const over = all.length - OUTPUT_MAX_CHARS;
  if (over <= 0) return { output: all, leftOut: call.leftOut };
  // Whole lines where there are any.
  const line = all.indexOf("\n", over);
  const from = line >= 0 && line < all.length - 1 ? line + 1 : over;
  return { output: all.slice(from), leftOut: call.leftOut + from };
}

function ended(chat: Chat, { stopReason, error }: Extract<Update, { kind: "turn_end" }>): Chat {
  const over = withoutTurn(chat);
  if (stopReason === "end_turn") return over;
  return append(over, error === undefined ? { kind: "end", stopReason } : { kind: "end", stopReason, error });
}

/** The server is gone: what was in work will not go on, and nobody waits for an answer. */
function interrupted(chat: Chat): Chat {
  const items = chat.items.map((item) => (item.kind === "call" && !isOver(item.status) ? { ...item, status: "failed" as const } : item));
  return withoutTurn({ ...chat, items, questions: [], replaying: false });
}

function withoutTurn(chat: Chat): Chat {
  const { turn: _, ...rest } = chat;
  return rest;
}

export function isOver(status: CallItem["status"]): boolean {
  return status === "completed" || status === "failed";
}
