//! The extension's own messages, `airlock/*`: the one file that knows their form.
//!
//! Long because it is that one file: the form of each message, and nothing else.
//!
//! The contract is written down for client authors in `docs/protocol.md`. A test there fails when this file changes
//! and that one does not.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::Request;
use tower_lsp::ls_types::{Diagnostic, Range, Uri};

/// The extension's version, in `experimental.airlock.version` of both sides.
pub const VERSION: u32 = 1;

/// `experimental.airlock` of a client that knows the extension.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientExtension {
    /// It answers `airlock/permission`.
    pub permission: bool,
}

/// `airlock/session/new`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NewSession {
    /// The workspace folder; the first one when left out.
    pub folder: Option<Uri>,
}

/// `airlock/session/list`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListSessions {
    /// The workspace folder; the first one when left out.
    pub folder: Option<Uri>,
}

/// `airlock/session/load`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadSession {
    /// Which one.
    pub session_id: String,
    /// The workspace folder; the first one when left out.
    #[serde(default)]
    pub folder: Option<Uri>,
}

/// Parameters that are a session's id alone: `airlock/session/cancel`, `airlock/session/close`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OneSession {
    /// Which one.
    pub session_id: String,
}

/// `airlock/session/prompt`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptSession {
    /// Which session.
    pub session_id: String,
    /// What the user says.
    pub text: String,
    /// What it is about.
    #[serde(default)]
    pub context: Vec<Context>,
}

/// A document, or a part of one, that a prompt is about.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The document.
    pub uri: Uri,
    /// The part; the whole when left out.
    #[serde(default)]
    pub range: Option<Range>,
    /// What other tools say about it.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// The argument of `airlock.ask`, `airlock.fix` and `airlock.explain`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskArgument {
    /// The document.
    pub uri: Uri,
    /// The part that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// What other tools say about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    /// What to ask; the user is asked when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The session to ask in; one of the document's folder when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// The result of `airlock/session/new` and `airlock/session/load`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionOpened {
    /// The session.
    pub session_id: String,
    /// The model that answers.
    pub model: String,
    /// The slash commands there are.
    pub commands: Vec<Command>,
}

/// The result of `airlock/session/list`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// Newest first.
    pub sessions: Vec<KeptSession>,
}

/// A session that was kept.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptSession {
    /// To load it.
    pub session_id: String,
    /// The beginning of its first prompt.
    pub title: String,
    /// RFC 3339.
    pub updated_at: String,
    /// How many messages it holds.
    pub messages: usize,
}

/// The result of `airlock/session/prompt`, and of `airlock.ask` and its like in clients that know the extension.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnBegun {
    /// The session.
    pub session_id: String,
    /// The turn, as its `turn_end` names it.
    pub turn_id: String,
}

/// A slash command.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// The name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// `airlock/session/update`
pub enum SessionUpdate {}

impl Notification for SessionUpdate {
    type Params = SessionUpdateParams;
    const METHOD: &'static str = "airlock/session/update";
}

/// The parameters of `airlock/session/update`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionUpdateParams {
    /// The session.
    pub session_id: String,
    /// Counts the session's updates from 1, without gaps.
    pub seq: u64,
    /// What happened: an object with `kind`.
    pub update: Value,
}

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "docs/protocol.md explains the fields")]
pub enum WireUpdate<'a> {
    UserMessage {
        text: &'a str,
    },
    AgentMessageChunk {
        text: &'a str,
    },
    AgentThoughtChunk {
        text: &'a str,
    },
    ToolCall {
        tool_call_id: &'a str,
        name: &'a str,
        title: &'a str,
        input: &'a Value,
        status: &'static str,
    },
    ToolCallUpdate {
        tool_call_id: &'a str,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    Usage {
        input_tokens: u64,
        output_tokens: u64,
        cache_read_tokens: u64,
        cache_write_tokens: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        context_used: u64,
        context_size: u64,
    },
    Sandbox {
        state: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        isolation: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
    },
    Changes {
        count: usize,
        files: usize,
    },
    Commands {
        commands: Vec<Command>,
    },
    Model {
        model: &'a str,
    },
    Notice {
        level: &'static str,
        text: &'a str,
    },
    TurnEnd {
        turn_id: &'a str,
        stop_reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
}

