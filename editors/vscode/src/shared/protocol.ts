/** The messages of Airlock's extension to LSP, as server/docs/protocol.md has them. */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface SlashCommand {
  name: string;
  description: string;
  hint?: string;
}

/** The result of `airlock/session/new` and `airlock/session/load`. */
export interface SessionOpened {
  sessionId: string;
  model: string;
  commands: SlashCommand[];
}

export interface KeptSession {
  sessionId: string;
  title: string;
  updatedAt: string;
  messages: number;
}

/** What a prompt is about. Diagnostics go through as the language client writes them. */
export interface PromptContext {
  uri: string;
  range?: Range;
  diagnostics?: unknown[];
}

export interface TurnBegun {
  sessionId: string;
  turnId: string;
}

export interface Hunk {
  id: string;
  /** From 1; all four are 0 for what has no lines. */
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  text: string;
  /** For lines that both sides changed: what to accept instead of `id`, which puts both sides between marks. */
  conflict?: { theirs: string; both: string };
}

export interface Change {
  path: string;
  /** Names all that is shown of it. */
  digest: string;
  kind: "created" | "modified" | "deleted";
  binary: boolean;
  protected: boolean;
  conflict: boolean;
  hunks: Hunk[];
  proposed?: string;
}

export interface ChangeList {
  /** Names all that is shown in it. */
  digest: string;
  changes: Change[];
  ignored: number;
  remarks: string[];
}

/** What a verdict is about, with the digests of what its user saw. Ids of hunks name their content themselves. */
export type Selection = { list: string } | { paths: string[]; shown: Record<string, string> } | { hunks: string[] };

export interface Reviewed {
  done: string[];
  failed: { path: string; why: string }[];
}

export type CallStatus = "pending" | "in_progress" | "completed" | "failed";
export type Isolation = "microvm" | "container";
export type SandboxState = "starting" | "ready" | "failed" | "stopped";
export type NoticeLevel = "info" | "warning" | "error";
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "error";

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costUsd?: number;
  contextUsed: number;
  contextSize: number;
}

/** `airlock/session/update`. Kinds that are not here come from a newer server and are to be ignored. */
export type Update =
  | { kind: "user_message" | "agent_message_chunk" | "agent_thought_chunk"; text: string }
  | { kind: "tool_call"; toolCallId: string; name: string; title: string; input: unknown; status: "pending" }
  | { kind: "tool_call_update"; toolCallId: string; status: CallStatus; output?: string; exitCode?: number }
  | ({ kind: "usage" } & Usage)
  | { kind: "sandbox"; state: SandboxState; isolation?: Isolation; detail?: string }
  | { kind: "changes"; count: number; files: number }
  | { kind: "commands"; commands: SlashCommand[] }
  | { kind: "model"; model: string }
  | { kind: "notice"; level: NoticeLevel; text: string }
  | { kind: "turn_end"; turnId: string; stopReason: StopReason; error?: string };

export interface SessionUpdate {
  sessionId: string;
  seq: number;
  update: Update;
}

export interface PermissionChoice {
  id: string;
  label: string;
  kind: string;
}

/** The parameters of `airlock/permission`. */
export interface PermissionRequest {
  sessionId: string;
  toolCallId: string;
  title: string;
  detail: string;
  options: PermissionChoice[];
}
