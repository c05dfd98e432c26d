/** The list of kept conversations, to reopen one. */

import * as vscode from "vscode";
import type { Server } from "../server/server";
import type { KeptSession } from "../shared/protocol";
import { count } from "../shared/words";
import type { Conversation } from "./conversation";

export async function reopenConversation(server: Server, conversation: Conversation): Promise<void> {
  const folder = conversation.folder;
  if (folder === undefined) return;
  const list = await server.request<{ sessions: KeptSession[] }>("airlock/session/list", { folder: folder.uri.toString() });
  const others = list.sessions.filter((session) => session.sessionId !== conversation.sessionId);
  if (others.length === 0) {
    void vscode.window.showInformationMessage("There is no earlier conversation in this folder yet.");
    return;
  }
  const chosen = await vscode.window.showQuickPick(others.map(pick), {
    title: "Airlock: Reopen a Conversation",
    placeHolder: "Search what you asked",
    matchOnDescription: true,
  });
  if (chosen !== undefined) await conversation.reopen(chosen.sessionId);
}

function pick({ sessionId, title, updatedAt, messages }: KeptSession): vscode.QuickPickItem & { sessionId: string } {
  const when = new Date(updatedAt);
  const shown = Number.isNaN(when.getTime()) ? "" : when.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return { sessionId, label: title.trim() === "" ? "Without a title" : title, description: [shown, count(messages, "message")].filter(Boolean).join(" · ") };
}
