//! What a session tells its front end: the core's own words, which each front end translates.

pub use crate::sandbox::Isolation;
use crate::sandbox::SandboxNews;
use serde_json::Value;

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// What the user said, when a history is replayed or a slash command was expanded.
    UserMessage {
        /// The text.
        text: String,
    },
    /// A piece of the model's answer.
    AgentMessageChunk {
        /// The text.
        text: String,
    },
    /// A piece of the model's thinking.
    AgentThoughtChunk {
        /// The text.
        text: String,
    },
    /// The model wants a tool to run.
    ToolCall(ToolCallStarted),
    /// A tool call went on.
    ToolCallUpdate(ToolCallProgress),
    /// What the session has used.
    Usage(UsageReport),
    /// The sandbox came up, failed or went.
    Sandbox {
        /// What it is doing.
        state: SandboxState,
        /// What kind of wall stands around it, once that is proved.
        isolation: Option<Isolation>,
        /// Why it failed, or what it is.
        detail: Option<String>,
    },
    /// Files that differ between the sandbox and the workspace.
    Changes {
        /// Hunks.
        count: usize,
        /// Files.
        files: usize,
    },
    /// The slash commands there are, when they changed.
    Commands {
        /// All of them.
        commands: Vec<CommandInfo>,
    },
    /// Another model answers from now on.
    Model {
        /// Which one.
        model: String,
    },
    /// Something that the user should know.
    Notice {
        /// How bad it is.
        level: NoticeLevel,
        /// What happened, and what to do.
        text: String,
    },
    /// The turn is over. Each turn has exactly one.
    TurnEnd {
        /// Which turn.
        turn_id: String,
        /// Why it ended.
        stop_reason: StopReason,
        /// What went wrong, when something did.
        error: Option<String>,
    },
}

impl From<SandboxNews> for Update {
    fn from(news: SandboxNews) -> Self {
        let (state, isolation, detail) = match news {
            SandboxNews::Starting { image } => {
                let detail = image.map(|image| format!("podman prepares the image {image} for it"));
                (SandboxState::Starting, None, detail)
            }
            SandboxNews::Ready { isolation, detail } => (SandboxState::Ready, Some(isolation), Some(detail)),
            SandboxNews::Failed(error) => (SandboxState::Failed, None, Some(error.to_string())),
            SandboxNews::Stopped(why) => (SandboxState::Stopped, None, Some(why)),
        };
        Self::Sandbox { state, isolation, detail }
    }
}

/// A tool call that the model made.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCallStarted {
    /// The API's own id of the call.
    pub tool_call_id: String,
    /// The tool.
    pub name: String,
    /// The call in a few words, for people.
    pub title: String,
    /// What the tool is given.
    pub input: Value,
}

/// How a tool call went on.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCallProgress {
    /// Which call.
    pub tool_call_id: String,
    /// Where it stands.
    pub status: ToolCallStatus,
    /// The next piece of its output.
    pub output: Option<String>,
    /// The exit code, for commands.
    pub exit_code: Option<i32>,
}

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolCallStatus {
    /// It runs.
    InProgress,
    /// It ended well.
    Completed,
    /// It ended badly, or never ran.
    Failed,
}

/// What a session has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageReport {
    /// Tokens sent and not cached.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Tokens read from the prompt cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the prompt cache.
    pub cache_write_tokens: u64,
    /// What it cost, when the model's prices are known.
    pub cost_usd: Option<f64>,
    /// Tokens of the window that the conversation fills.
    pub context_used: u64,
    /// Tokens of the window.
    pub context_size: u64,
}

/// What the sandbox is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxState {
    /// It is on its way.
    Starting,
    /// It takes commands.
    Ready,
    /// It could not be started.
    Failed,
    /// It is gone.
    Stopped,
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something did not go as planned.
    Warning,
    /// Something failed.
    Error,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The answer reached the output limit.
    MaxTokens,
    /// The turn asked the model too often.
    MaxTurnRequests,
    /// The model declined.
    Refusal,
    /// The user stopped it.
    Cancelled,
    /// Something failed.
    Error,
}

/// A slash command, for completion and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// The name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    pub hint: Option<String>,
}
