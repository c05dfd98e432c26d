/** Completion of slash commands and `@files` in the input. Pure. */

import type { SlashCommand } from "./protocol";

export interface Token {
  kind: "command" | "file";
  /** Where it begins and ends in the text, its mark included. */
  start: number;
  end: number;
  /** What stands behind the mark so far. */
  typed: string;
}

export interface Completion {
  label: string;
  detail: string;
  insert: string;
  start: number;
  end: number;
  /** What is typed is all of it. */
  isWhole: boolean;
}

/** What is being typed at the cursor: a command at the very beginning, or a file anywhere. */
export function tokenAt(text: string, cursor: number): Token | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([\w:-]*)$/.exec(before);
  if (command) return { kind: "command", start: 0, end: cursor, typed: command[1] ?? "" };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return undefined;
  const typed = file[1] ?? "";
  return { kind: "file", start: cursor - typed.length - 1, end: cursor, typed };
}

export function complete(token: Token | undefined, commands: SlashCommand[], files: string[] = []): Completion[] {
  if (token === undefined) return [];
  const { start, end, typed } = token;
  if (token.kind === "file") return files.map((file) => ({ label: file, detail: "", insert: `@${file} `, start, end, isWhole: file === typed }));
  const wanted = typed.toLowerCase();
  const fits = (command: SlashCommand) => command.name.toLowerCase().includes(wanted);
  const begins = (command: SlashCommand) => Number(!command.name.toLowerCase().startsWith(wanted));
  return commands
    .filter(fits)
    .sort((a, b) => begins(a) - begins(b))
    .map(({ name, description, hint }) => ({
      label: hint === undefined ? `/${name}` : `/${name} ${hint}`,
      detail: description,
      insert: hint === undefined ? `/${name}` : `/${name} `,
      start,
      end,
      isWhole: name === typed,
    }));
}

/** The text with a completion in it, and where the cursor goes. */
export function insertion(text: string, { insert, start, end }: Completion): { text: string; cursor: number } {
  return { text: text.slice(0, start) + insert + text.slice(end), cursor: start + insert.length };
}
