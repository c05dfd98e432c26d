/** Starts the server's process, and remembers how it ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { homedir } from "node:os";

/** Enough for the last words of a program. */
const LAST_WORDS_CHARS = 2000;

/** It ends its sandboxes first. */
const END_MAX_MS = 10_000;

export class ServerProcess {
  private lastWords = "";
  private ending = "";
  private readonly gone: Promise<void>;

  private constructor(readonly child: ChildProcess) {
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (text: string) => {
      this.lastWords = (this.lastWords + text).slice(-LAST_WORDS_CHARS);
    });
    this.gone = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.ending = signal === null ? `It ended with the exit code ${code}.` : `It was ended by ${signal}.`;
        resolve();
      });
    });
  }

  /** Resolves when the process runs, rejects with the reason when it cannot. */
  static start(program: string, environment: NodeJS.ProcessEnv): Promise<ServerProcess> {
    // Not in the workspace, where a program may look for more than it should.
    const child = spawn(program, ["lsp"], { cwd: homedir(), env: environment, stdio: "pipe" });
    const started = new ServerProcess(child);
    return new Promise((resolve, reject) => {
      child.once("spawn", () => resolve(started));
      child.once("error", (error) => reject(new Error(`${program} cannot be started: ${error.message}`)));
    });
  }

  async goneWithin(ms: number): Promise<boolean> {
    return await new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), ms);
      void this.gone.then(() => {
        clearTimeout(late);
        resolve(true);
      });
    });
  }

  /** Tells it to end, and makes it when it does not. */
  async end(): Promise<void> {
    this.child.stdin?.end();
    if (!(await this.goneWithin(END_MAX_MS))) this.kill();
  }

  kill(): void {
    this.child.kill();
  }

  /** Why it is gone, as far as it is known. */
  get why(): string {
    const words = this.lastWords.trim().split("\n").slice(-3).join("\n");
    return [this.ending, words].filter((part) => part !== "").join(" ");
  }
}
