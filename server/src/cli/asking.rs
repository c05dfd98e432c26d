//! Asking the person at the terminal.

use super::exit::Exit;
use super::interactive::{Flow, Interactive};
use super::line_editor::{Typed, read_answer};
use super::questions::{self, Question};
use super::signals::Signal;
use super::terminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Interactive {
    /// Asks until there is an answer, a refusal, or nobody who still wants to know.
    pub(super) async fn ask(&mut self, mut question: Question) -> Flow {
        // What was typed before the question was there is no answer to it.
        if let Ok(Ok(typed)) = tokio::task::spawn_blocking(terminal::take_typed).await {
            self.typed_ahead.push_str(&typed);
        }
        let question_text = questions::text(&question.request, self.paint, terminal::columns());
        let text = self.transcript.break_off() + "\n" + &question_text;
        self.write(&text).await?;
        let count = question.request.options.len();
        loop {
            let typed = match self.read_answer(&mut question, count).await? {
                Some(Typed::Text(typed)) => typed,
                Some(_) => {
                    self.write("refused\n").await?;
                    break;
                }
                None => {
                    self.write("\n(this is no longer asked)\n").await?;
                    break;
                }
            };
            if let Some(id) = questions::chosen(&question.request, &typed) {
                // Nobody may want to know any more, which is no loss.
                let _ = question.reply.send(id);
                break;
            }
            self.write(&format!("give a number from 1 to {count}; Ctrl-C refuses\n")).await?;
        }
        self.transcript.typed();
        Flow::Continue(())
    }

    /// What was typed; `None` when the question is no longer asked.
    async fn read_answer(&mut self, question: &mut Question, count: usize) -> Flow<Option<Typed>> {
        let stop = Arc::new(AtomicBool::new(false));
        let (signal, paint) = (Arc::clone(&stop), self.paint);
        let sign = format!("1-{count}? ");
        let mut reading = tokio::task::spawn_blocking(move || read_answer(signal, paint, &sign));
        tokio::select! {
            read = &mut reading => match read {
                Ok(Ok(typed)) => Flow::Continue(Some(typed)),
                // What cannot be read is no consent.
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the answer cannot be read");
                    Flow::Continue(Some(Typed::End))
                }
                Err(error) => {
                    tracing::error!(%error, "the line editor failed");
                    Flow::Continue(Some(Typed::End))
                }
            },
            () = question.reply.closed() => {
                stop.store(true, Ordering::Relaxed);
                // It gives the terminal back; what it read is of no use.
                let _ = reading.await;
                Flow::Continue(None)
            }
            signal = self.signals.next_that_ends() => {
                stop.store(true, Ordering::Relaxed);
                // Of a terminal that is gone the reader only ever reads its end, and never looks up.
                if !matches!(signal, Signal::HangUp) {
                    let _ = reading.await;
                }
                Flow::Break(Exit::Signalled(signal))
            }
        }
    }
}
