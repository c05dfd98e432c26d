use super::*;
use crate::claude::message::{Received, TokenUsage};
use crate::conversation::ResultPart;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

const BOUNDS: Bounds = Bounds { rounds_max: 5, retries_max: 3 };

fn turn() -> Turn {
    Turn::new(BOUNDS, 0, true)
}

/// Prompts, and tells the turn what the model can do.
fn begin(turn: &mut Turn) -> Vec<Effect> {
    let mut effects = turn.step(Event::Prompted(Message::user("do it")));
    assert_eq!(effects, [Effect::Append(Message::user("do it")), Effect::LearnModel]);
    effects.extend(turn.step(Event::ModelLearned { context_size: 100_000 }));
    effects
}

fn call(id: &str, name: &str, reads_only: bool) -> ToolCall {
    let (input, title) = (json!({"a": 1}), name.to_owned());
    ToolCall { id: id.into(), name: name.into(), input, defect: None, title, reads_only }
}

fn use_of(call: &ToolCall) -> Block {
    Block::ToolUse { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() }
}

fn arrived(content: Vec<Block>, stop: StopCause) -> Event {
    let usage = TokenUsage { input: 10, output: 5, ..Default::default() };
    Event::MessageArrived(Arrived { message: Received { content, stop, usage }, over_budget: None })
}

fn end(text: &str) -> CallEnd {
    CallEnd { content: vec![ResultPart::text(text)], unseen: None, is_error: false, exit_code: None }
}

fn finished(index: usize) -> Event {
    Event::ToolFinished { index, end: end("done") }
}

/// Feeds a message with these calls to a turn that is asking.
fn make_calls(turn: &mut Turn, calls: &[ToolCall]) -> Vec<Effect> {
    for call in calls {
        turn.step(Event::CallArrived(call.clone()));
    }
    turn.step(arrived(calls.iter().map(use_of).collect(), StopCause::ToolUse))
}

fn started(effects: &[Effect]) -> Vec<usize> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::RunTool { index, .. } = effect { Some(*index) } else { None })
        .collect()
}

fn appended(effects: &[Effect]) -> Vec<&Message> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::Append(message) = effect { Some(message) } else { None })
        .collect()
}

fn ending(effects: &[Effect]) -> Option<StopReason> {
    effects.iter().find_map(|effect| {
        if let Effect::End { stop_reason, .. } = effect { Some(*stop_reason) } else { None }
    })
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut turn = turn();
    assert_eq!(begin(&mut turn).last(), Some(&Effect::AskModel));
    let effects = turn.step(arrived(vec![Block::text("ok")], StopCause::EndTurn));
    let end = Effect::End { stop_reason: StopReason::EndTurn, error: None };
    assert_eq!(effects, [Effect::Append(Message::assistant(vec![Block::text("ok")])), end]);
    assert!(turn.has_ended());
}

#[test]
fn an_empty_answer_ends_the_turn_and_appends_nothing() {
    let mut turn = turn();
    begin(&mut turn);
    let effects = turn.step(arrived(vec![], StopCause::EndTurn));
    assert_eq!(effects, [Effect::End { stop_reason: StopReason::EndTurn, error: None }]);
}

/// The API refuses an assistant's message whose last block is thinking, and then every request that has it.
#[test]
fn no_message_that_is_kept_ends_with_thinking() {
    let thinking = || Block::Thinking { thinking: "hm".into(), signature: "s".into() };
    let call = call("1", "bash", false);
    for (content, over_budget) in [
        (vec![thinking()], None),
        (vec![thinking(), use_of(&call)], Some("spent".to_owned())),
        (vec![Block::text("so"), thinking()], None),
    ] {
        let mut turn = turn();
        begin(&mut turn);
        if over_budget.is_some() {
            turn.step(Event::CallArrived(call.clone()));
        }
        let message = Received { content, stop: StopCause::EndTurn, usage: TokenUsage::default() };
        let effects = turn.step(Event::MessageArrived(Arrived { message, over_budget }));
        let last = appended(&effects).last().and_then(|message| message.content.last().cloned());
        assert!(!matches!(last, Some(Block::Thinking { .. })), "{effects:?}");
        assert!(turn.has_ended());
    }
}

