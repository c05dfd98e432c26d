/** The status bar: the wall, the model, and whether a turn is in work. */

import * as vscode from "vscode";
import type { ChatStore } from "./conversation/chat-store";
import type { Chat } from "./shared/chat";
import { neutralName } from "./shared/neutral";
import { cost, count, isolation, tokens, totalTokens } from "./shared/words";

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("airlock.status", vscode.StatusBarAlignment.Right, 90);
  private readonly subscription: vscode.Disposable;

  constructor(store: ChatStore) {
    this.item.name = "Airlock";
    this.item.command = "airlock.openChat";
    this.subscription = store.onChange((chat) => this.show(chat));
    this.show(store.chat);
    this.item.show();
  }

  dispose(): void {
    this.subscription.dispose();
    this.item.dispose();
  }

  private show(chat: Chat): void {
    const { icon, text, warns } = statusOf(chat);
    this.item.text = `$(${icon}) ${text}`;
    this.item.tooltip = tooltip(chat);
    this.item.backgroundColor = warns ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.item.accessibilityInformation = { label: `Airlock: ${text}`, role: "button" };
  }
}

interface Status {
  icon: string;
  text: string;
  warns?: boolean;
}

function statusOf(chat: Chat): Status {
  switch (chat.connection.kind) {
    case "restricted":
      return { icon: "shield", text: "Airlock: off until trusted" };
    case "no_folder":
      return { icon: "shield", text: "Airlock: open a folder" };
    case "failed":
      return { icon: "error", text: "Airlock: not running", warns: true };
    case "starting":
    case "restarting":
      return { icon: "loading~spin", text: "Airlock: starting" };
    case "running":
      break;
  }
  if (chat.sessionId === undefined) return { icon: "shield", text: "Airlock" };
  const wall = isolation(chat.sandbox);
  const words = [wall.label, chat.model ?? ""].filter(Boolean).join(" · ");
  if (chat.questions.length > 0) return { icon: "question", text: `${words} · asks you`, warns: true };
  if (chat.turn !== undefined) return { icon: "loading~spin", text: `${words} · ${shorten(chat.turn.doing ?? "thinking")}` };
  return { icon: wall.tone === "bad" ? "warning" : "shield", text: words, warns: wall.tone === "bad" };
}

function tooltip(chat: Chat): vscode.MarkdownString | string {
  if (chat.connection.kind === "failed") return chat.connection.reason;
  const wall = isolation(chat.sandbox);
  const lines = [
    `Sandbox: ${wall.label}. ${wall.detail}`,
    chat.model === undefined ? "" : `Model: ${chat.model}`,
    chat.usage === undefined ? "" : `${tokens(totalTokens(chat.usage))} tokens${chat.usage.costUsd === undefined ? "" : `, ${cost(chat.usage.costUsd)}`}`,
    chat.changes.count === 0 ? "" : `${count(chat.changes.count, "change")} to review`,
  ];
  return lines.filter(Boolean).join("\n");
}

const SHOWN_CHARS = 30;

function shorten(text: string): string {
  const line = text.split("\n")[0] ?? "";
  const short = line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1)}…` : line;
  // What looks like an icon's name would become one.
  return neutralName(short).replaceAll("$(", "$ (");
}
