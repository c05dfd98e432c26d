/** The whole page: header, conversation, what waits, input. */

import type { Chat } from "../shared/chat";
import type { Attachment, ChatSettings } from "../shared/messages";
import { Composer } from "./composer";
import { Header } from "./header";
import { PermissionDialog } from "./permission-dialog";
import { ReviewBar } from "./review-bar";
import { Transcript } from "./transcript";
import { Welcome } from "./welcome";

interface Props {
  chat: Chat;
  settings: ChatSettings;
  attachments: Attachment[];
}

export function App({ chat, settings, attachments }: Props) {
  const { connection, questions } = chat;
  const [question] = questions;
  if (connection.kind === "restricted" || connection.kind === "no_folder" || connection.kind === "failed") {
    return <Welcome connection={connection} />;
  }
  return (
    <div class="app">
      <Header chat={chat} />
      <Transcript chat={chat} />
      {question !== undefined && <PermissionDialog key={question.id} question={question} />}
      <ReviewBar changes={chat.changes} />
      <Composer chat={chat} settings={settings} attachments={attachments} />
    </div>
  );
}
