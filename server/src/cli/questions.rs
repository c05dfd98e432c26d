//! Questions to the user, on their way from a turn to the task that owns the terminal.

use super::line_prefix::with_prefix;
use super::paint::Paint;
use crate::agent::permission::{Asker, PermissionRequest};
use crate::limits::CHAT_QUESTIONS_MAX;
use crate::neutral::{neutral, neutral_line};
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

/// A question that waits for its answer. Dropped, it counts as refused.
pub(super) struct Question {
    pub(super) request: PermissionRequest,
    pub(super) reply: oneshot::Sender<String>,
}

/// The way for questions: the asker for the session, and what takes them.
pub(super) fn channel() -> (Questioner, mpsc::Receiver<Question>) {
    let (sender, receiver) = mpsc::channel(CHAT_QUESTIONS_MAX);
    (Questioner(sender), receiver)
}

/// Hands a session's questions on.
pub(super) struct Questioner(mpsc::Sender<Question>);

impl Asker for Questioner {
    fn ask(&self, _session_id: &str, request: PermissionRequest) -> BoxFuture<'static, Option<String>> {
        let sender = self.0.clone();
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            sender.send(Question { request, reply }).await.ok()?;
            answer.await.ok()
        })
    }
}

/// What stands before each line of detail.
const BAR: &str = "  │ ";
/// How many lines of detail may stand between a question's title and its options before the title is repeated.
const TITLE_OUT_OF_SIGHT_LINES: usize = 12;

/// A question as text: the whole of what the answer binds to, then the options, numbered from 1.
pub(super) fn text(request: &PermissionRequest, paint: Paint, columns: Option<usize>) -> String {
    let title = neutral_line(&request.title);
    let detail = neutral(&request.detail);
    let mut text = format!("{} {}\n", paint.doubtful("?"), paint.bold(&title));
    if !detail.trim().is_empty() {
        let lines = with_prefix(BAR, columns, &detail);
        text.push_str(&if request.shows_a_change() { coloured(&lines, paint) } else { lines });
    }
    let lines = detail.lines().count();
    if lines > TITLE_OUT_OF_SIGHT_LINES {
        text.push_str(&format!("{} {} ({lines} lines above)\n", paint.doubtful("?"), paint.bold(&title)));
    }
    for (index, option) in request.options.iter().enumerate() {
        text.push_str(&format!("  {}) {}\n", index + 1, neutral_line(&option.label)));
    }
    text
}

fn coloured(lines: &str, paint: Paint) -> String {
    let line = |line: &str| match line.strip_prefix(BAR) {
        Some(text) => format!("{BAR}{}", paint.diff(text)),
        None => format!("{line}\n"),
    };
    lines.lines().map(line).collect()
}

/// The option that a typed answer names.
pub(super) fn chosen(request: &PermissionRequest, typed: &str) -> Option<String> {
    let number: usize = typed.trim().parse().ok()?;
    request.options.get(number.checked_sub(1)?).map(|option| option.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::permission::{PermissionKind, PermissionOption};
    use pretty_assertions::assert_eq;

    fn request(detail: &str) -> PermissionRequest {
        let option =
            |id: &str, label: &str, kind| PermissionOption { id: id.into(), label: label.into(), kind };
        PermissionRequest {
            tool_call_id: "1".into(),
            title: "Run it?".into(),
            detail: detail.into(),
            options: vec![
                option("yes", "Yes", PermissionKind::AllowOnce),
                option("no", "No", PermissionKind::Reject),
            ],
        }
    }

    #[test]
    fn everything_the_answer_binds_to_is_shown_and_nothing_passes_for_an_option() {
        let text = text(&request("rm -rf x\n  1) harmless\n\u{1b}[8mhidden"), Paint::PLAIN, None);
        let expected = "? Run it?\n  │ rm -rf x\n  │   1) harmless\n  │ ␛[8mhidden\n  1) Yes\n  2) No\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_long_detail_does_not_push_the_question_out_of_sight() {
        let text = text(&request(&"line\n".repeat(400)), Paint::PLAIN, None);
        assert_eq!(text.matches("line\n").count(), 400);
        assert!(text.ends_with("? Run it? (400 lines above)\n  1) Yes\n  2) No\n"));
    }

    #[test]
    fn only_a_number_that_was_offered_is_an_answer() {
        let request = request("");
        assert_eq!(chosen(&request, " 1 ").as_deref(), Some("yes"));
        assert_eq!(chosen(&request, "2").as_deref(), Some("no"));
        for typed in ["", "0", "3", "yes", "-1", "99999999999999999999"] {
            assert_eq!(chosen(&request, typed), None, "{typed}");
        }
    }

    #[tokio::test]
    async fn a_question_that_nobody_takes_is_refused() {
        let (asker, mut questions) = channel();
        let asked = tokio::spawn(asker.ask("s", request("")));
        drop(questions.recv().await);
        assert_eq!(asked.await.unwrap(), None);
        drop(questions);
        assert_eq!(asker.ask("s", request("")).await, None);
    }
}
