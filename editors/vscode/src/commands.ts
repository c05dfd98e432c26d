/** The commands of the palette, the menus and the keys. */

import * as vscode from "vscode";
import { askAboutSelection } from "./ask/selection";
import type { Attachments } from "./chat/attachments";
import type { ChatView } from "./chat/chat-view";
import type { ChatStore } from "./conversation/chat-store";
import { type Conversation, reason } from "./conversation/conversation";
import { reopenConversation } from "./conversation/reopen";
import { doctor, Reports } from "./doctor";
import { changeTree, type FileNode, firstFile, type FolderNode, type HunkNode } from "./review/change-tree";
import type { Changes } from "./review/changes";
import { CHANGES_VIEW, type ChangesView } from "./review/changes-view";
import { showDiff } from "./review/diff";
import { acceptAll, decide, type HunkArgument, rejectAll, type SettleArgument, settleHunk } from "./review/verdicts";
import { setKey } from "./server/api-key";
import type { Server } from "./server/server";

export interface Parts {
  context: vscode.ExtensionContext;
  server: Server;
  conversation: Conversation;
  chat: ChatView;
  attachments: Attachments;
  changes: Changes;
  changesView: ChangesView;
  store: ChatStore;
}

type Run = (argument: never) => unknown;

export function registerCommands(parts: Parts): vscode.Disposable {
  const { context, server, conversation, chat, attachments, changes, changesView, store } = parts;
  const reports = new Reports();
  const commands: Record<string, Run> = {
    "airlock.openChat": () => chat.focus(),
    "airlock.newConversation": async () => {
      await conversation.startNew();
      await chat.focus();
    },
    "airlock.reopenConversation": () => reopenConversation(server, conversation),
    "airlock.stop": () => conversation.stop(),
    "airlock.askAboutSelection": () => askAboutSelection(chat, attachments),
    "airlock.review": () => review(parts),
    "airlock.acceptAll": async () => acceptAll(changes, await changesView.shown()),
    "airlock.rejectAll": async () => rejectAll(changes, await changesView.shown()),
    "airlock.acceptChange": (node: FolderNode | FileNode | HunkNode | undefined) => decide(changes, "accept", node),
    "airlock.rejectChange": (node: FolderNode | FileNode | HunkNode | undefined) => decide(changes, "reject", node),
    "airlock.acceptHunk": (hunk: HunkArgument) => decide(changes, "accept", hunk),
    "airlock.rejectHunk": (hunk: HunkArgument) => decide(changes, "reject", hunk),
    "airlock.settleHunk": (settled: SettleArgument) => settleHunk(changes, settled),
    "airlock.showChange": (node: FileNode | HunkNode) => showDiff(changes, node.change, node.kind === "hunk" ? node.hunk : undefined),
    "airlock.showHunk": ({ path, hunkId }: HunkArgument) => {
      const change = changes.byPath(path);
      return change && showDiff(changes, change, change.hunks.find((hunk) => hunk.id === hunkId));
    },
    "airlock.setApiKey": () => setKey(context),
    "airlock.restartServer": () => server.restart(),
    "airlock.showLog": () => server.log.show(),
    "airlock.doctor": () => doctor(context, reports, store.chat.connection),
    "airlock.openSettings": () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:airlock.airlock"),
    "airlock.manageTrust": () => vscode.commands.executeCommand("workbench.trust.manage"),
    "airlock.openFolder": () => vscode.commands.executeCommand("workbench.action.files.openFolder"),
  };
  const registered = Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(name, async (argument: never) => {
      try {
        await run(argument);
      } catch (error) {
        void vscode.window.showErrorMessage(reason(error));
      }
    }),
  );
  return vscode.Disposable.from(reports, ...registered);
}

/** Shows the tree, and the first change beside it. */
async function review({ changes }: Parts): Promise<void> {
  await vscode.commands.executeCommand(`${CHANGES_VIEW}.focus`);
  const first = firstFile(changeTree(changes.all))?.change;
  if (first === undefined) void vscode.window.showInformationMessage("No changes wait for review.");
  else await showDiff(changes, first);
}
