/** What the chat shows: plain data, made by `reduce` alone. */

import type { CallStatus, Isolation, NoticeLevel, PermissionChoice, SandboxState, SlashCommand, StopReason, Update, Usage } from "./protocol";

export interface UserItem {
  kind: "user";
  id: string;
  text: string;
  /** What the prompt was about, in words. */
  about: string[];
}

export interface AnswerItem {
  kind: "answer";
  id: string;
  text: string;
}

export interface ThoughtItem {
  kind: "thought";
  id: string;
  text: string;
}

export interface CallItem {
  kind: "call";
  id: string;
  name: string;
  title: string;
  input: unknown;
  status: CallStatus;
  output: string;
  /** How many characters of the output are left out, in front of what is kept. */
  leftOut: number;
  exitCode?: number;
  startedAt?: number;
  endedAt?: number;
}

export interface NoticeItem {
  kind: "notice";
  id: string;
  level: NoticeLevel;
  text: string;
}

export interface EndItem {
  kind: "end";
  id: string;
  stopReason: StopReason;
  error?: string;
}

export type Item = UserItem | AnswerItem | ThoughtItem | CallItem | NoticeItem | EndItem;

/** How it stands with the server. */
export type Connection =
  | { kind: "restricted" }
  | { kind: "no_folder" }
  | { kind: "starting" }
  | { kind: "running" }
  | { kind: "restarting" }
  | { kind: "failed"; reason: string };

export interface Sandbox {
  state: SandboxState;
  isolation?: Isolation;
  detail?: string;
}

/** A question that waits for the user. */
export interface Question {
  id: string;
  title: string;
  detail: string;
  options: PermissionChoice[];
}

/** A prompt that waits until the turn in work is over. */
export interface QueuedPrompt {
  id: string;
  text: string;
  about: string[];
}

export interface Chat {
  connection: Connection;
  sessionId?: string;
  /** The folder that the conversation is about, where there are several. */
  folder?: string;
  model?: string;
  commands: SlashCommand[];
  items: Item[];
  /** Counts items, so that each has an id of its own. */
  made: number;
  /** A turn is in work; `doing` is the tool call that runs. */
  turn?: { doing?: string };
  /** What was said before is being told again. */
  replaying: boolean;
  /** To be said when that is over. */
  note?: string;
  sandbox?: Sandbox;
  usage?: Usage;
  changes: { count: number; files: number };
  questions: Question[];
  queued: QueuedPrompt[];
}

/** What can happen to it. */
export type ChatEvent =
  | { type: "connection"; connection: Connection }
  | { type: "opened"; sessionId: string; model: string; commands: SlashCommand[]; again: boolean; folder?: string; note?: string }
  | { type: "prompted"; text: string; about: string[] }
  | { type: "queued"; prompt: QueuedPrompt }
  | { type: "unqueued"; id: string }
  | { type: "refused"; reason: string }
  | { type: "interrupted" }
  | { type: "asked"; question: Question }
  | { type: "answered"; id: string }
  /** `at`: when it came, in milliseconds. */
  | { type: "update"; update: Update; at: number };

export function emptyChat(connection: Connection): Chat {
  return { connection, commands: [], items: [], made: 0, replaying: false, changes: { count: 0, files: 0 }, questions: [], queued: [] };
}
