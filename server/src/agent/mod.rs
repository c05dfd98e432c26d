//! The agent: sessions, turns, history, slash commands. It knows neither LSP nor the Messages API's wire form.

mod claim;
pub mod commands;
mod compaction;
mod disk_quota;
mod driver;
mod git_work;
pub mod history;
mod in_words;
mod long_work;
pub mod outbox;
pub mod permission;
mod plugin_work;
mod prompt;
mod replay;
mod review;
mod session;
mod session_state;
mod system_prompt;
pub mod turn;
mod turn_task;
pub mod update;
pub mod usage;
mod work;

pub use prompt::{ContextItem, Prompt};
pub use session::{Refused, Session};

use crate::claude::{Claude, Failure, ModelInfo};
use crate::config::{self, Settings, WorkspaceSettings};
use crate::environment::Environment;
use crate::limits::{MENTIONED_FILE_MAX_BYTES, SESSIONS_MAX};
use crate::memory;
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::plugins::Plugins;
use crate::review::DocumentEditor;
use crate::sandbox::{Plan, SandboxError};
use crate::storage::beneath::{Folder, Node, read_bounded};
use crate::tools::{Registry, Tool};
use crate::trust::{TrustState, TrustStore, TrustedWorkspace};
use crate::view::{Buffers, OpenDocuments, WorkspaceWatches};
use commands::CustomCommands;
use commands::built_in;
use dashmap::DashMap;
use history::{HistoryError, HistoryFolder, Summary};
use outbox::Outbox;
use permission::Asker;
use session::{Parts, State};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use update::NoticeLevel;

/// The agent: what all sessions share.
pub struct Agent {
    environment: Environment,
    settings: Settings,
    claude: Arc<Claude>,
    tools: Arc<Registry>,
    plugins: Arc<Plugins>,
    trust: TrustStore,
    desk: Arc<dyn Desk>,
    watches: WorkspaceWatches,
    sessions: DashMap<String, Arc<Session>>,
    models: DashMap<String, ModelInfo>,
    /// What is wrong with the configuration, for every session to say.
    problems: Vec<String>,
}

/// The user's editor: what stands in it, and a way to edit there.
pub trait Desk: Buffers + DocumentEditor + OpenDocuments {}

impl<T: Buffers + DocumentEditor + OpenDocuments> Desk for T {}

/// What a workspace brings along.
struct OfWorkspace {
    settings: Settings,
    custom: CustomCommands,
    trusted: Option<TrustedWorkspace>,
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Too many.
    #[error("{SESSIONS_MAX} sessions are open, which is the most there can be: close one first")]
    TooMany,
    /// Its history cannot be used.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl Agent {
    /// An agent as the user configured it. It reads the configuration and reaches for nothing else.
    pub fn new(environment: Environment, desk: Arc<dyn Desk>, tools: Vec<Arc<dyn Tool>>) -> Arc<Self> {
        let (settings, problems) = config::load(&environment);
        let (tools, left_out) = Registry::new(tools);
        let silence_max = Duration::from_secs(settings.stream_silence_s);
        let claude = Claude::new(settings.base_url.clone(), settings.api_key.clone(), silence_max);
        Arc::new(Self {
            trust: TrustStore::new(&environment),
            plugins: Plugins::new(&environment, settings.plugins.clone()),
            environment,
            claude: Arc::new(claude),
            tools: Arc::new(tools),
            desk,
            watches: WorkspaceWatches::default(),
            sessions: DashMap::new(),
            models: DashMap::new(),
            problems: problems.iter().map(ToString::to_string).chain(left_out).collect(),
            settings,
        })
    }

