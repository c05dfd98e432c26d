//! The server that the editor talks to: routes each method to its file.
//!
//! Architecture invariant: a handler changes what must stay in order before its first await, and returns at once;
//! what takes time runs in tasks of its own.

use super::asker::EditorAsker;
use super::buffers::OpenBuffers;
use super::client_traits::ClientTraits;
use super::documents::Documents;
use super::folders::Folders;
use super::methods;
use super::progress::Progresses;
use super::protocol as wire;
use crate::agent::{Agent, Prompt, Session};
use crate::environment::Environment;
use crate::limits::LSP_DRAIN_MAX_MS;
use crate::paths::WorkspaceRoot;
use crate::tools;
use dashmap::DashMap;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio_util::task::TaskTracker;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::*;
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService};

/// The server of one editor.
pub(super) struct Server {
    shared: Arc<Shared>,
}

/// What handlers and their tasks share.
pub(super) struct Shared {
    pub(super) client: Client,
    pub(super) agent: Arc<Agent>,
    pub(super) documents: Arc<Documents>,
    pub(super) buffers: Arc<OpenBuffers>,
    pub(super) folders: Arc<Folders>,
    pub(super) progresses: Progresses,
    /// What carries updates to the editor.
    pub(super) pumps: TaskTracker,
    /// Held while a session is opened.
    opening: tokio::sync::Mutex<()>,
    /// The session of each folder, for questions that name none.
    pub(super) folder_sessions: tokio::sync::Mutex<HashMap<Option<WorkspaceRoot>, Arc<Session>>>,
    /// For clients without the extension: questions that the user is writing, by the document they are written in.
    pub(super) questions: DashMap<String, wire::AskArgument>,
    traits: OnceLock<ClientTraits>,
}

impl Server {
    /// A service for one editor, and what its tasks share.
    pub(super) fn service(environment: Environment) -> (LspService<Self>, ClientSocket, Arc<Shared>) {
        let mut shared = None;
        let (service, socket) = LspService::build(|client| {
            let (documents, folders) = (Arc::new(Documents::new()), Arc::new(Folders::default()));
            let buffers = Arc::new(OpenBuffers {
                client: client.clone(),
                documents: Arc::clone(&documents),
                folders: Arc::clone(&folders),
            });
            let made = Arc::new(Shared {
                client,
                agent: Agent::new(environment, Arc::clone(&buffers) as _, tools::built_in()),
                documents,
                buffers,
                folders,
                progresses: Progresses::default(),
                pumps: TaskTracker::new(),
                opening: Default::default(),
                folder_sessions: Default::default(),
                questions: DashMap::new(),
                traits: OnceLock::new(),
            });
            shared = Some(Arc::clone(&made));
            Self { shared: made }
        })
        .custom_method("airlock/session/new", Self::session_new)
        .custom_method("airlock/session/list", Self::session_list)
        .custom_method("airlock/session/load", Self::session_load)
        .custom_method("airlock/session/prompt", Self::session_prompt)
        .custom_method("airlock/session/cancel", Self::session_cancel)
        .custom_method("airlock/session/close", Self::session_close)
        .custom_method("airlock/changes/list", Self::changes_list)
        .custom_method("airlock/changes/accept", Self::changes_accept)
        .custom_method("airlock/changes/reject", Self::changes_reject)
        .custom_method("window/workDoneProgress/cancel", Self::progress_cancel)
        .finish();
        #[expect(clippy::expect_used, reason = "`build` calls its closure")]
        let shared = shared.expect("the closure ran");
        (service, socket, shared)
    }

    async fn session_new(&self, params: wire::NewSession) -> Result<wire::SessionOpened> {
        methods::session_new::run(&self.shared, &params).await
    }

    async fn session_list(&self, params: wire::ListSessions) -> Result<wire::SessionList> {
        methods::session_list::run(&self.shared, &params).await
    }

    async fn session_load(&self, params: wire::LoadSession) -> Result<wire::SessionOpened> {
        methods::session_load::run(&self.shared, &params).await
    }

    async fn session_prompt(&self, params: wire::PromptSession) -> Result<wire::TurnBegun> {
        methods::session_prompt::run(&self.shared, params)
    }

    async fn session_cancel(&self, params: wire::OneSession) {
        if let Some(session) = self.shared.agent.session(&params.session_id) {
            session.cancel();
        }
    }

