/** What the server's code actions do here: they ask in the open conversation, where the user sees it. */

import * as vscode from "vscode";
import type { ExecuteCommandMiddleware } from "vscode-languageclient/node";
import { type Attachments, placeLabel } from "../chat/attachments";
import type { ChatView } from "../chat/chat-view";
import { type Conversation, reason } from "../conversation/conversation";
import type { PromptContext, Range } from "../shared/protocol";

/** The argument of the server's `airlock.ask`, `airlock.fix` and `airlock.explain`. */
interface AskArgument {
  uri: string;
  range?: Range;
  diagnostics?: { message: string }[];
}

const WORDS: Record<string, { verb: string; prompt: string }> = {
  "airlock.fix": { verb: "Fix", prompt: "Fix the problem that the diagnostic names." },
  "airlock.explain": { verb: "Explain", prompt: "Explain the problem that the diagnostic names, and how to solve it. Change nothing." },
};

type RunCommand = NonNullable<ExecuteCommandMiddleware["executeCommand"]>;

export function codeActions(conversation: Conversation, chat: ChatView, attachments: Attachments): RunCommand {
  return async (command, args, next) => {
    const argument = args[0] as AskArgument | undefined;
    const words = WORDS[command];
    if (argument?.uri === undefined || (words === undefined && command !== "airlock.ask")) return (await next(command, args)) as unknown;
    const { context, label } = about(argument);
    try {
      if (words === undefined) {
        attachments.add(label, context);
        await chat.focus();
      } else {
        await chat.focus();
        const problem = argument.diagnostics?.[0]?.message ?? "the problem here";
        await conversation.prompt(words.prompt, [context], [label], `${words.verb} this problem: ${problem}`);
      }
    } catch (error) {
      void vscode.window.showErrorMessage(reason(error));
    }
    return undefined;
  };
}

function about({ uri, range, diagnostics }: AskArgument): { context: PromptContext; label: string } {
  const at = range && new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
  const context: PromptContext = { uri, ...(range ? { range } : {}), ...(diagnostics ? { diagnostics } : {}) };
  return { context, label: placeLabel(vscode.Uri.parse(uri), at) };
}