    /// What the user configured.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn editor(&self) -> &dyn DocumentEditor {
        &*self.desk
    }

    /// What the machine tells.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Opens a new session.
    pub fn new_session(
        self: &Arc<Self>,
        workspace: Option<WorkspaceRoot>,
        asker: Arc<dyn Asker>,
    ) -> Result<Arc<Session>, OpenError> {
        // Before there is a file that nobody would remove.
        if self.sessions.len() >= SESSIONS_MAX {
            return Err(OpenError::TooMany);
        }
        let folder = HistoryFolder::of(&self.environment, workspace.as_ref());
        let mut notices = Vec::new();
        let claim = Cell::new(None);
        let is_taken = |id: &str| self.claim_new(id).map(|new| claim.set(new)).is_err();
        let (id, history) = match folder.create(&jiff::Zoned::now(), &is_taken) {
            Ok(history) => (history.id().to_owned(), Some(history)),
            Err(error) => {
                notices.push((NoticeLevel::Error, format!("{error}: this conversation will not be kept")));
                (claim::free_id(&is_taken), None)
            }
        };
        let outbox = Arc::<Outbox>::default();
        let state = self.state(workspace.as_ref(), history, &outbox, &mut notices);
        self.enter(Parts { id, claim: claim.take(), workspace, asker, outbox, state }, notices)
    }

    /// Opens a session that was kept, and shows again what was said in it.
    pub async fn load_session(
        self: &Arc<Self>,
        id: &str,
        workspace: Option<WorkspaceRoot>,
        asker: Arc<dyn Asker>,
    ) -> Result<Arc<Session>, OpenError> {
        // Who sees the end of `/quit` may ask for the session again before its history is closed.
        if let Some(closing) = self.session(id).filter(|session| session.is_closed()) {
            closing.close().await;
        }
        let folder = HistoryFolder::of(&self.environment, workspace.as_ref());
        folder.check(id)?;
        let claim = self.claim(id)?;
        let wanted = id.to_owned();
        let opened = tokio::task::spawn_blocking(move || folder.open_latest(&wanted)).await;
        let (history, loaded) = opened.unwrap_or_else(|_| Err(HistoryError::Unknown(id.to_owned())))?;
        let outbox = Arc::<Outbox>::default();
        let (agent, root, told) = (Arc::clone(self), workspace.clone(), Arc::clone(&outbox));
        // It reads the workspace's and the plugins' files.
        let made = tokio::task::spawn_blocking(move || {
            let mut notices = Vec::new();
            (agent.state(root.as_ref(), None, &told, &mut notices), notices)
        });
        let (state, mut notices) = made.await.map_err(|_| HistoryError::Unknown(id.to_owned()))?;
        if let Some(next) = &loaded.continued_in {
            let text =
                format!("{id} went on with {next}, which is gone or open elsewhere: this one is empty");
            notices.push((NoticeLevel::Warning, text));
        }
        let session =
            self.enter(Parts { id: id.to_owned(), claim, workspace, asker, outbox, state }, notices)?;
        // The task has the state before any turn can, so what was said comes first.
        let mut state = session.lock_state().await;
        session.preview(&loaded);
        let resumed = Arc::clone(&session);
        tokio::spawn(async move { resumed.resume_in(&mut state, history, loaded).await });
        Ok(session)
    }

    /// An open session.
    pub fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions.get(id).map(|entry| Arc::clone(&entry))
    }

    /// The sessions that were kept, newest first.
    pub fn kept_sessions(&self, workspace: Option<&WorkspaceRoot>) -> Result<Vec<Summary>, HistoryError> {
        HistoryFolder::of(&self.environment, workspace).list()
    }

    /// Closes every session.
    pub async fn close(&self) {
        let open: Vec<Arc<Session>> = self.sessions.iter().map(|entry| Arc::clone(&entry)).collect();
        futures::future::join_all(open.iter().map(|session| session.close())).await;
    }

    /// What a model can do. Asked once; what cannot be learned is assumed.
    async fn model_info(&self, model: &str) -> ModelInfo {
        match self.ask_model_info(model).await {
            Ok(info) => info,
            Err(failure) => {
                // The request for a message will say the same to the user, and whether to try again.
                tracing::debug!(model, %failure, "the model's properties are not known");
                ModelInfo::default()
            }
        }
    }

    /// The size of a model's window, as far as it is known without asking.
    fn known_context_size(&self, model: &str) -> u64 {
        self.models.get(model).map_or(ModelInfo::default().context_size, |info| info.context_size)
    }

    async fn ask_model_info(&self, model: &str) -> Result<ModelInfo, Failure> {
        if let Some(info) = self.models.get(model) {
            return Ok(*info);
        }
        let info = self.claude.model_info(model).await?;
        self.models.insert(model.to_owned(), info);
        Ok(info)
    }

    fn state(
        &self,
        workspace: Option<&WorkspaceRoot>,
        history: Option<history::History>,
        outbox: &Arc<Outbox>,
        notices: &mut Vec<(NoticeLevel, String)>,
    ) -> State {
        notices.extend(self.problems.iter().map(|problem| (NoticeLevel::Warning, problem.clone())));
        let OfWorkspace { settings, custom, trusted } = self.of_workspace(workspace, notices);
        let shelved = self.shelve(workspace, trusted, outbox, notices);
        State::new(settings, custom, history, shelved)
    }

    /// The settings and commands for a workspace: its own count only when the user trusts it.
    fn of_workspace(
        &self,
        workspace: Option<&WorkspaceRoot>,
        notices: &mut Vec<(NoticeLevel, String)>,
    ) -> OfWorkspace {
        let mut settings = self.settings.clone();
        let trusted = match workspace.map(|root| (root, self.trust.state(root))) {
            Some((root, (state, problems))) => {
                notices.extend(problems.iter().map(|problem| (NoticeLevel::Warning, problem.to_string())));
                match state {
                    TrustState::Trusted(trusted) => Some(trusted),
                    TrustState::Changed { files } => {
                        notices.push((NoticeLevel::Warning, changed_since_trusted(&files)));
                        None
                    }
                    TrustState::Untrusted => {
                        notices.extend(untrusted_hint(root));
                        None
                    }
                }
            }
            None => None,
        };
        if let Some(trusted) = &trusted {
            let (own, problems) = WorkspaceSettings::load(trusted, &self.settings);
            settings = settings.narrowed_by(&own);
            notices.extend(problems.iter().map(|problem| (NoticeLevel::Warning, problem.to_string())));
        }
        let (custom, problems) =
            CustomCommands::discover(trusted.as_ref(), &self.environment, &built_in::names());
        notices.extend(problems.iter().map(|problem| (NoticeLevel::Warning, problem.to_string())));
        OfWorkspace { settings, custom, trusted }
    }

    fn enter(
        self: &Arc<Self>,
        parts: Parts,
        notices: Vec<(NoticeLevel, String)>,
    ) -> Result<Arc<Session>, OpenError> {
        if self.sessions.contains_key(&parts.id) {
            return Err(HistoryError::InUse(parts.id).into());
        }
        if self.sessions.len() >= SESSIONS_MAX {
            return Err(OpenError::TooMany);
        }
        let plan = self.sandbox_plan(&parts);
        let session = Session::new(Arc::clone(self), parts, plan);
        self.sessions.insert(session.id().to_owned(), Arc::clone(&session));
        for (level, text) in notices {
            session.notice(level, text);
        }
        Ok(session)
    }

    /// Another one may have its id by now.
    fn forget(&self, closed: &Session) {
        self.sessions.remove_if(closed.id(), |_, session| std::ptr::eq(&**session, closed));
        memory::give_back();
    }

    fn trust_of(&self, workspace: Option<&WorkspaceRoot>) -> Option<TrustState> {
        workspace.map(|root| self.trust.state(root).0)
    }

    /// What a session's sandbox is for, or why it has none.
    fn sandbox_plan(&self, parts: &Parts) -> Result<Plan, SandboxError> {
        if !self.settings.use_sandbox {
            return Err(SandboxError::new(
                "it is switched off",
                "set use_sandbox = true in your config.toml, or USE_SANDBOX=true",
            ));
        }
        let Some(workspace) = parts.workspace.clone() else {
            return Err(SandboxError::new("there is no workspace", "open a folder, or set SAFEDIR"));
        };
        let settings = &parts.state.settings;
        let (isolation, image) = (settings.isolation, settings.image.clone());
        Ok(Plan { session_id: parts.id.clone(), workspace, isolation, image })
    }

    /// A file that the user mentions: as it stands in the editor, or on the disk beneath the workspace.
    fn mentioned_file(
        &self,
        workspace: Option<&WorkspaceRoot>,
        path: &WorkspacePath,
    ) -> Result<String, String> {
        let root = workspace.ok_or("there is no workspace")?;
        if let Some(text) = self.desk.text(&root.host_path(path)) {
            return Ok(text);
        }
        let node = Folder::open(root.as_host()).and_then(|folder| folder.node_at(Path::new(path.as_str())));
        match node.map_err(|error| error.to_string())? {
            Node::File(file) => {
                let bytes =
                    read_bounded(file, MENTIONED_FILE_MAX_BYTES).map_err(|error| error.to_string())?;
                String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
            }
            Node::Link(_) => Err("it is a link, and links are not followed".to_owned()),
            Node::Folder(_) => Err("it is a folder".to_owned()),
            _ => Err("there is no such file".to_owned()),
        }
    }
}

/// Why a workspace that was trusted no longer is.
fn changed_since_trusted(files: &[String]) -> String {
    format!("this workspace changed since you trusted it ({}): /trust to look again", files.join(", "))
}

/// What an untrusted workspace has that trust would make effective.
fn untrusted_hint(root: &WorkspaceRoot) -> Option<(NoticeLevel, String)> {
    match crate::trust::survey(root) {
        Ok(survey) if survey.files.is_empty() => None,
        Ok(survey) => {
            let names: Vec<&str> = survey.files.iter().take(3).map(|file| file.path.as_str()).collect();
            let more = if survey.files.len() > 3 { ", …" } else { "" };
            let text = format!(
                "this workspace's own {}{more} are not used until you trust it: /trust",
                names.join(", ")
            );
            Some((NoticeLevel::Info, text))
        }
        Err(error) => Some((NoticeLevel::Warning, error.to_string())),
    }
}
