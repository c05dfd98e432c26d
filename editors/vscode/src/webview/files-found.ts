/** Asks the extension for files; only the answer to the last question counts. */

import { post } from "./vscode-api";

let ticket = 0;
let waiting: ((files: string[]) => void) | undefined;

export const FilesFound = {
  ask(query: string): Promise<string[]> {
    ticket += 1;
    post({ type: "findFiles", ticket, query });
    return new Promise((resolve) => {
      waiting = resolve;
    });
  },
  take(answered: number, files: string[]): void {
    if (answered === ticket) waiting?.(files);
  },
};
