import { setImmediate as soon } from "node:timers/promises";
import * as vscode from "vscode";
import { beforeEach, expect, test, vi } from "vitest";
import { Server, type ServerState } from "../src/server/server";

interface Closed {
  errorHandler: { closed(): Promise<{ action: number }> };
}

/** The language client: starts the process, and runs when the test says how that went. */
const fakes = vi.hoisted(() => {
  const clients: Client[] = [];
  const running = new Set<Process>();
  /** How starting goes; `undefined` leaves it open. */
  const next: { start: () => Promise<void>; launch: () => void } = { start: () => Promise.resolve(), launch: () => undefined };

  class Client {
    state = 1;
    process: Process | undefined;

    constructor(
      _id: string,
      _name: string,
      private readonly serve: () => Promise<Process>,
      readonly options: Closed,
    ) {
      clients.push(this);
    }

    async start(): Promise<void> {
      this.state = 3;
      try {
        this.process = await this.serve();
        await Promise.race([next.start(), this.process.gone.then(() => Promise.reject(new Error("disposed")))]);
        this.state = 2;
      } catch (error) {
        this.state = 4;
        throw error;
      }
    }

    dispose(): Promise<void> {
      if (this.state !== 2) return Promise.reject(new Error("not running"));
      this.state = 1;
      this.process?.leave();
      return Promise.resolve();
    }

    /** As when its process is killed. */
    async crash(): Promise<void> {
      this.process?.leave();
      this.state = 1;
      await this.options.errorHandler.closed();
    }

    registerFeature = () => undefined;
    onNotification = () => undefined;
    onRequest = () => undefined;
  }

  class Process {
    leave = () => undefined as void;
    readonly why = "It was ended by SIGKILL.";
    readonly gone = new Promise<void>((resolve) => {
      this.leave = () => {
        running.delete(this);
        resolve();
      };
    });
    readonly child = this;

    static async start(): Promise<Process> {
      await Promise.resolve();
      next.launch();
      const started = new Process();
      running.add(started);
      return started;
    }

    goneWithin = () => Promise.resolve(!running.has(this));
    kill = () => this.leave();
    end = () => Promise.resolve(this.leave());
  }

  return { clients, running, next, Client, Process };
});

vi.mock("vscode-languageclient/node", () => ({
  LanguageClient: fakes.Client,
  State: { Stopped: 1, Running: 2, Starting: 3, StartFailed: 4 },
  CloseAction: { DoNotRestart: 1, Restart: 2 },
  ErrorAction: { Continue: 1 },
  RevealOutputChannelOn: { Never: 4 },
}));
vi.mock("../src/server/server-process", () => ({ ServerProcess: fakes.Process }));
vi.mock("../src/server/binary", () => ({ findServer: () => "/opt/airlock" }));
vi.mock("../src/server/api-key", () => ({ storedKey: () => Promise.resolve(undefined) }));

function server() {
  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: quiet, debug: quiet } as unknown as vscode.LogOutputChannel;
  const made = new Server({ extensionPath: "/ext" } as vscode.ExtensionContext, log);
  const states: ServerState[] = [];
  made.onState((state) => states.push(state));
  return { server: made, states, kinds: () => states.map(({ kind }) => kind) };
}

beforeEach(() => {
  fakes.clients.length = 0;
  fakes.running.clear();
  fakes.next.start = () => Promise.resolve();
  fakes.next.launch = () => undefined;
});

test("however often it is started and started again, one server runs", async () => {
  const { server: one } = server();
  await Promise.all([one.start(), one.start(), one.restart(), one.start(), one.restart()]);
  expect(fakes.running.size).toBe(1);
  expect(one.isRunning).toBe(true);
  await one.stop();
  expect(fakes.running.size).toBe(0);
});

test("one that is stopped while it starts is gone, and no failure", async () => {
  const { server: one, kinds } = server();
  fakes.next.start = () => new Promise(() => undefined);
  void one.start();
  await soon();
  await one.stop();
  expect(fakes.running.size).toBe(0);
  expect(kinds()).toEqual(["starting"]);
});

test("a start that hangs does not hold up the next one", async () => {
  const { server: one, kinds } = server();
  fakes.next.start = () => new Promise(() => undefined);
  void one.start();
  await soon();
  fakes.next.start = () => Promise.resolve();
  await one.restart();
  expect(fakes.running.size).toBe(1);
  expect(kinds()).toEqual(["starting", "starting", "running"]);
});

test("one that crashes is started again, and not after it was stopped", async () => {
  const { server: one, kinds } = server();
  await one.start();
  await fakes.clients[0]?.crash();
  await vi.waitFor(() => expect(one.isRunning).toBe(true));
  expect(kinds()).toEqual(["starting", "running", "restarting", "restarting", "running"]);
  await fakes.clients[1]?.crash();
  await one.stop();
  await soon();
  await soon();
  expect(fakes.running.size).toBe(0);
});

test("one that cannot be started again says why, and can be tried again", async () => {
  const { server: one, states } = server();
  await one.start();
  fakes.next.launch = () => {
    throw new Error("/opt/airlock cannot be started: ENOENT");
  };
  await fakes.clients[0]?.crash();
  await vi.waitFor(() => expect(states.at(-1)).toEqual({ kind: "failed", reason: "/opt/airlock cannot be started: ENOENT" }));
  fakes.next.launch = () => undefined;
  await one.restart();
  expect(states.at(-1)).toEqual({ kind: "running" });
});

test("one that refuses to begin is ended, and says why", async () => {
  const { server: one, states } = server();
  fakes.next.start = () => Promise.reject(new Error("it speaks another protocol"));
  await one.start();
  expect(states.at(-1)).toEqual({ kind: "failed", reason: "it speaks another protocol" });
  expect(fakes.running.size).toBe(0);
});

test("one that crashes again and again is given up with its last words", async () => {
  const { server: one, states } = server();
  await one.start();
  for (let crash = 0; crash < 5; crash += 1) {
    await vi.waitFor(() => expect(one.isRunning).toBe(true));
    await fakes.clients.at(-1)?.crash();
  }
  expect(states.at(-1)).toEqual({ kind: "failed", reason: "The server ended several times in a row. It was ended by SIGKILL." });
});
