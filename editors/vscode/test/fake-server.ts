/** A server that a test answers for. */

import * as vscode from "vscode";
import type { Server, ServerState } from "../src/server/server";
import type { Change, ChangeList, Hunk, Reviewed, SessionUpdate, Update } from "../src/shared/protocol";

type Answer = (params: Record<string, unknown>) => unknown;

export class FakeServer {
  readonly updates = new vscode.EventEmitter<SessionUpdate>();
  readonly states = new vscode.EventEmitter<ServerState>();
  readonly onUpdate = this.updates.event;
  readonly onState = this.states.event;
  readonly asked: { method: string; params: Record<string, unknown> }[] = [];
  readonly logged: string[] = [];
  readonly log = { warn: (text: string) => this.logged.push(text), debug: (text: string) => this.logged.push(text) };
  /** What waits for review. */
  list: ChangeList = { digest: "nothing", changes: [], ignored: 0, remarks: [] };
  readonly answers: Record<string, Answer> = {
    "airlock/session/new": () => ({ sessionId: "new", model: "m", commands: [] }),
    "airlock/session/load": ({ sessionId }) => ({ sessionId, model: "m", commands: [] }),
    "airlock/session/close": () => ({}),
    "airlock/session/prompt": ({ sessionId }) => ({ sessionId, turnId: "turn" }),
    "airlock/changes/list": () => this.list,
    "airlock/changes/accept": (params) => this.review(params),
    "airlock/changes/reject": (params) => this.review(params),
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

  /** What waits for review from now on. */
  show(...changes: Change[]): void {
    this.list = { digest: changes.map(({ digest }) => digest).join(), changes, ignored: 0, remarks: [] };
  }

  /** As strict as the real one: only what the client says that it displays is decided. */
  private review({ paths, hunks, list, shown }: Wanted): Reviewed {
    const why = "it is not what you were shown";
    const of = (path: string, change: Change) => change.path === path || change.path.startsWith(`${path}/`);
    const everything = paths === undefined && hunks === undefined;
    const named = this.list.changes.filter((change) => everything || paths?.some((path) => of(path, change)));
    const isShown = ({ path, digest }: Change) => (everything ? list === this.list.digest : shown?.[path] === digest);
    const refused = named.filter((change) => !isShown(change));
    const known = (id: string) => this.list.changes.find((change) => change.hunks.some((hunk) => idsOf(hunk).includes(id)));
    const unknown = (hunks ?? []).filter((id) => known(id) === undefined);
    const byHunk = (hunks ?? []).flatMap((id) => known(id)?.path ?? []);
    return {
      done: [...new Set([...named.filter((change) => !refused.includes(change)).map(({ path }) => path), ...byHunk])],
      failed: [...refused.map(({ path }) => path), ...unknown].map((path) => ({ path, why })),
    };
  }

  /** What was asked of it by this method. */
  of(method: string): Record<string, unknown>[] {
    return this.asked.filter((one) => one.method === method).map(({ params }) => params);
  }
}

interface Wanted {
  paths?: string[];
  hunks?: string[];
  list?: string;
  shown?: Record<string, string>;
}

function idsOf({ id, conflict }: Hunk): string[] {
  return conflict === undefined ? [id] : [id, conflict.theirs, conflict.both];
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
