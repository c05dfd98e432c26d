/** Which `airlock` is started: the one that the user names, the one in this extension, or the one on the PATH. */

import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

export interface Places {
  /** The setting `airlock.server.path`; empty when not set. */
  told: string;
  extensionFolder: string;
  path: string;
  isProgram?: (file: string) => boolean;
}

export class NoServer extends Error {}

export function findServer({ told, extensionFolder, path, isProgram = isExecutable }: Places): string {
  if (told !== "") {
    const file = told.startsWith("~/") ? join(homedir(), told.slice(2)) : told;
    if (!isAbsolute(file)) throw new NoServer(`The setting "airlock.server.path" must be a whole path, and "${told}" is not.`);
    if (!isProgram(file)) throw new NoServer(`The setting "airlock.server.path" names ${file}, which is no program. Correct the setting, or clear it to use the server that comes with the extension.`);
    return file;
  }
  const bundled = join(extensionFolder, "server", "airlock");
  // An empty entry would mean the current folder, which may be a workspace.
  const onPath = path.split(delimiter).filter(isAbsolute).map((folder) => join(folder, "airlock"));
  const found = [bundled, ...onPath].find(isProgram);
  if (found === undefined) {
    throw new NoServer('This extension comes without a server for your system. Install the "airlock" program, and name it in the setting "airlock.server.path".');
  }
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
