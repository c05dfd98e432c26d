//! What the model may call. One file a tool: its spec and how it runs.
//!
//! Every tool acts in the sandbox. Without one, each answers that there is none, and what to do.

mod bash;
mod consent;
mod edit_file;
mod exec;
mod list_files;
mod read_file;
mod registry;
mod sandboxed;
mod search_files;
mod utf8_stream;
mod write_file;

pub use consent::{Consent, ConsentQuestion};
pub use exec::{Ran, run_in_sandbox};
pub use registry::Registry;

use crate::claude::ToolSpec;
use crate::conversation::ResultPart;
use crate::view::{EditorView, SessionView};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Something that the model may call.
pub trait Tool: Send + Sync {
    /// What the model is told of it.
    fn spec(&self) -> ToolSpec;

    /// Whether it changes nothing, so that several may run at once.
    fn reads_only(&self) -> bool;

    /// The plugin that brought it.
    fn owner(&self) -> Option<&str> {
        None
    }

    /// The call in a few words, for people. The input has not been checked yet.
    fn title(&self, input: &Value) -> String;

    /// Runs it. The input has been checked against the schema.
    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome>;
}

/// What a running tool has.
#[derive(Clone)]
pub struct ToolContext {
    /// Cancelled when the user stops the turn.
    pub cancel: CancellationToken,
    /// Takes live output.
    pub progress: Progress,
    /// Where commands run, and what they see.
    pub view: Arc<SessionView>,
    /// What the user has in front of them.
    pub editor: EditorView,
    /// A way to ask the user.
    pub consent: Consent,
}

/// Where a running tool's live output goes.
#[derive(Clone)]
pub struct Progress {
    index: usize,
    sink: Option<mpsc::Sender<(usize, String)>>,
}

impl Progress {
    /// Live output of the call with this index.
    pub fn of_call(index: usize, sink: mpsc::Sender<(usize, String)>) -> Self {
        Self { index, sink: Some(sink) }
    }

    /// Live output that nobody wants.
    pub fn nowhere() -> Self {
        Self { index: 0, sink: None }
    }

    /// Shows the next piece; waits while the front end is slow.
    pub async fn show(&self, output: String) {
        if let Some(sink) = &self.sink {
            // Nobody listens any more when the turn has ended.
            let _ = sink.send((self.index, output)).await;
        }
    }
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The answer.
    pub content: Vec<ResultPart>,
    /// Whether it is an error.
    pub is_error: bool,
    /// The exit code, for commands.
    pub exit_code: Option<i32>,
    /// The user has seen it already, as live output.
    pub shown: bool,
}

impl ToolOutcome {
    /// A good answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ResultPart::text(text)], is_error: false, exit_code: None, shown: false }
    }

    /// An error that the model can act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// All text of it.
    pub fn all_text(&self) -> String {
        let texts = self.content.iter().map(|part| match part {
            ResultPart::Text { text } => text.as_str(),
            ResultPart::Image { .. } => "[image]",
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// The tools that come with Airlock, in the order in which the model sees them.
pub fn built_in() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(bash::Bash),
        Arc::new(read_file::ReadFile),
        Arc::new(write_file::WriteFile),
        Arc::new(edit_file::EditFile),
        Arc::new(list_files::ListFiles),
        Arc::new(search_files::SearchFiles),
    ]
}

/// A text field of an unchecked input, cut to one line, for titles.
fn field<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default().lines().next().unwrap_or_default()
}
