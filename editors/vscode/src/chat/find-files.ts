/** Files of the workspace whose path has the typed letters in it, the likeliest first. */

import * as vscode from "vscode";
import { rank } from "../shared/rank-files";

const FOUND_MAX = 400;
const SHOWN_MAX = 20;

export async function findFiles(folder: vscode.WorkspaceFolder, query: string): Promise<string[]> {
  // What means something in a glob means nothing in a name.
  const letters = query.replace(/[^\p{L}\p{N}._/-]/gu, "?");
  const glob = letters.includes("/") ? `**/${letters.split("/").join("*/")}*` : `**/*${letters}*`;
  const pattern = new vscode.RelativePattern(folder, letters === "" ? "**/*" : glob);
  const found = await vscode.workspace.findFiles(pattern, undefined, FOUND_MAX);
  const paths = found.map((uri) => uri.path.slice(folder.uri.path.length + 1));
  return rank(paths, query).slice(0, SHOWN_MAX);
}
