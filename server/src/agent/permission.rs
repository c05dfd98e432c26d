//! Asking the user.

use futures::future::BoxFuture;

/// A question to the user that must be answered before something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRequest {
    /// The tool call that it is about; empty when it is about none.
    pub tool_call_id: String,
    /// The question in one line.
    pub title: String,
    /// Everything that the answer binds to, whole.
    pub detail: String,
    /// The answers there are.
    pub options: Vec<PermissionOption>,
}

impl PermissionRequest {
    /// Whether its detail is a change to review, as lines with `-` and `+`.
    pub fn shows_a_change(&self) -> bool {
        self.tool_call_id.is_empty() && self.detail.starts_with(['@', '-', '+'])
    }
}

/// One answer that the user may give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionOption {
    /// What the front end answers with.
    pub id: String,
    /// What the user reads.
    pub label: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionKind {
    /// Yes, this time.
    AllowOnce,
    /// Yes, until the session ends.
    AllowSession,
    /// No.
    Reject,
}

/// A front end's way to ask its user.
pub trait Asker: Send + Sync {
    /// Asks, and brings the chosen option's id. `None`: no answer, which is a refusal.
    ///
    /// The future is dropped when the answer no longer matters; the question should then go away.
    fn ask(&self, session_id: &str, request: PermissionRequest) -> BoxFuture<'static, Option<String>>;
}
