/** The API key, kept where VS Code keeps secrets. */

import * as vscode from "vscode";

const NAME = "airlock.apiKey";

export async function storedKey(context: vscode.ExtensionContext): Promise<string | undefined> {
  const key = await context.secrets.get(NAME);
  return key === "" ? undefined : key;
}

/** Asks for a key; `true` when it changed. */
export async function setKey(context: vscode.ExtensionContext): Promise<boolean> {
  const key = await vscode.window.showInputBox({
    title: "Airlock: API Key",
    prompt: "The key for the Claude API. It is kept by VS Code, and given to Airlock's server only. Leave it empty to forget it.",
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  if (key.trim() === "") await context.secrets.delete(NAME);
  else await context.secrets.store(NAME, key.trim());
  return true;
}
