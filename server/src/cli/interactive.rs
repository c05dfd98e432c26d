//! A person at a terminal: one prompt after the other, each answer as it comes.
//!
//! Architecture invariant: either the line editor has the terminal or this task has. What happens in the session
//! meanwhile waits in the outbox.

use super::banner;
use super::chat::Conversation;
use super::exit::Exit;
use super::line_editor::{LineEditor, Typed};
use super::output::Output;
use super::paint::Paint;
use super::questions::Question;
use super::signals::{Signal, Signals};
use super::terminal::{self, Listening};
use super::transcript::{Detail, Transcript};
use crate::agent::update::{NoticeLevel, Update};
use crate::agent::{Agent, Prompt, Session};
use crate::limits::PROMPT_MAX_BYTES;
use futures::FutureExt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::Stdout;
use tokio::sync::mpsc;

/// Talks until the user ends it.
pub(super) async fn run(conversation: Conversation, first: Option<String>) -> Exit {
    let mut chat = Interactive::new(conversation);
    let talked = chat.talk(first).await;
    chat.end(talked).await
}

/// Says one thing and ends.
pub(super) async fn run_once(conversation: Conversation, prompt: String) -> Exit {
    let mut chat = Interactive::new(conversation);
    let talked = chat.say_once(prompt).await;
    chat.end(talked).await
}

/// Takes the waiting mark off the screen.
const CLEAR_LINE: &str = "\r\u{1b}[K";

/// Goes on, or the program ends in this way.
pub(super) type Flow<T = ()> = ControlFlow<Exit, T>;

pub(super) struct Interactive {
    agent: Arc<Agent>,
    session: Arc<Session>,
    questions: mpsc::Receiver<Question>,
    pub(super) signals: Signals,
    pub(super) paint: Paint,
    out: Output<Stdout>,
    pub(super) transcript: Transcript,
    /// A mark stands on the screen that goes with the first sign of life.
    waiting_mark: bool,
    /// What was typed while a turn ran, and a question came in between.
    pub(super) typed_ahead: String,
    /// Ctrl-C at the prompt may have been meant to end the program; said once.
    hint_at_end: bool,
}

impl Interactive {
    fn new(conversation: Conversation) -> Self {
        let Conversation { agent, session, questions, signals } = conversation;
        let paint = Paint::of_stream(agent.environment(), true);
        Self {
            agent,
            session,
            questions,
            signals,
            paint,
            out: Output::stdout(),
            transcript: Transcript::new(paint, Detail::All),
            waiting_mark: false,
            typed_ahead: String::new(),
            hint_at_end: true,
        }
    }

    async fn end(mut self, talked: Flow) -> Exit {
        // The shell's prompt comes next, and wants a line of its own. Where the terminal is gone, nobody does.
        let rest = if self.waiting_mark { CLEAR_LINE.to_owned() } else { self.transcript.break_off() };
        let _ = self.write(&rest).await;
        match talked {
            ControlFlow::Continue(()) => Exit::Well,
            ControlFlow::Break(exit) => exit,
        }
    }

    /// One turn, without what was said in the session before.
    async fn say_once(&mut self, prompt: String) -> Flow {
        // The session replays its history, which ends with what it used so far.
        let session = Arc::clone(&self.session);
        while let Some((_, update)) = session.outbox().next().await {
            if matches!(update, Update::Usage(_)) {
                break;
            }
        }
        self.turn(prompt).await
    }

    async fn talk(&mut self, first: Option<String>) -> Flow {
        let text = banner::text(&self.agent, &self.session, self.paint).await;
        self.write(&text).await?;
        let (mut editor, problem) = LineEditor::new(&self.session, self.agent.environment(), self.paint);
        if let Some(problem) = problem {
            self.note(NoticeLevel::Warning, &problem).await?;
        }
        if let Some(first) = first {
            self.show_what_waits().await?;
            let said = self.transcript.user(&first);
            self.write(&said).await?;
            self.turn(first).await?;
        }
        while !self.session.is_closed() {
            self.show_what_waits().await?;
            let space = self.transcript.break_off() + "\n";
            self.write(&space).await?;
            editor.put(std::mem::take(&mut self.typed_ahead).trim_end());
            let typed;
            (editor, typed) = self.read(editor).await?;
            self.transcript.typed();
            match typed {
                Typed::Text(text) if text.trim().is_empty() => {}
                Typed::Text(text) => self.turn(text.trim_end().to_owned()).await?,
                Typed::Nothing if std::mem::take(&mut self.hint_at_end) => {
                    self.write("(Ctrl-D ends, and so does /quit)\n").await?;
                }
                Typed::Nothing => {}
                Typed::End | Typed::Interrupted => break,
            }
        }
        Flow::Continue(())
    }

