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
  /** The question does not matter any more: a list that opens later would take the keys that are pressed. */
  forget(): void {
    ticket += 1;
    waiting = undefined;
  },
  take(answered: number, files: string[]): void {
    if (answered !== ticket) return;
    waiting?.(files);
    waiting = undefined;
  },
};
