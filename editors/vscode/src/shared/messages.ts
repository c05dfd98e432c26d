/** What the extension and the chat's page say to each other. */

import type { Chat, ChatEvent } from "./chat";

export interface ChatSettings {
  sendWith: "enter" | "ctrlEnter";
}

/** A thing that the next prompt is about, shown above the input. */
export interface Attachment {
  id: string;
  label: string;
}

export type ToPage =
  | { type: "state"; chat: Chat; settings: ChatSettings; attachments: Attachment[] }
  | { type: "events"; events: ChatEvent[] }
  | { type: "settings"; settings: ChatSettings }
  | { type: "attachments"; attachments: Attachment[] }
  | { type: "files"; ticket: number; files: string[] }
  | { type: "focus"; text?: string };

export type FromPage =
  | { type: "ready" }
  | { type: "prompt"; text: string }
  | { type: "takeBack"; id: string }
  | { type: "stop" }
  | { type: "answer"; question: string; option: string }
  | { type: "detach"; id: string }
  | { type: "findFiles"; ticket: number; query: string }
  | { type: "openFile"; path: string }
  | { type: "copy"; text: string }
  | { type: "run"; command: PageCommand };

/** The commands that the page may run: none else is. */
export const PAGE_COMMANDS = [
  "airlock.review",
  "airlock.acceptAll",
  "airlock.doctor",
  "airlock.showLog",
  "airlock.restartServer",
  "airlock.openSettings",
  "airlock.manageTrust",
  "airlock.openFolder",
] as const;

export type PageCommand = (typeof PAGE_COMMANDS)[number];
