//! A turn: from a user's prompt until the agent stops. A pure machine: events in, effects out.
//!
//! Architecture invariant: nothing here awaits, reads a clock or touches the world, so every race and fault is a
//! unit test. Whatever happens, a turn gives exactly one [`Effect::End`], and the messages that it appends are
//! always ones that the API accepts: each tool call has its result, and no earlier message changes.

mod batch;
mod effect;
mod event;
mod repeats;

pub use effect::{Effect, RepeatedCall};
pub use event::{Arrived, CallEnd, Compaction, Event, ToolCall, Verdict};

use super::update::{NoticeLevel, StopReason, ToolCallProgress, ToolCallStarted, ToolCallStatus, Update};
use crate::claude::{Failure, StopCause, retry};
use crate::conversation::{Block, Message, Role};
use crate::limits::{COMPACT_AT_PERCENT, TURN_SAME_CALL_MAX};
use batch::Batch;
use repeats::Repeats;
use std::time::Duration;

/// What bounds a turn.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Messages that the turn may ask of the model.
    pub rounds_max: u32,
    /// How often a request is tried again.
    pub retries_max: u32,
}

/// One turn.
pub struct Turn {
    bounds: Bounds,
    /// Tokens of the model's window.
    context_size: u64,
    phase: Phase,
    rounds: u32,
    /// Failed tries of the present round.
    failures: u32,
    repeats: Repeats,
    /// What the conversation fills of the window, roughly.
    context_used: u64,
    /// A compaction was made and no message has come since.
    just_compacted: bool,
}

enum Phase {
    /// Before the prompt.
    Waiting,
    /// What the model can do is being found out.
    Learning,
    /// The model is asked. Holds the calls that were shown and wait for the message's end.
    Asking {
        calls: Vec<ToolCall>,
    },
    BackingOff,
    Compacting,
    RunningTools(Batch),
    /// The user is asked whether to go on.
    AskingUser,
    Ended,
}

impl Turn {
    /// A turn that has not begun. `context_used` is what the conversation fills of the window already.
    pub fn new(bounds: Bounds, context_used: u64, ask_about_repeats: bool) -> Self {
        let repeats = Repeats::new(ask_about_repeats.then_some(TURN_SAME_CALL_MAX));
        Self {
            bounds,
            context_size: u64::MAX,
            phase: Phase::Waiting,
            rounds: 0,
            failures: 0,
            repeats,
            context_used,
            just_compacted: false,
        }
    }

