//! Editors that know nothing of the extension: answers become a document, notices become messages, and a question
//! of one's own is written in a document and asked when it is saved.

use super::answers;
use super::methods::context;
use super::plain_review;
use super::protocol::{AskArgument, Context, TurnBegun};
use super::question::{self, NoAnswer};
use super::server::Shared;
use crate::agent::update::{NoticeLevel, StopReason, Update};
use crate::agent::{Prompt, Session};
use crate::limits::{LSP_CLIENT_ANSWER_MAX_MS, PROMPT_MAX_BYTES};
use crate::storage;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::request::{ShowDocument, ShowMessageRequest};
use tower_lsp::ls_types::{
    MessageActionItem, MessageType, ShowDocumentParams, ShowMessageRequestParams, Uri,
};

/// Shows a session's updates.
pub(super) struct PlainView {
    shared: Arc<Shared>,
    session: Arc<Session>,
    answer: String,
    /// Files that wait for review.
    files: usize,
}

impl PlainView {
    pub(super) fn new(shared: &Arc<Shared>, session: &Arc<Session>) -> Self {
        Self { shared: Arc::clone(shared), session: Arc::clone(session), answer: String::new(), files: 0 }
    }

    pub(super) async fn show(&mut self, update: Update) {
        match update {
            Update::UserMessage { text } => {
                self.answer.push_str(&format!("> {}\n\n", text.replace('\n', "\n> ")))
            }
            Update::AgentMessageChunk { text } => self.answer.push_str(&text),
            Update::ToolCall(call) => self.answer.push_str(&format!("\n\n`{}`\n\n", call.title)),
            Update::Notice { level, text } => self.message(level, &text).await,
            Update::Changes { files, .. } => self.files = files,
            Update::TurnEnd { stop_reason, error, .. } => {
                if let Some(error) = error {
                    self.message(NoticeLevel::Error, &error).await;
                } else if stop_reason == StopReason::Cancelled {
                    self.message(NoticeLevel::Info, "stopped").await;
                }
                let answer = std::mem::take(&mut self.answer);
                let kept = self.keep_answer(answer.trim()).await;
                // On its own: an editor may take its time to open a document, and a message may stand there for hours.
                // One after the other: a document that opens takes the keyboard from a question.
                let (shared, session, files) =
                    (Arc::clone(&self.shared), Arc::clone(&self.session), self.files);
                tokio::spawn(async move {
                    if let Some(path) = kept {
                        show_document(&shared, &path, answer.trim()).await;
                    }
                    if files > 0 {
                        plain_review::offer(shared, session).await;
                    }
                });
            }
            _ => {}
        }
    }

    async fn message(&self, level: NoticeLevel, text: &str) {
        let kind = match level {
            NoticeLevel::Info => return self.shared.client.log_message(MessageType::INFO, text).await,
            NoticeLevel::Warning => MessageType::WARNING,
            NoticeLevel::Error => MessageType::ERROR,
        };
        self.shared.client.show_message(kind, format!("Airlock: {text}")).await;
    }

    /// Appends to the document with the answers of the session; gives it if there is something new in it.
    async fn keep_answer(&self, answer: &str) -> Option<PathBuf> {
        if answer.is_empty() {
            return None;
        }
        let folder = self.shared.agent.environment().state_dir.join("answers");
        match answers::keep(&folder, self.session.id(), answer) {
            Ok(path) => Some(path),
            Err(error) => {
                self.message(NoticeLevel::Error, &format!("{error}: the answer was: {answer}")).await;
                None
            }
        }
    }
}

/// Opens a document in the editor; one that cannot is told where it is.
pub(super) async fn show_document(shared: &Shared, path: &Path, gist: &str) {
    let mut shown = false;
    if let (true, Some(uri)) = (shared.traits().may_show_documents, Uri::from_file_path(path)) {
        let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: None };
        let deadline = Duration::from_millis(LSP_CLIENT_ANSWER_MAX_MS);
        let asked = question::ask::<ShowDocument>(&shared.client, params);
        shown = matches!(tokio::time::timeout(deadline, asked).await, Ok(Ok(answer)) if answer.success);
    }
    if !shown {
        let beginning: String = gist.chars().take(300).collect();
        shared
            .client
            .show_message(MessageType::INFO, format!("Airlock: {beginning}\n\n[{}]", path.display()))
            .await;
    }
}