#[test]
fn readers_run_side_by_side_and_a_writer_runs_alone() {
    let mut turn = turn();
    begin(&mut turn);
    let calls =
        [call("1", "read", true), call("2", "read", true), call("3", "bash", false), call("4", "read", true)];
    assert_eq!(started(&make_calls(&mut turn, &calls)), [0, 1]);
    assert_eq!(started(&turn.step(finished(1))), [] as [usize; 0]);
    assert_eq!(started(&turn.step(finished(0))), [2]);
    assert_eq!(started(&turn.step(finished(2))), [3]);
    let effects = turn.step(finished(3));
    let ids: Vec<_> = appended(&effects)[0]
        .content
        .iter()
        .map(
            |block| {
                if let Block::ToolResult { tool_use_id, .. } = block { tool_use_id.as_str() } else { "?" }
            },
        )
        .collect();
    assert_eq!(ids, ["1", "2", "3", "4"], "all results in one message, in the order of the calls");
    assert_eq!(effects.last(), Some(&Effect::AskModel));
}

#[test]
fn a_call_with_broken_input_gets_an_error_and_does_not_run() {
    let mut turn = turn();
    begin(&mut turn);
    let broken = ToolCall { defect: Some("not JSON".into()), ..call("1", "bash", false) };
    let effects = make_calls(&mut turn, &[broken, call("2", "bash", false)]);
    assert_eq!(started(&effects), [1]);
    let effects = turn.step(finished(1));
    let Block::ToolResult { is_error, .. } = &appended(&effects)[0].content[0] else { panic!() };
    assert!(is_error);
}

#[test]
fn calls_of_a_message_that_was_cut_are_not_run_and_not_kept() {
    for stop in [StopCause::MaxTokens, StopCause::Refusal, StopCause::ContextExceeded] {
        let mut turn = turn();
        begin(&mut turn);
        let call = call("1", "bash", false);
        turn.step(Event::CallArrived(call.clone()));
        let effects = turn.step(arrived(vec![Block::text("so"), use_of(&call)], stop));
        assert_eq!(started(&effects), [] as [usize; 0]);
        assert_eq!(appended(&effects)[0].tool_use_ids().count(), 0);
        assert!(turn.has_ended());
    }
}

#[test]
fn pause_turn_asks_again_as_it_is() {
    let mut turn = turn();
    begin(&mut turn);
    let effects = turn.step(arrived(vec![Block::text("hm")], StopCause::PauseTurn));
    assert_eq!(effects, [Effect::Append(Message::assistant(vec![Block::text("hm")])), Effect::AskModel]);
}

#[test]
fn pause_turn_with_a_call_runs_the_call() {
    let mut turn = turn();
    begin(&mut turn);
    let call = call("1", "bash", false);
    turn.step(Event::CallArrived(call.clone()));
    assert_eq!(started(&turn.step(arrived(vec![use_of(&call)], StopCause::PauseTurn))), [0]);
}

#[test]
fn an_unknown_stop_reason_ends_with_a_notice() {
    let mut turn = turn();
    begin(&mut turn);
    let effects = turn.step(arrived(vec![Block::text("hm")], StopCause::Unknown("tired".into())));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Show(Update::Notice { .. }))));
    assert_eq!(ending(&effects), Some(StopReason::EndTurn));
}

#[test]
fn rounds_are_bounded() {
    let mut turn = turn();
    let mut effects = begin(&mut turn);
    let mut rounds = 0;
    while ending(&effects).is_none() {
        rounds += 1;
        let one = ToolCall { input: json!({"round": rounds}), ..call("1", "bash", false) };
        make_calls(&mut turn, &[one]);
        effects = turn.step(finished(0));
    }
    assert_eq!((rounds, ending(&effects)), (5, Some(StopReason::MaxTurnRequests)));
}

#[test]
fn the_same_call_with_the_same_result_three_times_asks_the_user() {
    for (verdict, expected) in [(Verdict::Stop, Some(StopReason::Cancelled)), (Verdict::GoOn, None)] {
        let mut turn = turn();
        begin(&mut turn);
        for round in 1..=3 {
            make_calls(&mut turn, &[call("1", "bash", false)]);
            let effects = turn.step(finished(0));
            assert_eq!(effects.iter().any(|effect| matches!(effect, Effect::AskAboutRepeats(_))), round == 3);
            assert_eq!(appended(&effects).len(), 1, "the results are kept whatever the user says");
        }
        assert_eq!(ending(&turn.step(Event::RepeatsJudged(verdict))), expected);
    }
}