    /// Waits for a prompt, while the line editor has the terminal.
    async fn read(&mut self, mut editor: LineEditor) -> Flow<(LineEditor, Typed)> {
        let reading = tokio::task::spawn_blocking(move || {
            let typed = editor.read();
            (editor, typed)
        });
        let read = tokio::select! {
            read = reading => read,
            signal = self.signals.next_that_ends() => {
                terminal::give_back();
                self.write("\n").await?;
                return Flow::Break(Exit::Signalled(signal));
            }
        };
        match read {
            Ok((editor, Ok(typed))) => Flow::Continue((editor, typed)),
            Ok((_, Err(error))) => self.give_up(&format!("the terminal cannot be read: {error}")).await,
            Err(error) => self.give_up(&format!("the line editor failed, which is a bug: {error}")).await,
        }
    }

    async fn turn(&mut self, text: String) -> Flow {
        if text.len() > PROMPT_MAX_BYTES {
            let why = format!(
                "this is longer than {PROMPT_MAX_BYTES} bytes: put it in a file and mention it with @file"
            );
            return self.note(NoticeLevel::Error, &why).await;
        }
        // One that came while there was nothing to stop.
        self.signals.forget_interrupt();
        let listening = match Listening::begin() {
            Ok(listening) => Some(listening),
            Err(error) => {
                tracing::debug!(%error, "what is typed during the turn will be shown");
                None
            }
        };
        if let Err(refused) = self.session.prompt(Prompt::of_text(text)) {
            return self.note(NoticeLevel::Error, &refused.to_string()).await;
        }
        if self.paint.has_colours() {
            let mark = self.paint.dim("…");
            self.write(&mark).await?;
            self.waiting_mark = true;
        }
        self.follow(listening.as_ref()).await
    }

    /// Shows a turn until its end.
    async fn follow(&mut self, listening: Option<&Listening>) -> Flow {
        let session = Arc::clone(&self.session);
        loop {
            tokio::select! {
                biased;
                signal = self.signals.next() => match signal {
                    Signal::Interrupt => session.cancel(),
                    signal => return Flow::Break(Exit::Signalled(signal)),
                },
                update = session.outbox().next() => {
                    let Some((_, update)) = update else { return Flow::Continue(()) };
                    self.show(&update).await?;
                    if matches!(update, Update::TurnEnd { .. }) {
                        return Flow::Continue(());
                    }
                }
                Some(question) = self.questions.recv() => {
                    // What led to the question comes first.
                    self.show_what_waits().await?;
                    self.ask(question).await?;
                    if let Some(listening) = listening {
                        listening.mark_pastes();
                    }
                }
            }
        }
    }

    async fn show_what_waits(&mut self) -> Flow {
        let session = Arc::clone(&self.session);
        while let Some(Some((_, update))) = session.outbox().next().now_or_never() {
            self.show(&update).await?;
        }
        Flow::Continue(())
    }

    async fn show(&mut self, update: &Update) -> Flow {
        self.transcript.set_columns(terminal::columns());
        let text = self.transcript.show(update, Instant::now());
        self.write(&text).await
    }

    async fn note(&mut self, level: NoticeLevel, text: &str) -> Flow {
        let text = self.transcript.note(level, text);
        self.write(&text).await
    }

    async fn give_up<T>(&mut self, why: &str) -> Flow<T> {
        self.note(NoticeLevel::Error, why).await?;
        Flow::Break(Exit::Failed)
    }

    pub(super) async fn write(&mut self, text: &str) -> Flow {
        if text.is_empty() {
            return Flow::Continue(());
        }
        let clear_mark = if std::mem::take(&mut self.waiting_mark) { CLEAR_LINE } else { "" };
        match self.out.write(&format!("{clear_mark}{text}")).await {
            Ok(()) => Flow::Continue(()),
            // The terminal is gone, so there is no telling.
            Err(_) => Flow::Break(Exit::OutputClosed),
        }
    }
}
