import * as vscode from "vscode";
import { expect, test, vi } from "vitest";
import { Attachments } from "../src/chat/attachments";
import { type ChatActions, ChatView } from "../src/chat/chat-view";
import { ChatStore } from "../src/conversation/chat-store";
import { Questions } from "../src/conversation/questions";

const token = { onCancellationRequested: () => ({ dispose: () => undefined }) } as unknown as vscode.CancellationToken;

/** Asks, with the chat in sight or not, and gives what was told and what was run. */
async function ask(visible: boolean, chosen?: string) {
  const store = new ChatStore();
  const chat = new ChatView(vscode.Uri.file("/ext"), store, new Attachments(), {} as ChatActions);
  const webview = { onDidReceiveMessage: () => undefined, asWebviewUri: () => "", cspSource: "" };
  if (visible) chat.resolveWebviewView({ visible, webview, onDidDispose: () => undefined } as unknown as vscode.WebviewView);
  const told = vi.spyOn(vscode.window, "showWarningMessage").mockReset().mockResolvedValue(chosen as never);
  const ran = vi.spyOn(vscode.commands, "executeCommand").mockReset().mockResolvedValue(undefined);
  const questions = new Questions(store, (title) => void chat.announce(title));
  void questions.ask({ sessionId: "s", toolCallId: "", title: "Go [on](command:quit)?", detail: "", options: [] }, token);
  await vi.waitFor(() => expect(store.chat.questions).toHaveLength(1));
  await Promise.resolve();
  return { told: told.mock.calls.map(([words]) => words), ran: ran.mock.calls.map(([command]) => command) };
}

test("a question neither moves the focus nor brings the chat into sight", async () => {
  expect(await ask(true)).toEqual({ told: [], ran: [] });
  expect(await ask(false)).toEqual({ told: ["Airlock asks: Go [on] (command:quit)?"], ran: [] });
  expect((await ask(false, "Show Question")).ran).toEqual(["airlock.chat.focus"]);
});
