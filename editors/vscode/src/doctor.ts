/** `Airlock: Doctor`: what is there, what is missing and how to get it, as a document. */

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { storedKey } from "./server/api-key";
import { findServer } from "./server/binary";
import { serverPath, serverVariables } from "./settings";
import type { Connection } from "./shared/chat";

/** It starts a sandbox to prove what it says. */
const TIME_MAX_MS = 90_000;

export async function doctor(context: vscode.ExtensionContext, reports: Reports, connection: Connection): Promise<void> {
  const lines = [...editor(connection)];
  if (!vscode.workspace.isTrusted) {
    lines.push("The workspace is not trusted, so nothing was started. Trust it to see more.");
  } else {
    const report = vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Airlock looks at your system" }, () => ask(context));
    lines.push(await report);
  }
  reports.show(lines.join("\n"));
}

const SCHEME = "airlock-doctor";
/** By its name it has a language, and by that its lines are wrapped: see package.json. */
const REPORT = vscode.Uri.from({ scheme: SCHEME, path: "/Airlock Doctor" });

/** What the doctor said last: a document that nobody is asked to save. */
export class Reports implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private text = "";
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  provideTextDocumentContent(): string {
    return this.text;
  }

  show(text: string): void {
    this.text = text;
    this.changed.fire(REPORT);
    void vscode.window.showTextDocument(REPORT, { preview: true });
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }
}

function editor(connection: Connection): string[] {
  const states: Record<Connection["kind"], string> = {
    restricted: "off, for the workspace is not trusted",
    no_folder: "off, for no folder is open",
    starting: "starting",
    running: "running",
    restarting: "starting again",
    failed: "not running",
  };
  return [
    `VS Code ${vscode.version}`,
    `Server: ${states[connection.kind]}${connection.kind === "failed" ? `. ${connection.reason}` : ""}`,
  ];
}

async function ask(context: vscode.ExtensionContext): Promise<string> {
  let program: string;
  try {
    program = findServer({ told: serverPath(), extensionFolder: context.extensionPath, path: process.env["PATH"] ?? "" });
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
  const key = await storedKey(context);
  const env = { ...process.env, ...serverVariables(), ...(key === undefined ? {} : { ANTHROPIC_API_KEY: key }) };
  return await new Promise((resolve) => {
    execFile(program, ["doctor"], { cwd: homedir(), env, timeout: TIME_MAX_MS }, (error, stdout, stderr) => {
      const said = [stdout, stderr].map((text) => text.trim()).filter(Boolean).join("\n");
      resolve(said === "" && error !== null ? `${program} doctor failed: ${error.message}` : `Program: ${program}\n${said}`);
    });
  });
}
