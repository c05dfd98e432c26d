/** Puts the parts together when VS Code starts the extension. */

import * as vscode from "vscode";
import { codeActions } from "./ask/code-actions";
import { Attachments } from "./chat/attachments";
import { CHAT_VIEW, ChatView } from "./chat/chat-view";
import { findFiles } from "./chat/find-files";
import { openFile } from "./chat/open-file";
import { registerCommands } from "./commands";
import { ChatStore } from "./conversation/chat-store";
import { Conversation, reason } from "./conversation/conversation";
import { Questions } from "./conversation/questions";
import { Changes } from "./review/changes";
import { ChangesView } from "./review/changes-view";
import { ProposedTexts, SCHEME } from "./review/diff";
import { FileDecorations } from "./review/file-decorations";
import { HunkLenses } from "./review/hunk-lenses";
import { Renewal } from "./server/renewal";
import { Server } from "./server/server";
import { onSettingsChange } from "./settings";
import { StatusBar } from "./status-bar";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Airlock", { log: true });
  const store = new ChatStore();
  server = new Server(context, log);
  const running = server;
  const conversation = new Conversation(running, store, context.workspaceState);
  const attachments = new Attachments();

  const mayRun = () => vscode.workspace.isTrusted && (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
  const fail = (error: unknown) => store.tell({ type: "refused", reason: reason(error) });
  const chat = new ChatView(context.extensionUri, store, attachments, {
    shown: () => {
      if (mayRun() && running.isRunning) conversation.ensure().catch(fail);
    },
    prompt: (text) => {
      const { context: about, about: labels } = attachments.take();
      conversation.prompt(text, about, labels).catch(fail);
    },
    takeBack: (id) => conversation.takeBack(id),
    stop: () => void conversation.stop(),
    answer: (question, option) => questions.answer(question, option),
    findFiles: async (query) => (conversation.folder && mayRun() ? await findFiles(conversation.folder, query) : []),
    openFile: (path) => void openFile(conversation.folder, path),
  });
  const questions = new Questions(store, (title) => void chat.announce(title));
  running.ask = (request, token) => questions.ask(request, token);
  running.runCommand = codeActions(conversation, chat, attachments);

  const changes = new Changes(running, conversation, store);
  const changesView = new ChangesView(changes);
  const proposed = new ProposedTexts(changes);
  const decorations = new FileDecorations(changes);
  const lenses = new HunkLenses(changes);
  const renewal = new Renewal(store, () => {
    if (mayRun()) void running.restart();
  });

  context.subscriptions.push(
    log,
    store,
    running,
    conversation,
    attachments,
    chat,
    changes,
    changesView,
    proposed,
    decorations,
    lenses,
    new StatusBar(store),
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, chat),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, proposed),
    vscode.window.registerFileDecorationProvider(decorations),
    vscode.languages.registerCodeLensProvider([{ scheme: SCHEME }, { scheme: "file" }], lenses),
    registerCommands({ context, server: running, conversation, chat, attachments, changes, changesView, store }),
    store.onChange(({ turn }) => void vscode.commands.executeCommand("setContext", "airlock.turnInWork", turn !== undefined)),
    running.onState(({ kind }) => {
      if (kind !== "running") questions.forget();
      // A chat that stood there before the server did begins now.
      else if (chat.isShown) conversation.ensure().catch(fail);
    }),
    renewal,
    onSettingsChange(["server", "model"], () => renewal.want()),
    context.secrets.onDidChange(() => renewal.want()),
  );

  const start = () => {
    if (mayRun()) return void running.start();
    const kind = vscode.workspace.isTrusted ? "no_folder" : "restricted";
    store.tell({ type: "connection", connection: { kind } });
  };
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(start),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (!running.isRunning) start();
    }),
  );
  start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
