/** Numbers and states in words for people. */

import type { Sandbox } from "./chat";
import type { PermissionChoice, StopReason, Usage } from "./protocol";

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function tokens(count: number): string {
  if (count < 1000) return `${count}`;
  if (count < 999_500) return `${(count / 1000).toFixed(count < 9_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function cost(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`;
}

export function count(many: number, one: string): string {
  return `${many} ${one}${many === 1 ? "" : "s"}`;
}

/** All tokens that went to the model and came from it. */
export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

export type Tone = "good" | "plain" | "bad" | "busy";

/** What is said of the wall. It is never left out. */
export function isolation(sandbox: Sandbox | undefined): { label: string; tone: Tone; detail: string } {
  const detail = sandbox?.detail ?? "";
  switch (sandbox?.state) {
    case undefined:
      return { label: "No sandbox yet", tone: "plain", detail: "It starts with the conversation." };
    case "starting":
      return { label: "Sandbox starting", tone: "busy", detail };
    case "failed":
      return { label: "No sandbox", tone: "bad", detail };
    case "stopped":
      return { label: "Sandbox ended", tone: "bad", detail };
    case "ready":
      return sandbox.isolation === "microvm"
        ? { label: "microVM", tone: "good", detail: detail || "Commands run on a kernel of their own." }
        : { label: "Container", tone: "plain", detail: detail || "Commands share your system's kernel." };
  }
}

/** Why a turn ended before its time. */
export function stopped(reason: StopReason): string {
  switch (reason) {
    case "cancelled":
      return "Stopped";
    case "max_tokens":
      return "The answer was cut off: it reached the longest length that is allowed";
    case "max_turn_requests":
      return "Stopped: the agent took as many steps as one turn may have";
    case "refusal":
      return "The model declined to answer";
    case "error":
      return "This turn failed";
    case "end_turn":
      return "";
  }
}

/** The one answer that stands out: the least that goes on. */
export function primaryAnswer(options: PermissionChoice[]): PermissionChoice | undefined {
  return options.find(({ kind }) => kind === "allow_once") ?? options.find(({ kind }) => kind !== "reject");
}
