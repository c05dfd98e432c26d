/** The language server: starts it, talks to it, and starts it again when it fails. */

import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  type ExecuteCommandMiddleware,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  State,
  type StaticFeature,
} from "vscode-languageclient/node";
import { serverPath, serverVariables } from "../settings";
import type { PermissionRequest, SessionUpdate } from "../shared/protocol";
import { storedKey } from "./api-key";
import { findServer } from "./binary";
import { Restarts } from "./restarts";
import { ServerProcess } from "./server-process";

export type ServerState = { kind: "starting" } | { kind: "running" } | { kind: "restarting" } | { kind: "failed"; reason: string };

const LAST_WORDS_MAX_MS = 500;
const START_MAX_MS = 60_000;

/** From one start of the server to its end. Its client is not used for another one. */
interface Life {
  client: LanguageClient;
  process?: ServerProcess;
}

type Ask = (request: PermissionRequest, token: vscode.CancellationToken) => Promise<string | null>;

export class Server implements vscode.Disposable {
  private life: Life | undefined;
  private isWanted = false;
  private last: Promise<void> = Promise.resolve();
  private readonly restarts = new Restarts();
  private readonly states = new vscode.EventEmitter<ServerState>();
  private readonly updates = new vscode.EventEmitter<SessionUpdate>();
  readonly onState = this.states.event;
  readonly onUpdate = this.updates.event;
  /** What the command of a code action does instead of going to the server as it is. */
  runCommand: NonNullable<ExecuteCommandMiddleware["executeCommand"]> = (command, args, next) => next(command, args) as unknown;
  /** Asks the user. */
  ask: Ask = () => Promise.resolve(null);

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
  ) {}

  get isRunning(): boolean {
    return this.life?.client.state === State.Running;
  }

  /** Starts it, unless it is there already. */
  async start(): Promise<void> {
    this.isWanted = true;
    await this.inOrder(() => this.begin("starting"));
  }

  async restart(): Promise<void> {
    this.isWanted = true;
    this.restarts.forget();
    this.abandonStart();
    await this.inOrder(async () => {
      // Ending may take a while, and nothing can be asked of it meanwhile.
      if (this.life !== undefined) this.states.fire({ kind: "starting" });
      await this.end();
      await this.begin("starting");
    });
  }

  async stop(): Promise<void> {
    this.isWanted = false;
    this.abandonStart();
    await this.inOrder(() => this.end());
  }

  async request<T>(method: string, params: object): Promise<T> {
    if (this.life === undefined) throw new Error(vscode.workspace.isTrusted ? "Airlock's server is not running." : "Airlock is off until you trust this workspace.");
    return await this.life.client.sendRequest<T>(method, params);
  }

  async notify(method: string, params: object): Promise<void> {
    await this.life?.client.sendNotification(method, params);
  }

  /** Diagnostics and ranges in the words of the protocol. */
  get converter(): LanguageClient["code2ProtocolConverter"] | undefined {
    return this.life?.client.code2ProtocolConverter;
  }

  dispose(): void {
    void this.stop();
    this.states.dispose();
    this.updates.dispose();
  }

  /** Starting and ending take their time: one after the other, so that no server is left behind. */
  private inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.last.then(work);
    this.last = done.catch((error: unknown) => this.log.error(String(error)));
    return done;
  }

  /** In a workspace that is not trusted, nothing is started, whoever asks. */
  private async begin(kind: "starting" | "restarting"): Promise<void> {
    if (!vscode.workspace.isTrusted || !this.isWanted || this.life !== undefined) return;
    this.states.fire({ kind });
    const life = this.makeLife();
    this.life = life;
    try {
      await inTime(life.client.start());
      if (this.life === life) this.states.fire({ kind: "running" });
    } catch (error) {
      await this.cannotStart(life, error);
    }
  }

  private async cannotStart(life: Life, error: unknown): Promise<void> {
    // One that ended is told of where its connection is closed.
    if (await life.process?.goneWithin(LAST_WORDS_MAX_MS)) return;
    if (this.life === life) {
      this.life = undefined;
      this.fail(error);
    }
    await life.process?.end();
  }

  private async end(): Promise<void> {
    const life = this.life;
    this.life = undefined;
    if (life === undefined) return;
    // It may have failed already, and then there is nothing to stop.
    await life.client.dispose().catch((error: unknown) => this.log.debug(String(error)));
    await life.process?.end();
  }

  /** A start that hangs would hold up whoever comes after it. */
  private abandonStart(): void {
    const life = this.life;
    if (life?.client.state !== State.Starting) return;
    this.life = undefined;
    life.process?.kill();
  }

  private makeLife(): Life {
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(life),
      },
      middleware: {
        executeCommand: (command, args, next) => this.runCommand(command, args, next) as unknown,
        // The status bar and the chat show what is in work.
        handleWorkDoneProgress: () => undefined,
      },
    };
    const client = new QuietClient("airlock", "Airlock", () => this.launch(life), options);
    client.registerFeature(knowsTheExtension);
    client.onNotification("airlock/session/update", (params: SessionUpdate) => this.updates.fire(params));
    client.onRequest("airlock/permission", async (params: PermissionRequest, token: vscode.CancellationToken) => {
      return { optionId: await this.ask(params, token) };
    });
    const life: Life = { client };
    return life;
  }

  private async launch(life: Life): Promise<ServerProcess["child"]> {
    const program = findServer({
      told: serverPath(),
      extensionFolder: this.context.extensionPath,
      path: process.env["PATH"] ?? "",
    });
    const key = await storedKey(this.context);
    const environment = { ...process.env, ...serverVariables(), ...(key === undefined ? {} : { ANTHROPIC_API_KEY: key }) };
    this.log.info(`starting ${program}`);
    const started = await ServerProcess.start(program, environment);
    life.process = started;
    // It was abandoned meanwhile, when there was no process to end.
    if (this.life !== life) started.kill();
    return started.child;
  }

  /** We start it again ourselves, in order with whatever else the user wants of it. */
  private async closed(life: Life): Promise<{ action: CloseAction; handled: true; message: string }> {
    // Its pipes close a moment before it is known how it ended.
    await life.process?.goneWithin(LAST_WORDS_MAX_MS);
    const why = life.process?.why ?? "";
    if (this.life === life) {
      this.life = undefined;
      if (this.restarts.allow(Date.now())) {
        this.states.fire({ kind: "restarting" });
        // Later, because the client takes down what it has registered when this returns.
        setImmediate(() => void this.inOrder(() => this.begin("restarting")));
      } else {
        this.fail(`The server ended several times in a row. ${why}`);
      }
    }
    return { action: CloseAction.DoNotRestart, handled: true, message: `the server is gone. ${why}` };
  }

  private fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.log.error(reason);
    this.states.fire({ kind: "failed", reason });
  }
}

/** Logs what goes wrong between it and the server, and leaves it to us to tell the user. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function inTime(start: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`The server does not answer, ${START_MAX_MS / 1000} seconds after its start.`)), START_MAX_MS);
    start.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

/** Says in `initialize` that we speak the extension and answer its questions. */
const knowsTheExtension: StaticFeature = {
  fillClientCapabilities(capabilities) {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, airlock: { permission: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};
