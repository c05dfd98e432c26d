/** The chat's page: takes what happens, and shows it once a frame. */

import "@vscode/codicons/dist/codicon.css";
import "./chat.css";
import { render } from "preact";
import { type Chat, emptyChat } from "../shared/chat";
import type { Attachment, ChatSettings } from "../shared/messages";
import { reduce } from "../shared/reduce";
import { App } from "./app";
import { FilesFound } from "./files-found";
import { Focus } from "./focus";
import { onMessage, post } from "./vscode-api";

interface Shown {
  chat: Chat;
  settings: ChatSettings;
  attachments: Attachment[];
}

let shown: Shown = { chat: emptyChat({ kind: "starting" }), settings: { sendWith: "enter" }, attachments: [] };
let isScheduled = false;
let cost = 0;

function show(change: Partial<Shown>): void {
  shown = { ...shown, ...change };
  if (isScheduled) return;
  isScheduled = true;
  // A long answer takes longer to lay out than a frame lasts: then show it less often, so that typing stays quick.
  setTimeout(() => requestAnimationFrame(draw), cost > 12 ? Math.min(300, cost * 2) : 0);
}

function draw(): void {
  isScheduled = false;
  const since = performance.now();
  const root = document.getElementById("root");
  if (root !== null) render(<App {...shown} />, root);
  cost = performance.now() - since;
}

onMessage((message) => {
  switch (message.type) {
    case "state":
      return show({ chat: message.chat, settings: message.settings, attachments: message.attachments });
    case "events":
      return show({ chat: message.events.reduce(reduce, shown.chat) });
    case "settings":
      return show({ settings: message.settings });
    case "attachments":
      return show({ attachments: message.attachments });
    case "files":
      return FilesFound.take(message.ticket, message.files);
    case "focus":
      return Focus.request(message.text);
  }
});

// Escape stops the turn, unless it meant a list or a question that is open.
document.addEventListener("keydown", (event) => {
  const { turn, questions } = shown.chat;
  if (event.key === "Escape" && !event.defaultPrevented && turn !== undefined && questions.length === 0) post({ type: "stop" });
});

draw();
post({ type: "ready" });
