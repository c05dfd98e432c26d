import { expect, test, vi } from "vitest";

const posted: unknown[] = [];
vi.stubGlobal("acquireVsCodeApi", () => ({ postMessage: (message: unknown) => posted.push(message), getState: () => undefined, setState: () => undefined }));
const { FilesFound } = await import("../src/webview/files-found");

/** Asks, and gives the ticket that the extension answers to. */
function ask(query: string) {
  const found = vi.fn();
  void FilesFound.ask(query).then(found);
  return { found, ticket: (posted.at(-1) as { ticket: number }).ticket };
}

test("only the answer to the last question counts", async () => {
  const first = ask("m");
  const second = ask("ma");
  FilesFound.take(first.ticket, ["m"]);
  FilesFound.take(second.ticket, ["ma"]);
  await Promise.resolve();
  expect(first.found).not.toHaveBeenCalled();
  expect(second.found).toHaveBeenCalledWith(["ma"]);
});

test("a list that comes too late opens nothing", async () => {
  const late = ask("ma");
  FilesFound.forget();
  FilesFound.take(late.ticket, ["main.rs"]);
  await Promise.resolve();
  expect(late.found).not.toHaveBeenCalled();
});
