/**
 * Text that somebody else wrote, made safe to read: escape sequences are taken out, and characters that hide, or turn
 * the reading direction, are shown as what they are.
 */

// The sequences that terminals obey: CSI, OSC (ended by BEL or ST), the other strings, and the short ones.
// eslint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;

// Everything that Unicode calls a control or a format character, but newline, tab, and the joiner of emoji.
const HIDDEN = /(?![\n\t\u200d])(?:[\p{Cc}\p{Cf}\u115f\u1160\u2028\u2029\u3164\uffa0]|\u17b4|\u17b5)/gu;

export function neutral(text: string): string {
  return text
    .replace(ESCAPES, "")
    .replace(/\r\n/g, "\n")
    .replace(HIDDEN, named);
}

/** A name is one line, whatever is in it. */
export function neutralName(name: string): string {
  return neutral(name).replace(/[\n\t]/g, named);
}

/** For VS Code's own messages, which make links of `[words](target)`, and a target may be a command. */
export function neutralMessage(text: string): string {
  return neutral(text).replaceAll("](", "] (");
}

/** What a terminal would show of output: a line that was written over and over is its last version. */
export function neutralOutput(output: string): string {
  return neutral(output.replace(/\r\n/g, "\n").replace(/^[^\n]*\r(?=[^\n])/gm, ""));
}

function named(letter: string): string {
  return `⟨U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
