//! Drives a turn: does what the machine wants and tells it what happened. The only place of the agent that waits.

use super::compaction::{Compactor, Summarised};
use super::history::{Entry, Saved};
use super::in_words::in_words;
use super::permission::{PermissionKind, PermissionOption, PermissionRequest};
use super::plugin_work::consent;
use super::session::{Session, State, TurnOver};
use super::turn::{
    Arrived, Bounds, CallEnd, Compaction, Effect, Event, RepeatedCall, ToolCall, Turn, Verdict,
};
use super::update::{NoticeLevel, Update};
use super::usage::prices_of;
use super::work::{Happened, Work};
use crate::claude::{MessageRequest, ModelInfo, Received, StreamEvent, TokenUsage};
use crate::config::Thinking;
use crate::conversation::{Block, Message, ResultPart};
use crate::limits::TURN_LAST_SAVE_MAX_MS;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// One turn on its way.
pub(super) struct Driver<'a> {
    session: &'a Arc<Session>,
    state: &'a mut State,
    cancel: &'a CancellationToken,
    model: String,
    info: ModelInfo,
    turn: Turn,
    work: Work,
    /// The view as it was before the turn's first call that may write.
    checkpoint: Arc<OnceCell<()>>,
}

impl<'a> Driver<'a> {
    /// A turn that has not begun. The header must be there.
    pub(super) fn new(
        session: &'a Arc<Session>,
        state: &'a mut State,
        cancel: &'a CancellationToken,
        model: String,
        checkpoint: Arc<OnceCell<()>>,
    ) -> Self {
        let bounds = Bounds { rounds_max: state.settings.max_rounds, retries_max: state.settings.retries };
        let turn = Turn::new(bounds, state.ledger.context_used(), state.ask_about_repeats);
        let info = ModelInfo::default();
        Self { session, state, cancel, model, info, turn, work: Work::default(), checkpoint }
    }

    /// Runs the turn to its end.
    pub(super) async fn run(mut self, prompt: Message) -> TurnOver {
        let mut event = Event::Prompted(prompt);
        loop {
            for effect in self.turn.step(event) {
                if let Effect::End { stop_reason, error } = effect {
                    return TurnOver { stop_reason, error, quit: false };
                }
                self.perform(effect).await;
            }
            event = self.next_event().await;
        }
    }

