//! What a turn is waiting for: the model, a pause, tools, the user. At most one of each kind but tools.

use super::outbox::Outbox;
use super::turn::{CallEnd, Event, Verdict};
use crate::claude::{Failure, MessageStream, ModelInfo, StreamEvent, TokenUsage};
use crate::conversation::{Block, ResultPart};
use crate::limits::{TOOL_PROGRESS_WAITING_MAX, TOOLS_STOP_MAX_MS};
use crate::tools::{Consent, Progress, ToolContext};
use crate::view::{EditorView, SessionView};
use futures::future::BoxFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

/// What a turn is waiting for.
pub(super) struct Work {
    learning: Option<BoxFuture<'static, ModelInfo>>,
    asking: Option<Asking>,
    pause: Option<Pin<Box<Sleep>>>,
    question: Option<BoxFuture<'static, Verdict>>,
    wants_compaction: bool,
    tools: JoinSet<(usize, CallEnd)>,
    /// Which call each task runs, to answer for one that panics.
    running: Vec<(tokio::task::Id, usize)>,
    stop_tools: CancellationToken,
    progress_sink: mpsc::Sender<(usize, String)>,
    progress: mpsc::Receiver<(usize, String)>,
}

enum Asking {
    Connecting(BoxFuture<'static, Result<MessageStream, Failure>>),
    Streaming(Box<MessageStream>),
}

/// What came of it.
pub(super) enum Happened {
    Event(Event),
    Learned(ModelInfo),
    Stream(StreamEvent),
    /// The request failed before there was a stream.
    NoAnswer(Failure),
}

impl Default for Work {
    fn default() -> Self {
        let (progress_sink, progress) = mpsc::channel(TOOL_PROGRESS_WAITING_MAX);
        Self {
            learning: None,
            asking: None,
            pause: None,
            question: None,
            wants_compaction: false,
            tools: JoinSet::new(),
            running: Vec::new(),
            stop_tools: CancellationToken::new(),
            progress_sink,
            progress,
        }
    }
}

impl Work {
    pub(super) fn learn(&mut self, model: BoxFuture<'static, ModelInfo>) {
        self.learning = Some(model);
    }

    pub(super) fn ask(&mut self, request: BoxFuture<'static, Result<MessageStream, Failure>>) {
        self.asking = Some(Asking::Connecting(request));
    }

    pub(super) fn stop_asking(&mut self) {
        self.asking = None;
    }

    /// Ends the stream and gives what can be kept of it, and what it used.
    pub(super) fn salvage(&mut self) -> Option<(Vec<Block>, TokenUsage)> {
        match self.asking.take() {
            Some(Asking::Streaming(stream)) => Some(stream.salvage()),
            _ => None,
        }
    }

    pub(super) fn wait(&mut self, delay: Duration) {
        self.pause = Some(Box::pin(tokio::time::sleep(delay)));
    }

    pub(super) fn question(&mut self, question: BoxFuture<'static, Verdict>) {
        self.question = Some(question);
    }

    pub(super) fn compact(&mut self) {
        self.wants_compaction = true;
    }

    pub(super) fn wants_compaction(&self) -> bool {
        self.wants_compaction
    }

    pub(super) fn compaction_begun(&mut self) {
        self.wants_compaction = false;
    }

    pub(super) fn tool_context(
        &self,
        index: usize,
        view: Arc<SessionView>,
        editor: EditorView,
        consent: Consent,
    ) -> ToolContext {
        let progress = Progress::of_call(index, self.progress_sink.clone());
        ToolContext { cancel: self.stop_tools.child_token(), progress, view, editor, consent }
    }

    pub(super) fn run_tool(&mut self, index: usize, tool: impl Future<Output = CallEnd> + Send + 'static) {
        let task = self.tools.spawn(async move { (index, tool.await) });
        self.running.push((task.id(), index));
    }

    /// Tells running tools to stop. They clean up on their own; the turn does not wait for them.
    pub(super) fn stop_tools(&mut self) {
        std::mem::take(&mut self.stop_tools).cancel();
        let mut stopped = std::mem::take(&mut self.tools);
        self.running.clear();
        tokio::spawn(async move {
            let all = async { while stopped.join_next().await.is_some() {} };
            // What is not done by then is aborted when the set is dropped.
            let _ = tokio::time::timeout(Duration::from_millis(TOOLS_STOP_MAX_MS), all).await;
        });
    }

    /// The next thing that happens. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self, outbox: &Outbox) -> Happened {
        let Self { learning, asking, pause, question, tools, running, progress, .. } = self;
        tokio::select! {
            biased;
            info = some(learning) => {
                *learning = None;
                Happened::Learned(info)
            }
            happened = stream(asking, outbox) => happened,
            () = some(pause) => {
                *pause = None;
                Happened::Event(Event::BackoffElapsed)
            }
            verdict = some(question) => {
                *question = None;
                Happened::Event(Event::RepeatsJudged(verdict))
            }
            event = tools_say(tools, running, progress, outbox) => Happened::Event(event),
        }
    }
}

/// What the tools bring; never, when none runs. A tool's last words come before its end, also when there is no room
/// for them yet: after its end they would be dropped.
async fn tools_say(
    tools: &mut JoinSet<(usize, CallEnd)>,
    running: &[(tokio::task::Id, usize)],
    progress: &mut mpsc::Receiver<(usize, String)>,
    outbox: &Outbox,
) -> Event {
    outbox.room().await;
    tokio::select! {
        biased;
        Some((index, output)) = progress.recv() => Event::ToolProgressed { index, output },
        Some(joined) = tools.join_next_with_id() => {
            let (index, end) = match joined {
                Ok((_, ended)) => ended,
                Err(error) => (index_of(running, error.id()), crashed()),
            };
            Event::ToolFinished { index, end }
        }
        else => std::future::pending().await,
    }
}

/// What the model's side brings; never, when it is not asked.
async fn stream(asking: &mut Option<Asking>, outbox: &Outbox) -> Happened {
    loop {
        match asking {
            None => std::future::pending().await,
            Some(Asking::Connecting(request)) => match request.await {
                Ok(stream) => *asking = Some(Asking::Streaming(Box::new(stream))),
                Err(failure) => {
                    *asking = None;
                    return Happened::NoAnswer(failure);
                }
            },
            Some(Asking::Streaming(stream)) => {
                outbox.room().await;
                return Happened::Stream(stream.next().await);
            }
        }
    }
}

/// A future that may not be there: then it is never ready.
async fn some<F: Future + Unpin>(future: &mut Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

fn index_of(running: &[(tokio::task::Id, usize)], task: tokio::task::Id) -> usize {
    running.iter().find(|(id, _)| *id == task).map_or(usize::MAX, |(_, index)| *index)
}

fn crashed() -> CallEnd {
    let text = "the tool itself crashed, which is a bug in Airlock or in the plugin";
    CallEnd {
        content: vec![ResultPart::text(text)],
        unseen: Some(text.to_owned()),
        is_error: true,
        exit_code: None,
    }
}
