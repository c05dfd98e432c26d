//! The agent without its process: for what takes thousands of turns, or a tool that waits for the test.

use airlock::agent::permission::{Asker, PermissionRequest};
use airlock::agent::update::{StopReason, Update};
use airlock::agent::{Agent, OpenError, Prompt, Session};
use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::tools::Tool;
use airlock::view::NoEditor;
use airlock_tests::deadline::within;
use airlock_tests::scripted_claude::ScriptedClaude;
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// An agent in a home of its own, which goes with it.
pub struct World {
    agent: Arc<Agent>,
    home: PathBuf,
    _temporary: Option<TempDir>,
}

impl World {
    /// An agent that talks to this Claude and has these tools, of a user who wrote this `config.toml`.
    pub fn new(claude: &ScriptedClaude, config: &str, tools: Vec<Arc<dyn Tool>>) -> Self {
        // In memory where there is such a place: thousands of turns sync thousands of lines.
        let home =
            TempDir::with_prefix_in("airlock-", "/dev/shm").or_else(|_| TempDir::with_prefix("airlock-"));
        let home = home.expect("a temporary directory");
        let world = Self::at(home.path(), claude, config, tools);
        Self { _temporary: Some(home), ..world }
    }

    /// The same in a home that is there.
    pub fn at(home: &Path, claude: &ScriptedClaude, config: &str, tools: Vec<Arc<dyn Tool>>) -> Self {
        let environment = environment(claude, home);
        std::fs::create_dir_all(&environment.config_dir).expect("a folder");
        std::fs::write(environment.config_dir.join("config.toml"), config).expect("a file");
        let agent = Agent::new(environment, Arc::new(NoEditor), tools);
        Self { agent, home: home.to_owned(), _temporary: None }
    }

    /// A new session in no workspace.
    pub fn session(&self) -> Arc<Session> {
        self.try_session().expect("a session")
    }

    /// The same, which may be refused.
    pub fn try_session(&self) -> Result<Arc<Session>, OpenError> {
        self.agent.new_session(None, Arc::new(Nobody))
    }

    /// A new session in this workspace.
    pub fn session_in(&self, folder: &Path) -> Arc<Session> {
        let root = WorkspaceRoot::open(folder).expect("a folder");
        self.agent.new_session(Some(root), Arc::new(Nobody)).expect("a session")
    }
}

impl World {
    /// The text of every history in no workspace.
    pub fn histories(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.home.join("state/history/no-workspace")).expect("a folder");
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).expect("text")).collect()
    }
}

fn environment(claude: &ScriptedClaude, home: &Path) -> Environment {
    let url = claude.base_url();
    Environment::for_test(home, &[("ANTHROPIC_BASE_URL", &url), ("ANTHROPIC_API_KEY", "test-key")])
}

/// Prompts, and gives what came up to the turn's end.
pub async fn turn(session: &Arc<Session>, text: &str) -> Vec<Update> {
    let turn = session.prompt(Prompt::of_text(text)).expect("the session is idle");
    let updates = until_end(session).await;
    let Some(Update::TurnEnd { turn_id, .. }) = updates.last() else { panic!("{updates:?}") };
    assert_eq!(*turn_id, turn, "another turn ended: {updates:?}");
    updates
}

/// What comes up to the next end of a turn.
pub async fn until_end(session: &Session) -> Vec<Update> {
    until(session, |update| matches!(update, Update::TurnEnd { .. })).await
}

/// What comes up to the first update that fits.
pub async fn until(session: &Session, fits: impl Fn(&Update) -> bool) -> Vec<Update> {
    let mut updates = Vec::new();
    loop {
        let next =
            within(session.outbox().next(), || format!("no further update came after {updates:#?}")).await;
        let (_, update) = next.expect("the session is open");
        let last = fits(&update);
        updates.push(update);
        if last {
            return updates;
        }
    }
}

/// How the turn ended.
pub fn ending(updates: &[Update]) -> StopReason {
    let Some(Update::TurnEnd { stop_reason, .. }) = updates.last() else { panic!("{updates:?}") };
    *stop_reason
}

/// What the agent said.
pub fn said(updates: &[Update]) -> String {
    let text = |update: &Update| match update {
        Update::AgentMessageChunk { text } => Some(text.clone()),
        _ => None,
    };
    updates.iter().filter_map(text).collect()
}

/// A user who never answers.
struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: &str, _: PermissionRequest) -> BoxFuture<'static, Option<String>> {
        Box::pin(std::future::pending())
    }
}
