//! One prompt, one answer, for scripts: the answer on stdout, everything else on stderr.

use super::answer::Answer;
use super::chat::Conversation;
use super::exit::Exit;
use super::output::Output;
use super::paint::Paint;
use super::questions::Question;
use super::signals::Signals;
use super::terminal;
use super::transcript::{Detail, Transcript};
use crate::agent::update::{NoticeLevel, StopReason, Update};
use crate::agent::{Prompt, Session};
use futures::FutureExt;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncWrite, Stderr, Stdout};
use tokio::sync::mpsc;

/// Takes one turn and tells how it ended.
pub(super) async fn run(conversation: Conversation, prompt: String) -> Exit {
    let Conversation { agent, session, questions, signals } = conversation;
    let stderr_is_terminal = io::stderr().is_terminal();
    let paint = Paint::of_stream(agent.environment(), stderr_is_terminal);
    let mut turn = OneTurn {
        session,
        questions,
        signals,
        stdout: Output::stdout(),
        stderr: Output::stderr(),
        answer: Answer::default(),
        notes: Transcript::new(paint, Detail::Notes),
        stderr_is_terminal,
        same_screen: stderr_is_terminal && io::stdout().is_terminal(),
        cut_short: None,
    };
    if let Err(refused) = turn.session.prompt(Prompt::of_text(prompt)) {
        turn.note(NoticeLevel::Error, &refused.to_string()).await;
        return Exit::Failed;
    }
    let stop_reason = turn.follow().await;
    match (turn.cut_short, stop_reason) {
        (Some(exit), _) => exit,
        (None, Some(StopReason::EndTurn)) => Exit::Well,
        (None, _) => Exit::Failed,
    }
}

struct OneTurn {
    session: Arc<Session>,
    questions: mpsc::Receiver<Question>,
    signals: Signals,
    stdout: Output<Stdout>,
    stderr: Output<Stderr>,
    answer: Answer,
    notes: Transcript,
    stderr_is_terminal: bool,
    /// Answer and notes meet on one terminal.
    same_screen: bool,
    /// Why nothing more is written. The turn is being stopped then.
    cut_short: Option<Exit>,
}

impl OneTurn {
    /// Sees the turn to its end; `None` when there was no waiting for it.
    async fn follow(&mut self) -> Option<StopReason> {
        let session = Arc::clone(&self.session);
        loop {
            tokio::select! {
                biased;
                signal = self.signals.next() => {
                    if self.cut_short.is_some() {
                        return None;
                    }
                    self.cut_short(Exit::Signalled(signal));
                }
                update = session.outbox().next() => {
                    let (_, update) = update?;
                    if let Some(stop_reason) = self.take(&update).await {
                        return Some(stop_reason);
                    }
                }
                Some(question) = self.questions.recv() => {
                    // What led to the question comes first.
                    while let Some(Some((_, update))) = session.outbox().next().now_or_never() {
                        if let Some(stop_reason) = self.take(&update).await {
                            return Some(stop_reason);
                        }
                    }
                    self.refuse(question).await;
                }
            }
        }
    }

    async fn take(&mut self, update: &Update) -> Option<StopReason> {
        let stop_reason = match update {
            Update::TurnEnd { stop_reason, .. } => Some(*stop_reason),
            _ => None,
        };
        let answer = match update {
            Update::AgentMessageChunk { text } => self.answer.push(text),
            Update::ToolCall(_) => self.answer.pause(),
            Update::TurnEnd { .. } => self.answer.finish(),
            _ => String::new(),
        };
        self.write_answer(&answer).await;
        if self.stderr_is_terminal {
            self.notes.set_columns(terminal::columns());
        }
        let note = self.notes.show(update, Instant::now());
        self.write_note(&note).await;
        stop_reason
    }

    /// Nobody is there to ask.
    async fn refuse(&mut self, question: Question) {
        let text = format!("{} Refused, for nobody can be asked here", question.request.title);
        self.note(NoticeLevel::Warning, &text).await;
    }

    async fn note(&mut self, level: NoticeLevel, text: &str) {
        let note = self.notes.note(level, text);
        self.write_note(&note).await;
    }

    async fn write_answer(&mut self, text: &str) {
        if self.cut_short.is_some() {
            return;
        }
        match write(&mut self.stdout, &mut self.signals, text).await {
            Ok(()) => {}
            Err(Unwritten::Signalled(exit)) => self.cut_short(exit),
            Err(Unwritten::Failed(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.cut_short(Exit::OutputClosed);
            }
            Err(Unwritten::Failed(error)) => {
                self.note(NoticeLevel::Error, &format!("the answer cannot be written: {error}")).await;
                self.cut_short(Exit::Failed);
            }
        }
    }

    async fn write_note(&mut self, text: &str) {
        if self.cut_short.is_some() || text.is_empty() {
            return;
        }
        let line_end = if self.same_screen { self.answer.end_line() } else { "" };
        match write(&mut self.stderr, &mut self.signals, &format!("{line_end}{text}")).await {
            Err(Unwritten::Signalled(exit)) => self.cut_short(exit),
            // Who closed stderr does not want to know.
            Ok(()) | Err(Unwritten::Failed(_)) => {}
        }
    }

    fn cut_short(&mut self, exit: Exit) {
        self.cut_short = Some(exit);
        self.session.cancel();
    }
}

/// Why a text is not out.
enum Unwritten {
    Signalled(Exit),
    Failed(io::Error),
}

/// Writes, unless a signal comes: a reader may never read on.
async fn write<W: AsyncWrite + Unpin>(
    output: &mut Output<W>,
    signals: &mut Signals,
    text: &str,
) -> Result<(), Unwritten> {
    tokio::select! {
        biased;
        written = output.write(text) => written.map_err(Unwritten::Failed),
        signal = signals.next() => Err(Unwritten::Signalled(Exit::Signalled(signal))),
    }
}