#[test]
fn another_result_in_between_is_no_repeat() {
    let mut turn = turn();
    begin(&mut turn);
    for round in 0..4 {
        make_calls(&mut turn, &[call("1", "bash", false)]);
        let effects =
            turn.step(Event::ToolFinished { index: 0, end: end(if round % 2 == 0 { "a" } else { "b" }) });
        assert_eq!(effects.last(), Some(&Effect::AskModel));
    }
}

#[test]
fn a_failure_before_any_text_is_tried_again_and_bounded() {
    let mut turn = turn();
    begin(&mut turn);
    for _ in 0..3 {
        let effects =
            turn.step(Event::RequestFailed { failure: Failure::passing("x"), salvage: vec![], jitter: 0.5 });
        assert!(matches!(effects[..], [Effect::Show(Update::Notice { .. }), Effect::Wait(_)]), "{effects:?}");
        assert_eq!(turn.step(Event::BackoffElapsed), [Effect::AskModel]);
    }
    let effects =
        turn.step(Event::RequestFailed { failure: Failure::passing("x"), salvage: vec![], jitter: 0.5 });
    assert_eq!(ending(&effects), Some(StopReason::Error));
}

#[test]
fn a_failure_after_text_keeps_the_text_marked_and_does_not_ask_again() {
    let mut turn = turn();
    begin(&mut turn);
    turn.step(Event::TextArrived("half".into()));
    let salvage = vec![Block::text("half")];
    let effects = turn.step(Event::RequestFailed { failure: Failure::passing("x"), salvage, jitter: 0.5 });
    let text = appended(&effects)[0].text();
    assert!(text.starts_with("half") && text.contains("cut off"), "{text}");
    assert_eq!(ending(&effects), Some(StopReason::Error));
}

#[test]
fn a_request_that_is_too_long_compacts_once() {
    let too_long = Failure { too_long: true, ..Failure::lasting("x") };
    let failed = || Event::RequestFailed { failure: too_long.clone(), salvage: vec![], jitter: 0.0 };
    let mut turn = turn();
    begin(&mut turn);
    assert!(turn.step(failed()).contains(&Effect::Compact));
    assert_eq!(turn.step(Event::Compacted(Compaction::Freed { context_used: 10 })), [Effect::AskModel]);
    assert_eq!(ending(&turn.step(failed())), Some(StopReason::Error));
}

#[test]
fn a_full_window_compacts_and_one_that_stays_full_stops() {
    let mut full = Turn::new(BOUNDS, 90_000, true);
    let effects = begin(&mut full);
    assert_eq!(effects.last(), Some(&Effect::Compact));
    assert!(!effects.contains(&Effect::AskModel));
    assert_eq!(
        ending(&full.step(Event::Compacted(Compaction::Freed { context_used: 90_000 }))),
        Some(StopReason::Error)
    );
}

#[test]
fn cancel_while_tools_run_answers_every_call() {
    let mut turn = turn();
    begin(&mut turn);
    make_calls(&mut turn, &[call("1", "read", true), call("2", "read", true), call("3", "bash", false)]);
    turn.step(finished(0));
    let effects = turn.step(Event::Cancelled { salvage: vec![] });
    assert_eq!(effects[0], Effect::StopTools);
    let errors: Vec<_> = appended(&effects)[0]
        .content
        .iter()
        .map(|block| matches!(block, Block::ToolResult { is_error: true, .. }))
        .collect();
    assert_eq!(errors, [false, true, true]);
    assert_eq!(ending(&effects), Some(StopReason::Cancelled));
}