    async fn session_close(&self, params: wire::OneSession) -> Result<Empty> {
        let session = self.shared.session(&params.session_id)?;
        session.close().await;
        in_time(session.outbox().delivered()).await;
        Ok(Empty {})
    }

    async fn changes_list(&self, params: wire::OneSession) -> Result<wire::ChangeList> {
        methods::changes::list(&self.shared, &params).await
    }

    async fn changes_accept(&self, params: wire::SelectChanges) -> Result<wire::Reviewed> {
        methods::changes::accept(&self.shared, params).await
    }

    async fn changes_reject(&self, params: wire::SelectChanges) -> Result<wire::Reviewed> {
        methods::changes::reject(&self.shared, params).await
    }

    async fn progress_cancel(&self, params: WorkDoneProgressCancelParams) {
        if let Some(session) = self.shared.progresses.session_of(&params.token) {
            session.cancel();
        }
    }
}

/// Waits for updates to reach the editor, but not for one that takes nothing.
async fn in_time(told: impl Future<Output = ()>) {
    let _ = tokio::time::timeout(Duration::from_millis(LSP_DRAIN_MAX_MS), told).await;
}

/// `{}`
#[derive(serde::Serialize)]
pub(super) struct Empty {}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        Ok(methods::initialize::run(&self.shared, &params))
    }

    async fn initialized(&self, _: InitializedParams) {}

    async fn shutdown(&self) -> Result<()> {
        self.shared.agent.close().await;
        // The last words of the turns that were stopped come before the answer.
        self.shared.pumps.close();
        in_time(self.shared.pumps.wait()).await;
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.shared.documents.open(params);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.shared.documents.change(params);
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        super::plain::question_saved(&self.shared, &params.text_document.uri);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.shared.documents.close(&params);
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.shared.folders.change(&params.event);
    }

    async fn did_change_configuration(&self, _: DidChangeConfigurationParams) {}

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {}

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        Ok(Some(methods::code_action::run(self.shared.traits(), params)))
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        methods::execute_command::run(&self.shared, params).await
    }
}

impl Shared {
    pub(super) fn traits(&self) -> &ClientTraits {
        self.traits.get_or_init(ClientTraits::default)
    }

    pub(super) fn set_traits(&self, traits: ClientTraits) {
        self.documents.agree_on(traits.encoding);
        // Set once: tower-lsp refuses a second `initialize`.
        let _ = self.traits.set(traits);
    }

    pub(super) fn session(&self, id: &str) -> Result<Arc<Session>> {
        self.agent.session(id).ok_or_else(|| {
            failed(format!("there is no open session {id:?}: open one with airlock/session/new"))
        })
    }

    /// Opens a session and lets its updates flow to the editor. Off the reader: it looks at the disk.
    pub(super) async fn open(self: &Arc<Self>, workspace: Option<WorkspaceRoot>) -> Result<Arc<Session>> {
        let (agent, asker) = (Arc::clone(&self.agent), Arc::new(EditorAsker::new(self)));
        // One after the other: a name is looked for and taken in two steps, and folders do not know of each other.
        let _turn = self.opening.lock().await;
        let session = off_the_reader(move || agent.new_session(workspace, asker)).await?.map_err(failed)?;
        super::pump::start(self, &session);
        Ok(session)
    }

    /// Begins a turn, with its progress.
    pub(super) fn begin_turn(&self, session: &Arc<Session>, prompt: Prompt) -> Result<wire::TurnBegun> {
        if prompt.text.len() > crate::limits::PROMPT_MAX_BYTES {
            return Err(failed(format!("a prompt may have {} bytes", crate::limits::PROMPT_MAX_BYTES)));
        }
        let turn = || session.prompt(prompt);
        let begun = if self.traits().shows_progress {
            self.progresses.begin(&self.client, session, turn)
        } else {
            turn()
        };
        let turn_id = begun.map_err(failed)?;
        Ok(wire::TurnBegun { session_id: session.id().to_owned(), turn_id })
    }

    pub(super) fn opened(&self, session: &Session) -> wire::SessionOpened {
        let commands = super::translate::commands(&session.commands());
        wire::SessionOpened { session_id: session.id().to_owned(), model: session.model(), commands }
    }
}

/// Does what looks at the disk where nobody waits for it.
pub(super) async fn off_the_reader<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

/// A request that cannot be done, and why.
pub(super) fn failed(why: impl ToString) -> Error {
    /// LSP's `RequestFailed`: the request was fine, the answer is no.
    const REQUEST_FAILED: i64 = -32803;
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: why.to_string().into(), data: None }
}