    /// Takes what happened and says what to do, in order. After the end it does nothing.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        match (phase, event) {
            (Phase::Ended, _) => Vec::new(),
            (phase, Event::Cancelled { salvage }) => self.cancelled(phase, salvage),
            (Phase::Waiting, Event::Prompted(message)) => {
                self.phase = Phase::Learning;
                vec![self.append(message), Effect::LearnModel]
            }
            (Phase::Learning, Event::ModelLearned { context_size }) => {
                self.context_size = context_size;
                self.ask()
            }
            (Phase::Asking { calls }, Event::TextArrived(text)) => {
                self.phase = Phase::Asking { calls };
                vec![Effect::Show(Update::AgentMessageChunk { text })]
            }
            (Phase::Asking { calls }, Event::ThoughtArrived(text)) => {
                self.phase = Phase::Asking { calls };
                vec![Effect::Show(Update::AgentThoughtChunk { text })]
            }
            (Phase::Asking { mut calls }, Event::CallArrived(call)) => {
                let shown = call.shown();
                calls.push(call);
                self.phase = Phase::Asking { calls };
                vec![shown]
            }
            (Phase::Asking { calls }, Event::MessageArrived(arrived)) => self.message_arrived(calls, arrived),
            (Phase::Asking { calls }, Event::RequestFailed { failure, salvage, jitter }) => {
                self.request_failed(&calls, failure, salvage, jitter)
            }
            (Phase::BackingOff, Event::BackoffElapsed) => self.ask_model(),
            (Phase::Compacting, Event::Compacted(compaction)) => self.compacted(compaction),
            (Phase::RunningTools(batch), Event::ToolProgressed { index, output }) => {
                let effects = batch.progressed(index, output).into_iter().collect();
                self.phase = Phase::RunningTools(batch);
                effects
            }
            (Phase::RunningTools(batch), Event::ToolFinished { index, end }) => {
                self.tool_finished(batch, index, end)
            }
            (Phase::AskingUser, Event::RepeatsJudged(verdict)) => self.repeats_judged(verdict),
            // A late word of something that was stopped.
            (phase, _) => {
                self.phase = phase;
                Vec::new()
            }
        }
    }

    /// Whether the turn is over.
    #[cfg(test)]
    fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// Whether the user still wants to be asked about calls that repeat themselves.
    pub fn asks_about_repeats(&self) -> bool {
        self.repeats.asks()
    }

    fn append(&mut self, message: Message) -> Effect {
        if message.role == Role::User {
            self.context_used += message.estimated_tokens();
        }
        Effect::Append(message)
    }

    /// The next round, within the bounds.
    fn ask(&mut self) -> Vec<Effect> {
        if self.rounds >= self.bounds.rounds_max {
            let text = format!("stopped after {} rounds: say \"go on\" to continue", self.rounds);
            return vec![notice(NoticeLevel::Warning, text), self.end(StopReason::MaxTurnRequests, None)];
        }
        if self.context_used * 100 / COMPACT_AT_PERCENT >= self.context_size {
            return self.compact();
        }
        self.ask_model()
    }

    fn ask_model(&mut self) -> Vec<Effect> {
        self.phase = Phase::Asking { calls: Vec::new() };
        vec![Effect::AskModel]
    }

    fn compact(&mut self) -> Vec<Effect> {
        if self.just_compacted {
            let error = "the conversation still fills the model's window after it was compacted: start anew with /clear";
            return vec![self.end(StopReason::Error, Some(error.to_owned()))];
        }
        self.phase = Phase::Compacting;
        let text = "the conversation nears the end of the model's window: it is being summarised";
        vec![notice(NoticeLevel::Info, text), Effect::Compact]
    }

    fn compacted(&mut self, compaction: Compaction) -> Vec<Effect> {
        match compaction {
            Compaction::Freed { context_used } => {
                self.context_used = context_used;
                self.just_compacted = true;
                self.ask()
            }
            Compaction::Failed(why) => vec![self.end(StopReason::Error, Some(why))],
        }
    }

    fn message_arrived(&mut self, mut calls: Vec<ToolCall>, arrived: Arrived) -> Vec<Effect> {
        let Arrived { message, over_budget } = arrived;
        self.rounds += 1;
        self.failures = 0;
        self.just_compacted = false;
        self.context_used = message.usage.context();
        let mut content = message.content;
        let (reason, remark) = match &message.stop {
            StopCause::PauseTurn if calls.is_empty() && over_budget.is_none() => {
                let mut effects = self.keep(content, None);
                effects.extend(self.ask());
                return effects;
            }
            StopCause::EndTurn | StopCause::StopSequence | StopCause::ToolUse | StopCause::PauseTurn => {
                (StopReason::EndTurn, None)
            }
            StopCause::MaxTokens => {
                (StopReason::MaxTokens, Some("the answer was cut at the output limit (MAX_TOKENS)"))
            }
            StopCause::ContextExceeded => {
                (StopReason::MaxTokens, Some("the model's window is full: /compact or /clear"))
            }
            StopCause::Refusal => (StopReason::Refusal, Some("the model declined to go on")),
            StopCause::Unknown(_) => {
                (StopReason::EndTurn, Some("the model stopped for a reason that Airlock does not know"))
            }
        };
        if remark.is_none() && !calls.is_empty() && over_budget.is_none() {
            let mut effects = self.keep(content, None);
            effects.extend(self.run_tools(Batch::new(calls)));
            return effects;
        }
        // Nothing more will run, so the calls go: one without a result would void the history.
        content.retain(|block| !matches!(block, Block::ToolUse { .. }));
        let is_whole = calls.is_empty();
        let mut effects: Vec<Effect> = calls.drain(..).map(|call| call.failed("not run")).collect();
        let cut =
            matches!(message.stop, StopCause::MaxTokens | StopCause::ContextExceeded | StopCause::Refusal);
        let not_run = (!is_whole).then_some("stopped before its tool calls ran");
        let mark = remark.filter(|_| cut).or(not_run);
        if mark.is_none() {
            // The API refuses a message whose last block is thinking, and then every request that has it.
            let end = content.iter().rposition(|block| !block.is_thinking()).map_or(0, |last| last + 1);
            content.truncate(end);
        }
        effects.extend(self.keep(content, mark));
        if let Some(remark) = remark {
            effects.push(notice(NoticeLevel::Warning, remark));
        }
        match over_budget {
            // The answer is there. It is the next prompt that cannot be paid for.
            Some(why) if is_whole => {
                effects.extend([notice(NoticeLevel::Warning, why), self.end(reason, None)]);
            }
            Some(why) => effects.push(self.end(StopReason::Error, Some(why))),
            None => effects.push(self.end(reason, None)),
        }
        effects
    }

    /// Appends what the model said, with a mark where it was cut. Nothing to say: nothing is appended.
    fn keep(&mut self, mut content: Vec<Block>, mark: Option<&str>) -> Vec<Effect> {
        if let Some(mark) = mark {
            content.push(Block::text(format!("[{mark}]")));
        }
        if content.is_empty() { Vec::new() } else { vec![self.append(Message::assistant(content))] }
    }

    fn request_failed(
        &mut self,
        calls: &[ToolCall],
        failure: Failure,
        salvage: Vec<Block>,
        jitter: f64,
    ) -> Vec<Effect> {
        let mut effects: Vec<Effect> =
            calls.iter().map(|call| call.failed("cut off before it could run")).collect();
        if has_text(&salvage) {
            effects.extend(self.keep(salvage, Some("the answer was cut off here")));
            effects.push(self.end(StopReason::Error, Some(failure.message)));
            return effects;
        }
        if failure.too_long && !self.just_compacted {
            effects.push(notice(NoticeLevel::Warning, failure.message));
            effects.extend(self.compact());
            return effects;
        }
        match retry::delay(&failure, self.failures, self.bounds.retries_max, jitter) {
            Some(delay) => {
                self.failures += 1;
                let text = trying_again(&failure, delay, self.failures, self.bounds.retries_max);
                self.phase = Phase::BackingOff;
                effects.extend([notice(NoticeLevel::Warning, text), Effect::Wait(delay)]);
            }
            None => effects.push(self.end(StopReason::Error, Some(failure.message))),
        }
        effects
    }

    fn run_tools(&mut self, mut batch: Batch) -> Vec<Effect> {
        let mut effects = batch.start_next();
        if !batch.is_done() {
            self.phase = Phase::RunningTools(batch);
            return effects;
        }
        let repeated = batch.ends().find_map(|(call, end)| self.repeats.saw(call, end));
        effects.push(self.append(batch.into_results()));
        match repeated {
            Some(question) => {
                self.phase = Phase::AskingUser;
                effects.push(Effect::AskAboutRepeats(question));
            }
            None => effects.extend(self.ask()),
        }
        effects
    }

    fn tool_finished(&mut self, mut batch: Batch, index: usize, end: CallEnd) -> Vec<Effect> {
        let mut effects: Vec<Effect> = batch.finished(index, end).into_iter().collect();
        if batch.is_running() {
            self.phase = Phase::RunningTools(batch);
            return effects;
        }
        effects.extend(self.run_tools(batch));
        effects
    }

    fn repeats_judged(&mut self, verdict: Verdict) -> Vec<Effect> {
        match verdict {
            Verdict::GoOn => self.repeats.forget(),
            Verdict::GoOnForGood => self.repeats.never_ask(),
            Verdict::Stop => return vec![self.end(StopReason::Cancelled, None)],
        }
        self.ask()
    }

    fn cancelled(&mut self, phase: Phase, salvage: Vec<Block>) -> Vec<Effect> {
        let mut effects = match phase {
            Phase::Asking { calls } => {
                let mut effects: Vec<Effect> =
                    calls.iter().map(|call| call.failed("stopped by the user")).collect();
                if has_text(&salvage) {
                    effects.extend(self.keep(salvage, Some("stopped by the user")));
                }
                effects
            }
            Phase::RunningTools(mut batch) => {
                let mut effects = vec![Effect::StopTools];
                effects.extend(batch.stop("stopped by the user"));
                effects.push(self.append(batch.into_results()));
                effects
            }
            Phase::Waiting
            | Phase::Learning
            | Phase::BackingOff
            | Phase::Compacting
            | Phase::AskingUser
            | Phase::Ended => Vec::new(),
        };
        effects.push(self.end(StopReason::Cancelled, None));
        effects
    }

    fn end(&mut self, stop_reason: StopReason, error: Option<String>) -> Effect {
        self.phase = Phase::Ended;
        Effect::End { stop_reason, error }
    }
}

/// What the user is told before another try.
pub(super) fn trying_again(failure: &Failure, delay: Duration, try_number: u32, tries: u32) -> String {
    let seconds = delay.as_secs_f32();
    format!("{}: trying again in {seconds:.1} s ({try_number} of {tries})", failure.message)
}

impl ToolCall {
    fn shown(&self) -> Effect {
        Effect::Show(Update::ToolCall(ToolCallStarted {
            tool_call_id: self.id.clone(),
            name: self.name.clone(),
            title: self.title.clone(),
            input: self.input.clone(),
        }))
    }

    fn failed(&self, why: &str) -> Effect {
        Effect::Show(Update::ToolCallUpdate(ToolCallProgress {
            tool_call_id: self.id.clone(),
            status: ToolCallStatus::Failed,
            output: Some(why.to_owned()),
            exit_code: None,
        }))
    }
}

fn has_text(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Text { .. }))
}

fn notice(level: NoticeLevel, text: impl Into<String>) -> Effect {
    Effect::Show(Update::Notice { level, text: text.into() })
}

#[cfg(test)]
mod tests;