/// Any event at any time, sensible or not.
fn any_event() -> impl Strategy<Value = Event> {
    let stop = prop_oneof![
        Just(StopCause::EndTurn),
        Just(StopCause::ToolUse),
        Just(StopCause::MaxTokens),
        Just(StopCause::PauseTurn),
        Just(StopCause::Refusal)
    ];
    let blocks = prop::collection::vec(
        prop_oneof![Just(Block::text("x")), Just(use_of(&call("1", "bash", false)))],
        0..3,
    );
    prop_oneof![
        Just(Event::TextArrived("x".into())),
        any::<bool>().prop_map(|reads| Event::CallArrived(call("1", "bash", reads))),
        (stop, any::<bool>()).prop_map(|(stop, text)| if text {
            arrived(vec![Block::text("x")], stop)
        } else {
            arrived(vec![], stop)
        }),
        (blocks, any::<bool>()).prop_map(|(salvage, lasting)| {
            let failure = if lasting { Failure::lasting("x") } else { Failure::passing("x") };
            let salvage = salvage.into_iter().filter(|block| matches!(block, Block::Text { .. })).collect();
            Event::RequestFailed { failure, salvage, jitter: 0.5 }
        }),
        Just(Event::BackoffElapsed),
        (0usize..4).prop_map(finished),
        (0usize..4).prop_map(|index| Event::ToolProgressed { index, output: "x".into() }),
        prop_oneof![Just(Verdict::GoOn), Just(Verdict::Stop)].prop_map(Event::RepeatsJudged),
        prop_oneof![Just(Compaction::Freed { context_used: 1 }), Just(Compaction::Failed("x".into()))]
            .prop_map(Event::Compacted),
        Just(Event::Cancelled { salvage: vec![] }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The calls that the machine was told of are the ones in the message: the driver's part of the contract.
    #[test]
    fn whatever_happens_the_turn_ends_at_most_once_and_every_call_has_its_result(events in prop::collection::vec(any_event(), 0..40)) {
        let mut turn = turn();
        let mut effects = begin(&mut turn);
        let mut shown: Vec<ToolCall> = Vec::new();
        for event in events {
            let event = match event {
                Event::CallArrived(call) => {
                    let call = ToolCall { id: shown.len().to_string(), ..call };
                    if matches!(turn.phase, Phase::Asking { .. }) {
                        shown.push(call.clone());
                    }
                    Event::CallArrived(call)
                }
                Event::MessageArrived(mut arrived) => {
                    arrived.message.content.extend(shown.drain(..).map(|call| use_of(&call)));
                    Event::MessageArrived(arrived)
                }
                Event::RequestFailed { .. } => { shown.clear(); event }
                other => other,
            };
            effects.extend(turn.step(event));
        }
        effects.extend(turn.step(Event::Cancelled { salvage: vec![] }));
        let ends = effects.iter().filter(|effect| matches!(effect, Effect::End { .. })).count();
        prop_assert_eq!(ends, 1);
        prop_assert!(matches!(effects.last(), Some(Effect::End { .. })), "nothing follows the end");
        let messages = appended(&effects);
        for (position, message) in messages.iter().enumerate() {
            prop_assert!(!message.content.is_empty());
            let calls: Vec<&str> = message.tool_use_ids().collect();
            if calls.is_empty() { continue; }
            let results: Vec<&str> = messages[position + 1].content.iter()
                .map(|block| if let Block::ToolResult { tool_use_id, .. } = block { tool_use_id.as_str() } else { "?" })
                .collect();
            prop_assert_eq!(calls, results);
        }
    }
}

#[test]
fn cancel_before_the_model_is_known_keeps_the_prompt_and_asks_nothing() {
    let mut turn = turn();
    turn.step(Event::Prompted(Message::user("do it")));
    let end = Effect::End { stop_reason: StopReason::Cancelled, error: None };
    assert_eq!(turn.step(Event::Cancelled { salvage: vec![] }), [end]);
    assert_eq!(turn.step(Event::ModelLearned { context_size: 1 }), []);
}

#[test]
fn waits_obey_the_server() {
    let mut turn = turn();
    begin(&mut turn);
    let retry = crate::claude::failure::Retry::After(Duration::from_secs(7));
    let failure = Failure { retry, ..Failure::passing("slow down") };
    let effects = turn.step(Event::RequestFailed { failure, salvage: vec![], jitter: 0.5 });
    assert_eq!(effects.last(), Some(&Effect::Wait(Duration::from_secs(7))));
}
