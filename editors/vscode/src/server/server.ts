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

type Ask = (request: PermissionRequest, token: vscode.CancellationToken) => Promise<string | null>;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private process: ServerProcess | undefined;
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
    return this.client?.state === State.Running;
  }

  /** Starts it; in a workspace that is not trusted, nothing is started, whoever asks. */
  async start(): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    this.states.fire({ kind: "starting" });
    const client = this.makeClient();
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      if (this.client === client) this.fail(error);
    }
  }

  async restart(): Promise<void> {
    this.restarts.forget();
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client === undefined) return;
    // It may have failed already, and then there is nothing to stop.
    await client.dispose().catch((error: unknown) => this.log.debug(String(error)));
  }

  async request<T>(method: string, params: object): Promise<T> {
    if (this.client === undefined) throw new Error(vscode.workspace.isTrusted ? "Airlock's server is not running." : "Airlock is off until you trust this workspace.");
    return await this.client.sendRequest<T>(method, params);
  }

  async notify(method: string, params: object): Promise<void> {
    await this.client?.sendNotification(method, params);
  }

  /** Diagnostics and ranges in the words of the protocol. */
  get converter(): LanguageClient["code2ProtocolConverter"] | undefined {
    return this.client?.code2ProtocolConverter;
  }

  dispose(): void {
    void this.stop();
    this.states.dispose();
    this.updates.dispose();
  }

  private makeClient(): LanguageClient {
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
      middleware: {
        executeCommand: (command, args, next) => this.runCommand(command, args, next) as unknown,
        // The status bar and the chat show what is in work.
        handleWorkDoneProgress: () => undefined,
      },
    };
    const client = new QuietClient("airlock", "Airlock", async () => (await this.launch()).child, options);
    client.registerFeature(knowsTheExtension);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running && this.client === client) this.states.fire({ kind: "running" });
    });
    client.onNotification("airlock/session/update", (params: SessionUpdate) => this.updates.fire(params));
    client.onRequest("airlock/permission", async (params: PermissionRequest, token: vscode.CancellationToken) => {
      return { optionId: await this.ask(params, token) };
    });
    return client;
  }

  private async launch(): Promise<ServerProcess> {
    const program = findServer({
      told: serverPath(),
      extensionFolder: this.context.extensionPath,
      path: process.env["PATH"] ?? "",
    });
    const key = await storedKey(this.context);
    const environment = { ...process.env, ...serverVariables(), ...(key === undefined ? {} : { ANTHROPIC_API_KEY: key }) };
    this.log.info(`starting ${program}`);
    this.process = await ServerProcess.start(program, environment);
    return this.process;
  }

  private async closed(): Promise<{ action: CloseAction; handled: true }> {
    // Its pipes close a moment before it is known how it ended.
    await Promise.race([this.process?.gone, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MAX_MS))]);
    const why = this.process?.why ?? "";
    this.log.warn(`the server is gone. ${why}`);
    if (this.client !== undefined && this.restarts.allow(Date.now())) {
      this.states.fire({ kind: "restarting" });
      return { action: CloseAction.Restart, handled: true };
    }
    if (this.client !== undefined) this.fail(`The server ended several times in a row. ${why}`);
    return { action: CloseAction.DoNotRestart, handled: true };
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
