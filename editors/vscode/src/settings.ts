/** The user's settings. All are of the machine or the user: a workspace can set none of them. */

import * as vscode from "vscode";
import type { ChatSettings } from "./shared/messages";

const SECTION = "airlock";

function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration(SECTION).get<T>(name, otherwise);
}

export function serverPath(): string {
  return setting("server.path", "").trim();
}

/** Variables of the server's environment that the user set here. */
export function serverVariables(): Record<string, string> {
  const variables: Record<string, string> = {};
  const model = setting("model", "").trim();
  if (model !== "") variables["MODEL"] = model;
  const log = setting<string>("server.log", "warn");
  if (log !== "warn") variables["AIRLOCK_LOG"] = `airlock=${log}`;
  return variables;
}

export function chatSettings(): ChatSettings {
  return { sendWith: setting<ChatSettings["sendWith"]>("chat.sendWith", "enter") };
}

export function showsLensesInFiles(): boolean {
  return setting("review.lensesInFiles", true);
}

export function onSettingsChange(names: string[], run: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (names.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) run();
  });
}
