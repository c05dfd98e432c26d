/** Opens a file that the agent names, if it is one of the workspace. */

import * as vscode from "vscode";

export async function openFile(folder: vscode.WorkspaceFolder | undefined, place: string): Promise<void> {
  if (folder === undefined) return;
  const [, path = "", line] = /^(.*?)(?::(\d+))?(?:[:-]\d+)?$/.exec(place) ?? [];
  const uri = vscode.Uri.joinPath(folder.uri, path);
  if (!uri.path.startsWith(`${folder.uri.path}/`)) return;
  try {
    const options: vscode.TextDocumentShowOptions = { preview: true };
    if (line !== undefined) {
      const at = Math.max(0, Number(line) - 1);
      options.selection = new vscode.Range(at, 0, at, 0);
    }
    await vscode.window.showTextDocument(uri, options);
  } catch {
    void vscode.window.showInformationMessage(`There is no file ${path} in your workspace. The agent may have it in its changes.`);
  }
}