/// `airlock/changes/accept`, `airlock/changes/reject`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectChanges {
    /// Which session.
    pub session_id: String,
    /// Files, or folders with all that is in them.
    #[serde(default)]
    pub paths: Option<Vec<String>>,
    /// Single hunks.
    #[serde(default)]
    pub hunks: Option<Vec<String>>,
    /// What this client displays.
    #[serde(flatten)]
    pub shown: Shown,
}

/// What a client displays when its user accepts or rejects. Anything else is refused.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Shown {
    /// The digest of the whole list.
    pub list: Option<String>,
    /// The digest of each change, by its path.
    pub shown: HashMap<String, String>,
}

/// The argument of the commands `airlock.accept` and `airlock.reject`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewArgument {
    /// Which session; this editor's own one when left out.
    pub session_id: Option<String>,
    /// Files, or folders with all that is in them.
    pub paths: Option<Vec<String>>,
    /// Single hunks.
    pub hunks: Option<Vec<String>>,
    /// What this client displays. One that doesn't know the extension leaves it out: then it is what it was shown last.
    #[serde(flatten)]
    pub shown: Shown,
}

/// The answer to `airlock/changes/list`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeList {
    /// Differs whenever one of the changes does.
    pub digest: String,
    /// What waits for review, sorted by path.
    pub changes: Vec<Change>,
    /// Files that the agent made and git ignores; they are not listed.
    pub ignored: usize,
    /// What cannot be reviewed, in words.
    pub remarks: Vec<String>,
}

/// One changed file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Its path in the workspace.
    pub path: String,
    /// Differs whenever the change does.
    pub digest: String,
    /// `created`, `modified` or `deleted`.
    pub kind: &'static str,
    /// It is no text.
    pub binary: bool,
    /// It is accepted only by itself.
    pub protected: bool,
    /// The user changed the same.
    pub conflict: bool,
    /// Its parts.
    pub hunks: Vec<Hunk>,
    /// The text that the file has when all of it is accepted; left out for what is no text or goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
}

/// A part of a change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Names it.
    pub id: String,
    /// The first line that goes, from 1.
    pub old_start: usize,
    /// How many go.
    pub old_lines: usize,
    /// The first line that comes, from 1.
    pub new_start: usize,
    /// How many come.
    pub new_lines: usize,
    /// The lines, with `-` and `+`; or words, for what has no lines.
    pub text: String,
    /// Both sides changed these lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictIds>,
}

/// Ids that can be accepted in the place of a hunk's own, which puts both sides between marks into the file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictIds {
    /// The agent's lines.
    pub theirs: String,
    /// The user's lines, then the agent's.
    pub both: String,
}

/// What came of accepting or rejecting.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reviewed {
    /// Paths at which it was done.
    pub done: Vec<String>,
    /// Where not.
    pub failed: Vec<NotReviewed>,
}

/// Something that could not be accepted or rejected.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotReviewed {
    /// A path, or the id of a hunk.
    pub path: String,
    /// Why.
    pub why: String,
}

/// `airlock/permission`
pub enum Permission {}

impl Request for Permission {
    type Params = PermissionParams;
    type Result = PermissionAnswer;
    const METHOD: &'static str = "airlock/permission";
}

/// The parameters of `airlock/permission`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionParams {
    /// The session.
    pub session_id: String,
    /// The tool call that it is about; empty when it is about none.
    pub tool_call_id: String,
    /// The question in one line.
    pub title: String,
    /// Everything that the answer binds to.
    pub detail: String,
    /// The answers there are.
    pub options: Vec<PermissionChoice>,
}

/// An answer to a permission request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionChoice {
    /// What to answer with.
    pub id: String,
    /// What the user reads.
    pub label: String,
    /// `allow_once`, `allow_session` or `reject`
    pub kind: String,
}

/// The result of `airlock/permission`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswer {
    /// The chosen option; any other text, or null, is a refusal.
    pub option_id: Option<String>,
}
