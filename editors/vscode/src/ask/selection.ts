/** The command palette's way to ask about what is selected, or about the open file. */

import * as vscode from "vscode";
import { type Attachments, placeLabel } from "../chat/attachments";
import type { ChatView } from "../chat/chat-view";
import type { PromptContext } from "../shared/protocol";

export async function askAboutSelection(chat: ChatView, attachments: Attachments): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    await chat.focus();
    return;
  }
  const { document, selection } = editor;
  if (document.uri.scheme !== "file" && document.uri.scheme !== "untitled") {
    void vscode.window.showInformationMessage("Only files and new documents can be asked about.");
    return;
  }
  const context: PromptContext = { uri: document.uri.toString() };
  if (!selection.isEmpty) {
    const { start, end } = selection;
    context.range = { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
  }
  attachments.add(placeLabel(document.uri, selection.isEmpty ? undefined : selection), context);
  await chat.focus();
}
