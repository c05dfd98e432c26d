//! The agent's words in the extension's.

use super::protocol::{self as wire, Command, KeptSession, PermissionChoice, PermissionParams, WireUpdate};
use crate::agent::history::Summary;
use crate::agent::permission::{PermissionKind, PermissionRequest};
use crate::agent::update::{
    CommandInfo, Isolation, NoticeLevel, SandboxState, StopReason, ToolCallStatus, Update,
};
use crate::review;

pub(super) fn update(update: &Update) -> WireUpdate<'_> {
    match update {
        Update::UserMessage { text } => WireUpdate::UserMessage { text },
        Update::AgentMessageChunk { text } => WireUpdate::AgentMessageChunk { text },
        Update::AgentThoughtChunk { text } => WireUpdate::AgentThoughtChunk { text },
        Update::ToolCall(call) => WireUpdate::ToolCall {
            tool_call_id: &call.tool_call_id,
            name: &call.name,
            title: &call.title,
            input: &call.input,
            status: "pending",
        },
        Update::ToolCallUpdate(progress) => WireUpdate::ToolCallUpdate {
            tool_call_id: &progress.tool_call_id,
            status: match progress.status {
                ToolCallStatus::InProgress => "in_progress",
                ToolCallStatus::Completed => "completed",
                ToolCallStatus::Failed => "failed",
            },
            output: progress.output.as_deref(),
            exit_code: progress.exit_code,
        },
        Update::Usage(usage) => WireUpdate::Usage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            cost_usd: usage.cost_usd,
            context_used: usage.context_used,
            context_size: usage.context_size,
        },
        Update::Sandbox { state, isolation, detail } => WireUpdate::Sandbox {
            state: match state {
                SandboxState::Starting => "starting",
                SandboxState::Ready => "ready",
                SandboxState::Failed => "failed",
                SandboxState::Stopped => "stopped",
            },
            isolation: isolation.map(|isolation| match isolation {
                Isolation::Microvm => "microvm",
                Isolation::Container => "container",
            }),
            detail: detail.as_deref(),
        },
        Update::Changes { count, files } => WireUpdate::Changes { count: *count, files: *files },
        Update::Commands { commands } => WireUpdate::Commands { commands: self::commands(commands) },
        Update::Model { model } => WireUpdate::Model { model },
        Update::Notice { level, text } => WireUpdate::Notice {
            level: match level {
                NoticeLevel::Info => "info",
                NoticeLevel::Warning => "warning",
                NoticeLevel::Error => "error",
            },
            text,
        },
        Update::TurnEnd { turn_id, stop_reason, error } => WireUpdate::TurnEnd {
            turn_id,
            stop_reason: match stop_reason {
                StopReason::EndTurn => "end_turn",
                StopReason::MaxTokens => "max_tokens",
                StopReason::MaxTurnRequests => "max_turn_requests",
                StopReason::Refusal => "refusal",
                StopReason::Cancelled => "cancelled",
                StopReason::Error => "error",
            },
            error: error.as_deref(),
        },
    }
}

pub(super) fn commands(commands: &[CommandInfo]) -> Vec<Command> {
    let command = |info: &CommandInfo| Command {
        name: info.name.clone(),
        description: info.description.clone(),
        hint: info.hint.clone(),
    };
    commands.iter().map(command).collect()
}

pub(super) fn kept(summary: Summary) -> KeptSession {
    KeptSession {
        session_id: summary.id,
        title: summary.title,
        updated_at: summary.updated_at.to_string(),
        messages: summary.messages,
    }
}

pub(super) fn permission(session_id: &str, request: PermissionRequest) -> PermissionParams {
    let choice = |option: crate::agent::permission::PermissionOption| PermissionChoice {
        id: option.id,
        label: option.label,
        kind: match option.kind {
            PermissionKind::AllowOnce => "allow_once",
            PermissionKind::AllowSession => "allow_session",
            PermissionKind::Reject => "reject",
        }
        .to_owned(),
    };
    PermissionParams {
        session_id: session_id.to_owned(),
        tool_call_id: request.tool_call_id,
        title: request.title,
        detail: request.detail,
        options: request.options.into_iter().map(choice).collect(),
    }
}

/// What waits for review.
pub(super) fn changes(listing: review::Listing) -> wire::ChangeList {
    wire::ChangeList {
        digest: listing.digest(),
        changes: listing.changes.iter().map(change).collect(),
        ignored: listing.ignored,
        remarks: listing.remarks,
    }
}

fn change(change: &review::Change) -> wire::Change {
    wire::Change {
        path: change.path.as_str().to_owned(),
        digest: change.digest.clone(),
        kind: match change.kind {
            review::ChangeKind::Created => "created",
            review::ChangeKind::Modified => "modified",
            review::ChangeKind::Deleted => "deleted",
        },
        binary: change.binary,
        protected: change.protected,
        conflict: change.conflict.is_some(),
        hunks: change.hunks.iter().map(hunk).collect(),
        proposed: change.proposed_text().map(str::to_owned),
    }
}

fn hunk(hunk: &review::Hunk) -> wire::Hunk {
    let (old_start, old_lines, new_start, new_lines) = match hunk.part.lines() {
        Some(lines) => (lines.old_start + 1, lines.old_lines, lines.new_start + 1, lines.new_lines),
        None => (0, 0, 0, 0),
    };
    let conflict = hunk.conflict_ids().map(|[theirs, both]| wire::ConflictIds { theirs, both });
    wire::Hunk {
        id: hunk.id.clone(),
        old_start,
        old_lines,
        new_start,
        new_lines,
        text: hunk.text(),
        conflict,
    }
}

/// What a client displays.
pub(super) fn displayed(shown: wire::Shown) -> review::Displayed {
    review::Displayed { list: shown.list, changes: shown.shown }
}

/// What came of accepting or rejecting.
pub(super) fn reviewed(outcome: review::Outcome) -> wire::Reviewed {
    let failed = |(path, why)| wire::NotReviewed { path, why };
    wire::Reviewed {
        done: outcome.done.iter().map(|path| path.as_str().to_owned()).collect(),
        failed: outcome.failed.into_iter().map(failed).collect(),
    }
}