/// Asks what to do with a selection, for a client that cannot ask for a text of the user's own.
pub(super) async fn ask_what(shared: &Arc<Shared>, argument: AskArgument) {
    const OWN: &str = "Write a question…";
    let choices = [
        ("Explain", "Explain this."),
        ("Review", "Review this: what is wrong or could be better?"),
        (OWN, ""),
    ];
    let actions = choices
        .iter()
        .map(|(title, _)| MessageActionItem { title: (*title).to_owned(), properties: Default::default() });
    let params = ShowMessageRequestParams {
        typ: MessageType::INFO,
        message: "Airlock: what about the selection?".to_owned(),
        actions: Some(actions.collect()),
    };
    let asked = question::ask::<ShowMessageRequest>(&shared.client, params);
    let deadline = Duration::from_secs(shared.agent.settings().permission_timeout_s);
    let chosen = match tokio::time::timeout(deadline, asked).await {
        Ok(Ok(Some(chosen))) => chosen,
        // An editor without such messages still has documents.
        Ok(Err(NoAnswer::Unknown)) => return open_question(shared, argument).await,
        _ => return,
    };
    match choices.iter().find(|(title, _)| *title == chosen.title) {
        Some((OWN, _)) => open_question(shared, argument).await,
        Some((_, text)) => begin(shared, &argument, (*text).to_owned()).await,
        None => {}
    }
}

const QUESTION_HINT: &str = "<!-- Write your question below and save. -->\n\n";

fn question_path(shared: &Shared) -> PathBuf {
    shared.agent.environment().state_dir.join("question.md")
}

async fn open_question(shared: &Arc<Shared>, argument: AskArgument) {
    let path = question_path(shared);
    if let Err(error) = storage::replace(&path, QUESTION_HINT.as_bytes()) {
        return shared
            .client
            .show_message(MessageType::ERROR, format!("Airlock: {}: {error}", path.display()))
            .await;
    }
    if let Some(uri) = Uri::from_file_path(&path) {
        shared.questions.insert(uri.as_str().to_owned(), argument);
    }
    show_document(shared, &path, "write your question there and save it").await;
}

/// Whether two paths lead to one file. Editors resolve links in the names of what they open, or do not.
fn same_file(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().ok();
    let resolve_to_one = || resolved(one).is_some_and(|one| Some(one) == resolved(other));
    one == other || (one.file_name() == other.file_name() && resolve_to_one())
}

/// A document was saved: if it is a question, it is asked.
pub(super) fn question_saved(shared: &Arc<Shared>, uri: &Uri) {
    if !super::folders::host_path(uri).is_some_and(|path| same_file(&path, &question_path(shared))) {
        return;
    }
    // It was just saved; an editor may tell of its last changes later still.
    let saved = storage::read_text(&question_path(shared), PROMPT_MAX_BYTES).ok().flatten();
    let in_editor = || shared.documents.get(uri.as_str()).map(|document| document.text.to_string());
    let text = saved.or_else(in_editor).unwrap_or_default();
    let text = text.replace(QUESTION_HINT.trim(), "").trim().to_owned();
    let Some(key) = Uri::from_file_path(question_path(shared)).map(|uri| uri.as_str().to_owned()) else {
        return;
    };
    if text.is_empty() {
        return;
    }
    if let Some((_, argument)) = shared.questions.remove(&key) {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { begin(&shared, &argument, text).await });
    }
}

/// Begins a turn in the folder's session; why not is told to the user.
pub(super) async fn begin(shared: &Arc<Shared>, argument: &AskArgument, text: String) {
    if let Err(error) = ask(shared, argument, text).await {
        shared.client.show_message(MessageType::ERROR, format!("Airlock: {}", error.message)).await;
    }
}

/// Begins a turn about a document, in the session that it names or in its folder's.
pub(super) async fn ask(shared: &Arc<Shared>, argument: &AskArgument, text: String) -> Result<TurnBegun> {
    let session = session_for(shared, argument).await?;
    let item = context::of_ask(shared, session.workspace(), argument);
    let AskArgument { uri, range, diagnostics, .. } = argument.clone();
    let shown = context::shown(shared, session.workspace(), &[Context { uri, range, diagnostics }]);
    shared.begin_turn(&session, Prompt { text, context: vec![item], shown })
}

/// The session that a document's questions go to: one a folder.
async fn session_for(shared: &Arc<Shared>, argument: &AskArgument) -> Result<Arc<Session>> {
    if let Some(id) = &argument.session_id {
        return shared.session(id);
    }
    let workspace = shared.folders.of_document(&argument.uri);
    // Held while one is opened, so that two questions at once do not open two.
    let mut sessions = shared.folder_sessions.lock().await;
    if let Some(session) = sessions.get(&workspace).filter(|session| !session.is_closed()) {
        return Ok(Arc::clone(session));
    }
    let session = shared.open(workspace.clone()).await?;
    sessions.insert(workspace, Arc::clone(&session));
    Ok(session)
}