    async fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Append(message) => self.append(message).await,
            Effect::LearnModel => {
                let (agent, model) = (Arc::clone(&self.session.agent), self.model.clone());
                self.work.learn(Box::pin(async move { agent.model_info(&model).await }));
            }
            Effect::AskModel => {
                let request = self.session.agent.claude.ask(&self.request());
                self.work.ask(Box::pin(request));
            }
            Effect::Wait(delay) => self.work.wait(delay),
            Effect::RunTool { index, call } => self.run_tool(index, call),
            Effect::StopTools => self.work.stop_tools(),
            Effect::AskAboutRepeats(repeated) => self.ask_about_repeats(&repeated),
            Effect::Compact => self.work.compact(),
            Effect::Show(update) => self.session.outbox.push(update),
            // `run` takes it.
            Effect::End { .. } => {}
        }
    }

    /// What happens next. A cancel comes before everything else.
    async fn next_event(&mut self) -> Event {
        if self.work.wants_compaction() {
            return self.compact().await;
        }
        let happened = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Event::Cancelled { salvage: self.salvage().await },
            happened = self.work.next(&self.session.outbox) => happened,
        };
        match happened {
            Happened::Event(event) => event,
            Happened::Learned(info) => {
                self.info = info;
                Event::ModelLearned { context_size: info.context_size }
            }
            Happened::Stream(StreamEvent::Text(text)) => Event::TextArrived(text),
            Happened::Stream(StreamEvent::Thinking(text)) => Event::ThoughtArrived(text),
            Happened::Stream(StreamEvent::ToolUse { id, name, input, defect }) => {
                let tools = &self.state.shelved.tools;
                let (title, reads_only) = (tools.title(&name, &input), tools.reads_only(&name));
                Event::CallArrived(ToolCall { id, name, input, defect, title, reads_only })
            }
            Happened::Stream(StreamEvent::Finished(message)) => self.message_arrived(message).await,
            Happened::Stream(StreamEvent::Failed(failure)) | Happened::NoAnswer(failure) => {
                Event::RequestFailed { failure, salvage: self.salvage().await, jitter: jitter() }
            }
        }
    }

    async fn message_arrived(&mut self, message: Received) -> Event {
        self.work.stop_asking();
        self.record(&message.usage).await;
        self.show_usage();
        Event::MessageArrived(Arrived { message, over_budget: self.state.over_budget() })
    }

    /// Ends the stream and gives what can be kept of it. What it used is counted: it is paid for.
    async fn salvage(&mut self) -> Vec<Block> {
        let Some((blocks, usage)) = self.work.salvage() else { return Vec::new() };
        if usage != TokenUsage::default() {
            self.record(&usage).await;
            self.show_usage();
        }
        blocks
    }

    /// Counts what a message used.
    async fn record(&mut self, usage: &TokenUsage) {
        let prices = prices_of(&self.model, &self.state.settings.prices);
        self.state.ledger.record(&self.model, usage, prices);
        self.tell_cost_unknown();
        let entry = super::history::UsageEntry::new(&self.model, *usage);
        // The message that follows is waited for, and lines are written in order.
        drop(self.state.write(Entry::Usage(entry)).await);
    }

    /// Once: a bound that the user relies on does not hold.
    fn tell_cost_unknown(&mut self) {
        let bounded = self.state.settings.max_session_cost_usd.is_some();
        if let Some(model) = self.state.ledger.unpriced().filter(|_| bounded)
            && !std::mem::replace(&mut self.state.told_cost_unknown, true)
        {
            let text = format!(
                "what {model} costs is not known, so max_session_cost_usd cannot stop this session: put its prices \
                 under [prices] in your config.toml"
            );
            self.session.notice(NoticeLevel::Warning, text);
        }
    }

    fn show_usage(&self) {
        self.session.outbox.push(Update::Usage(self.state.ledger.report(self.info.context_size)));
    }

    async fn append(&mut self, message: Message) {
        let saved = self.state.write(Entry::Message(message.clone())).await;
        self.state.conversation.push(message);
        self.until_saved(saved).await;
    }

    /// Waits until a line is on the disk; after a cancel not longer than the user would notice.
    async fn until_saved(&mut self, saved: Option<Saved>) {
        let Some(saved) = saved else { return };
        let patience = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_millis(TURN_LAST_SAVE_MAX_MS)).await;
        };
        let result = tokio::select! {
            result = saved => result,
            () = patience => return,
        };
        let was_behind = std::mem::replace(&mut self.state.is_behind, matches!(result, Ok(Err(_))));
        match result {
            Ok(Err(error)) if !was_behind => {
                let path = self.state.history.as_ref().map(|history| history.path().display().to_string());
                let text = format!(
                    "the history {} cannot be written ({error}): the conversation goes on, and is written when it can be",
                    path.unwrap_or_default()
                );
                self.session.notice(NoticeLevel::Error, text);
            }
            Ok(Ok(())) if was_behind => {
                let text = "the history is written again, and nothing is missing in it";
                self.session.notice(NoticeLevel::Info, text);
            }
            _ => {}
        }
    }

    fn request(&self) -> MessageRequest<'_> {
        let header = self.state.header.as_ref();
        MessageRequest {
            model: &self.model,
            max_tokens: self.max_tokens(),
            system: header.map_or("", |header| &header.system),
            tools: header.map_or(&[], |header| &header.tools),
            messages: &self.state.conversation,
            adaptive_thinking: self.adaptive_thinking(),
        }
    }

    fn max_tokens(&self) -> u64 {
        u64::from(self.state.settings.max_tokens).min(self.info.max_output.unwrap_or(u64::MAX))
    }

    fn adaptive_thinking(&self) -> bool {
        self.info.adaptive_thinking && self.state.settings.thinking == Thinking::Auto
    }

    fn run_tool(&mut self, index: usize, call: ToolCall) {
        let (session, tools) = (Arc::clone(self.session), Arc::clone(&self.state.shelved.tools));
        let checkpoint = Arc::clone(&self.checkpoint);
        let consent = consent(self.session, &call.id, self.state.settings.permission_timeout_s);
        let editor = self.session.editor_view(self.state);
        let context = self.work.tool_context(index, Arc::clone(&self.session.view), editor, consent);
        self.work.run_tool(index, async move {
            let writes = !tools.reads_only(&call.name);
            if writes {
                checkpoint.get_or_init(|| session.keep_checkpoint()).await;
            }
            let mut outcome = tools.run(&call.name, call.input, context).await;
            let unseen = (!outcome.shown).then(|| outcome.all_text());
            if writes {
                session.view.capture().await;
                outcome.content.extend(session.over_disk_quota().await.map(ResultPart::text));
            }
            CallEnd {
                content: outcome.content,
                unseen,
                is_error: outcome.is_error,
                exit_code: outcome.exit_code,
            }
        });
    }

    fn ask_about_repeats(&mut self, repeated: &RepeatedCall) {
        let option =
            |id: &str, label: &str, kind| PermissionOption { id: id.into(), label: label.into(), kind };
        let request = PermissionRequest {
            tool_call_id: repeated.call.id.clone(),
            title: format!(
                "The agent made the same call {} times with the same result. Go on?",
                repeated.times
            ),
            detail: format!("{}\n{}", repeated.call.title, in_words(&repeated.call.input)),
            options: vec![
                option("continue", "Continue", PermissionKind::AllowOnce),
                option("continue_session", "Continue, do not ask again", PermissionKind::AllowSession),
                option("stop", "Stop", PermissionKind::Reject),
            ],
        };
        let asked = self.session.asker.ask(&self.session.id, request);
        let wait_max = Duration::from_secs(self.state.settings.permission_timeout_s);
        self.work.question(Box::pin(async move {
            let answer = tokio::time::timeout(wait_max, asked).await.ok().flatten();
            match answer.as_deref() {
                Some("continue") => Verdict::GoOn,
                Some("continue_session") => Verdict::GoOnForGood,
                _ => Verdict::Stop,
            }
        }));
    }

    async fn compact(&mut self) -> Event {
        self.work.compaction_begun();
        let session = self.session;
        let summarised = {
            let MessageRequest { model, max_tokens, system, tools, messages, adaptive_thinking } =
                self.request();
            let compactor = Compactor {
                claude: &session.agent.claude,
                model,
                max_tokens,
                system,
                tools,
                adaptive_thinking,
                conversation: messages,
                context_used: self.state.ledger.context_used(),
                context_size: self.info.context_size,
                retries_max: self.state.settings.retries,
                tell: &|text| session.notice(NoticeLevel::Warning, text),
            };
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Event::Cancelled { salvage: Vec::new() },
                summarised = compactor.compact() => summarised,
            }
        };
        Event::Compacted(match summarised {
            Ok(summarised) => self.begin_anew(summarised).await,
            Err(why) => Compaction::Failed(why),
        })
    }

    async fn begin_anew(&mut self, summarised: Summarised) -> Compaction {
        self.record(&summarised.usage).await;
        let (beginning, context_used) = match summarised.beginning {
            Ok(beginning) => beginning,
            Err(why) => {
                self.show_usage();
                return Compaction::Failed(why);
            }
        };
        let saved = self.state.write(Entry::Compacted { message: beginning.clone() }).await;
        self.state.conversation = vec![beginning];
        // The summary may not have it.
        self.state.told_date = None;
        self.state.ledger.set_context_used(context_used);
        self.show_usage();
        self.until_saved(saved).await;
        self.session
            .notice(NoticeLevel::Info, "the conversation was summarised; it goes on from the summary");
        match self.state.over_budget() {
            Some(why) => Compaction::Failed(why),
            None => Compaction::Freed { context_used },
        }
    }

    /// Compacts now, at the user's wish, outside of a turn's loop.
    pub(super) async fn compact_only(mut self) -> Result<(u64, u64), String> {
        if let Some(why) = self.state.over_budget() {
            return Err(why);
        }
        let before = self.state.ledger.context_used();
        self.session.notice(NoticeLevel::Info, "the conversation is being summarised");
        self.info = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err("stopped".to_owned()),
            info = self.session.agent.model_info(&self.model) => info,
        };
        match self.compact().await {
            Event::Compacted(Compaction::Freed { context_used }) => Ok((before, context_used)),
            Event::Compacted(Compaction::Failed(why)) => Err(why),
            _ => Err("stopped".to_owned()),
        }
    }
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        self.state.ask_about_repeats &= self.turn.asks_about_repeats();
    }
}

/// Between 0 and 1; nothing depends on its quality.
fn jitter() -> f64 {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |time| time.subsec_nanos());
    f64::from(nanos % 1_000_003) / 1_000_003.0
}
