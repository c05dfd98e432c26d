/** A server that a test answers for. */

import * as vscode from "vscode";
import type { Server, ServerState } from "../src/server/server";
import type { SessionUpdate, Update } from "../src/shared/protocol";

type Answer = (params: Record<string, unknown>) => unknown;

export class FakeServer {
  readonly updates = new vscode.EventEmitter<SessionUpdate>();
  readonly states = new vscode.EventEmitter<ServerState>();
  readonly onUpdate = this.updates.event;
  readonly onState = this.states.event;
  readonly asked: { method: string; params: Record<string, unknown> }[] = [];
  readonly logged: string[] = [];
  readonly log = { warn: (text: string) => this.logged.push(text), debug: (text: string) => this.logged.push(text) };
  readonly answers: Record<string, Answer> = {
    "airlock/session/new": () => ({ sessionId: "new", model: "m", commands: [] }),
    "airlock/session/load": ({ sessionId }) => ({ sessionId, model: "m", commands: [] }),
    "airlock/session/close": () => ({}),
    "airlock/session/prompt": ({ sessionId }) => ({ sessionId, turnId: "turn" }),
    "airlock/changes/list": () => ({ changes: [], ignored: 0, remarks: [] }),
  };

  get asServer(): Server {
    return this as unknown as Server;
  }

  async request(method: string, params: Record<string, unknown>): Promise<unknown> {
    this.asked.push({ method, params });
    await Promise.resolve();
    return this.answers[method]?.(params);
  }

  notify(method: string, params: Record<string, unknown>): Promise<void> {
    this.asked.push({ method, params });
    return Promise.resolve();
  }

  tell(sessionId: string, update: Update): void {
    this.updates.fire({ sessionId, seq: 0, update });
  }

  /** What was asked of it by this method. */
  of(method: string): Record<string, unknown>[] {
    return this.asked.filter((one) => one.method === method).map(({ params }) => params);
  }
}

/** VS Code's store of small things. */
export function memory(kept: Record<string, unknown> = {}): vscode.Memento {
  const memento = {
    get: (key: string) => kept[key],
    update: (key: string, value: unknown) => {
      kept[key] = value;
      return Promise.resolve();
    },
    keys: () => Object.keys(kept),
  };
  return memento as vscode.Memento;
}
