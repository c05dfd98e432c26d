//! A host for unit tests: `cargo test` runs a plugin natively, and what it asks of its host is arranged here.
//!
//! ```
//! use airlock_plugin::{Content, Result, testing::Host, tool, workspace};
//! use serde_json::json;
//!
//! /// Counts the lines of a file.
//! #[tool(effects = ["read"])]
//! fn line_count(path: String) -> Result<usize> {
//!     Ok(workspace::read_text(&path)?.lines().count())
//! }
//!
//! let host = Host::new().file("poem.txt", "roses\nviolets\n");
//! // The function itself…
//! assert_eq!(host.run(|| line_count("poem.txt".into())), Ok(2));
//! // …or the tool, with arguments as the model writes them.
//! assert_eq!(host.call::<line_count>(json!({"path": "poem.txt"})), Ok(Content::Json("2".into())));
//! ```
//!
//! What is not arranged is answered as the real host would: a file that is not there is not found, and what was
//! [denied](Host::deny) is denied.

pub(crate) mod connected;

use crate::error::{Error, Kind, Result};
use crate::exec::Outcome;
use crate::http::{Request, Response};
use crate::plugin::{Command, Content, Tool};
use serde::Serialize;
use std::cell::{Ref, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A host. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Host(Rc<RefCell<World>>);

/// What the host has, and what it was told.
#[derive(Debug, Default)]
pub(crate) struct World {
    denied: BTreeSet<&'static str>,
    config: Option<String>,
    cancelled: bool,
    files: BTreeMap<String, Vec<u8>>,
    diagnostics: Option<String>,
    open_documents: Option<String>,
    selection: Option<String>,
    commands: BTreeMap<String, Outcome>,
    answers: BTreeMap<(String, String), Response>,
    store: BTreeMap<String, Vec<u8>>,
    log: Vec<String>,
    progress: Vec<String>,
    proposed: BTreeMap<String, Vec<u8>>,
    requests: Vec<Request>,
    ran: Vec<String>,
}

/// What the host has.
impl Host {
    /// A host with nothing: an empty workspace, an empty store, nothing open in the editor.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file of the workspace.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.with(|world| world.files.insert(path.to_owned(), content.as_ref().to_vec()))
    }

    /// The plugin's settings.
    pub fn config(self, settings: impl Serialize) -> Self {
        self.with(|world| world.config = Some(json(&settings)))
    }

    /// What comes of a command line.
    pub fn command(self, command: &str, exit_code: i32, output: &str) -> Self {
        let outcome = Outcome { exit_code: Some(exit_code), output: output.to_owned(), cut: false };
        self.with(|world| world.commands.insert(command.to_owned(), outcome))
    }

    /// What a server answers.
    pub fn answer(self, method: &str, url: &str, status: u16, body: impl AsRef<[u8]>) -> Self {
        let response = Response { status, headers: Vec::new(), body: body.as_ref().to_vec() };
        self.with(|world| world.answers.insert((method.to_owned(), url.to_owned()), response))
    }

    /// What is in the plugin's store.
    pub fn stored(self, key: &str, value: impl AsRef<[u8]>) -> Self {
        self.with(|world| world.store.insert(key.to_owned(), value.as_ref().to_vec()))
    }

    /// The editor's diagnostics: a list of objects `{path, line, column, severity, message, source}`.
    pub fn diagnostics(self, list: impl Serialize) -> Self {
        self.with(|world| world.diagnostics = Some(json(&list)))
    }

    /// The open documents: a list of objects `{path, language, unsaved}`.
    pub fn open_documents(self, list: impl Serialize) -> Self {
        self.with(|world| world.open_documents = Some(json(&list)))
    }

    /// What is selected: an object `{path, startLine, startColumn, endLine, endColumn, text}`.
    pub fn selection(self, selection: impl Serialize) -> Self {
        self.with(|world| world.selection = Some(json(&selection)))
    }

    /// The user did not grant this: `workspace`, `propose`, `editor`, `exec`, `http` or `kv`.
    pub fn deny(self, grant: &'static str) -> Self {
        self.with(|world| world.denied.insert(grant))
    }

    /// The user stopped the turn.
    pub fn cancelled(self) -> Self {
        self.with(|world| world.cancelled = true)
    }

    fn with<T>(self, change: impl FnOnce(&mut World) -> T) -> Self {
        change(&mut self.0.borrow_mut());
        self
    }
}

/// Calls.
impl Host {
    /// Runs something with this host.
    pub fn run<T>(&self, call: impl FnOnce() -> T) -> T {
        connected::to(self, call)
    }

    /// Calls a tool with arguments as the model writes them.
    pub fn call<T: Tool>(&self, arguments: impl Serialize) -> Result<Content> {
        self.run(|| crate::plugin::call::<T>(&json(&arguments)))
    }

    /// Expands a slash command.
    pub fn expand<C: Command>(&self, arguments: &str) -> Result<String> {
        self.run(|| C::expand(arguments))
    }
}

/// What the host was told.
impl Host {
    /// The lines of the log, each after its level: `info: …`.
    pub fn log(&self) -> Vec<String> {
        self.world().log.clone()
    }

    /// What was shown as progress.
    pub fn progress(&self) -> Vec<String> {
        self.world().progress.clone()
    }

    /// The text that was proposed for a file.
    pub fn proposed(&self, path: &str) -> Option<String> {
        self.world().proposed.get(path).map(|content| String::from_utf8_lossy(content).into_owned())
    }

    /// The requests that were sent.
    pub fn requests(&self) -> Vec<Request> {
        self.world().requests.clone()
    }

    /// The command lines that were run.
    pub fn ran(&self) -> Vec<String> {
        self.world().ran.clone()
    }

    /// What is in the plugin's store now.
    pub fn in_store(&self, key: &str) -> Option<Vec<u8>> {
        self.world().store.get(key).cloned()
    }

    fn world(&self) -> Ref<'_, World> {
        self.0.borrow()
    }
}

impl World {
    fn granted(&self, grant: &str) -> Result<()> {
        if self.denied.contains(grant) {
            return Err(Error::new(Kind::Denied, format!("{grant} was not granted")));
        }
        Ok(())
    }
}

#[allow(clippy::panic, reason = "a test that cannot be arranged fails")]
fn json(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(json) => json,
        Err(error) => panic!("the test gives what is no JSON: {error}"),
    }
}
