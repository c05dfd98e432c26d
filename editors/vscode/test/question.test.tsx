// @vitest-environment jsdom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { emptyChat, type Question } from "../src/shared/chat";

const posted: unknown[] = [];
vi.stubGlobal("acquireVsCodeApi", () => ({ postMessage: (message: unknown) => posted.push(message), getState: () => undefined, setState: () => undefined }));
const { App } = await import("../src/webview/app");
const { UNREAD_MS } = await import("../src/webview/permission-dialog");

const options = [
  { id: "go", label: "Continue", kind: "allow_once" },
  { id: "stop", label: "Stop", kind: "reject" },
];

const root = document.body.appendChild(document.createElement("div"));

async function show(...questions: Question[]): Promise<void> {
  const chat = { ...emptyChat({ kind: "running" }), sessionId: "s", turn: {}, questions };
  await act(() => render(<App chat={chat} settings={{ sendWith: "enter" }} attachments={[]} />, root));
}

function question(id: string): Question {
  return { id, title: "Go on?", detail: "$ ls", options };
}

const input = () => root.querySelector("textarea");
const button = (label: string) => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === label);
const answers = () => posted.filter((message) => (message as { type: string }).type === "answer");
const pass = (ms: number) => act(() => void vi.advanceTimersByTime(ms));
const escape = (target: Element | null | undefined) =>
  act(() => void target?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true })));

beforeEach(async () => {
  vi.useFakeTimers();
  await act(() => render(null, root));
  posted.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

test("a question leaves the keyboard where it is", async () => {
  await show();
  input()?.focus();
  await show(question("one"));
  await pass(2 * UNREAD_MS);
  expect(document.activeElement).toBe(input());
  await escape(input());
  expect(answers()).toEqual([]);
  // As when the user types in an editor: nothing of the page has the keyboard.
  input()?.blur();
  await show(question("two"));
  await pass(2 * UNREAD_MS);
  expect(document.activeElement).toBe(document.body);
});

test("no key and no click answers a question that nobody can have read", async () => {
  await show(question("one"));
  await pass(UNREAD_MS - 1);
  button("Continue")?.click();
  await escape(root.querySelector(".permission"));
  expect(answers()).toEqual([]);
  await pass(1);
  button("Continue")?.click();
  expect(answers()).toEqual([{ type: "answer", question: "one", option: "go" }]);
  // The next one stands in the same place, and is another question.
  await show(question("two"));
  button("Continue")?.click();
  await escape(root.querySelector(".permission"));
  expect(answers()).toHaveLength(1);
  await pass(UNREAD_MS);
  await escape(button("Stop"));
  expect(answers().at(-1)).toEqual({ type: "answer", question: "two", option: "stop" });
});

test("who was in the question goes on in the input, and a window that is elsewhere stays there", async () => {
  await show(question("one"));
  await pass(UNREAD_MS);
  button("Stop")?.focus();
  await show();
  expect(document.activeElement).toBe(input());
  await show(question("two"));
  await pass(UNREAD_MS);
  button("Stop")?.focus();
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  const focus = vi.spyOn(HTMLElement.prototype, "focus");
  await show();
  expect(focus).not.toHaveBeenCalled();
});
