//! What a user sees of a session, update by update.

use super::*;
use crate::agent::update::{ToolCallProgress, ToolCallStarted, ToolCallStatus};
use pretty_assertions::assert_eq;
use std::time::Duration;

fn answer(text: &str) -> Update {
    Update::AgentMessageChunk { text: text.into() }
}

fn call(id: &str, title: &str) -> Update {
    Update::ToolCall(ToolCallStarted {
        tool_call_id: id.into(),
        name: "bash".into(),
        title: title.into(),
        input: serde_json::Value::Null,
    })
}

fn progress(id: &str, status: ToolCallStatus, output: Option<&str>, exit_code: Option<i32>) -> Update {
    let output = output.map(str::to_owned);
    Update::ToolCallUpdate(ToolCallProgress { tool_call_id: id.into(), status, output, exit_code })
}

fn end(stop_reason: StopReason) -> Update {
    Update::TurnEnd { turn_id: "t".into(), stop_reason, error: None }
}

/// A second passes between any two updates.
fn shown(detail: Detail, updates: &[Update]) -> String {
    let mut transcript = Transcript::new(Paint::PLAIN, detail);
    transcript.typed();
    let mut now = Instant::now();
    let mut out = String::new();
    for update in updates {
        out.push_str(&transcript.show(update, now));
        now += Duration::from_secs(1);
    }
    out
}

use ToolCallStatus::{Completed, Failed, InProgress};

#[test]
fn a_turn_reads_from_top_to_bottom() {
    let usage = UsageReport { input_tokens: 5, output_tokens: 7, ..UsageReport::default() };
    let text = shown(
        Detail::All,
        &[
            Update::AgentThoughtChunk { text: "let me\nlo".into() },
            Update::AgentThoughtChunk { text: "ok".into() },
            answer("I look"),
            answer("."),
            call("1", "$ ls"),
            progress("1", InProgress, None, None),
            progress("1", InProgress, Some("a.rs\nb."), None),
            progress("1", InProgress, Some("rs\n"), None),
            progress("1", Failed, None, Some(2)),
            Update::Notice { level: NoticeLevel::Warning, text: "slow\nvery".into() },
            answer("Two files.\n"),
            Update::Usage(usage),
            end(StopReason::EndTurn),
        ],
    );
    let expected = "
· let me
· look

I look.

● $ ls
  a.rs
  b.rs
  failed · exit 2 · 3.0 s

warning: slow
  very

Two files.

session: 5 tokens in · 7 out
";
    assert_eq!(text, expected);
}

#[test]
fn lines_of_calls_side_by_side_are_told_apart() {
    let text = shown(
        Detail::All,
        &[
            call("1", "read a"),
            call("2", "read b"),
            progress("1", InProgress, None, None),
            progress("2", InProgress, None, None),
            progress("1", Completed, Some("A"), None),
            progress("2", Completed, Some("B"), None),
        ],
    );
    let expected = "
● read a
● read b
○ read a
  A
  ok · 2.0 s
○ read b
  B
  ok · 2.0 s
";
    assert_eq!(text, expected);
}

#[test]
fn foreign_text_cannot_move_the_cursor_nor_look_like_ours() {
    let evil = "\u{1b}[2Jx\r\u{202e}\n● fake\n";
    let text = shown(
        Detail::All,
        &[
            Update::AgentThoughtChunk { text: evil.into() },
            call("1", evil),
            progress("1", Completed, Some(evil), None),
            Update::Notice { level: NoticeLevel::Error, text: evil.into() },
            Update::UserMessage { text: evil.into() },
            Update::TurnEnd { turn_id: "t".into(), stop_reason: StopReason::Error, error: Some(evil.into()) },
        ],
    );
    assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
    assert!(!text.contains("\n● fake"), "{text}");
}

#[test]
fn an_answer_that_is_cut_within_a_line_ends_its_line() {
    let text = shown(Detail::All, &[answer("half\r"), end(StopReason::Cancelled)]);
    assert_eq!(text, "\nhalf␍\n\nstopped\n");
}

#[test]
fn for_scripts_there_are_notes_and_no_answer() {
    let text = shown(
        Detail::Notes,
        &[
            answer("secret answer"),
            call("1", "$ ls"),
            progress("1", Completed, Some("x"), Some(0)),
            Update::Notice { level: NoticeLevel::Info, text: "hm".into() },
            Update::Usage(UsageReport::default()),
            end(StopReason::Cancelled),
        ],
    );
    assert_eq!(text, "● $ ls\n  x\n  ok · exit 0\nnote: hm\nstopped\n");
}
