//! The stream of the Messages API: server-sent events, and the message that they make.

use crate::input::{Input, pieces};
use crate::json::has_fractions;
use airlock::agent::history::{Entry, Line, Loaded};
use airlock::agent::usage::Ledger;
use airlock::claude::sse::{EventTooLarge, SseDecoder, SseEvent};
use airlock::claude::{MessageDecoder, MessageRequest, Received, StreamEvent};
use airlock::conversation::{Block, Message};

/// Any split gives the same events and the same message; what was told while it came is what it says in the end, and
/// the history gives it back.
pub fn message_stream(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let seed = input.byte();
    let stream = input.rest();

    let (events, end) = events(&[stream]);
    assert_eq!(self::events(&pieces(stream, seed)), (events.clone(), end), "another split, other events");
    for event in events {
        assert!(!event.name.is_empty() && !event.data.contains('\r'));
        let written = written(&event);
        assert_eq!(self::events(&[written.as_bytes()]).0, [event], "written again and read again");
    }

    let (told, salvaged) = message(&[stream]);
    assert_eq!(
        message(&pieces(stream, seed)),
        (told.clone(), salvaged.clone()),
        "another split, another message"
    );
    let is_end = |event: &StreamEvent| matches!(event, StreamEvent::Finished(_) | StreamEvent::Failed(_));
    let first_end = told.iter().position(is_end);
    assert!(first_end.is_none_or(|end| end + 1 == told.len()), "something came after the end");
    assert!(!salvaged.iter().any(|block| block.is_blank() || matches!(block, Block::ToolUse { .. })));
    survives_the_history(salvaged);
    if let Some((StreamEvent::Finished(received), before)) = told.split_last() {
        check(received, before);
    }
}

fn check(received: &Received, told: &[StreamEvent]) {
    let said: String = told
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let message = Message::assistant(received.content.clone());
    assert_eq!(without_space(&said), without_space(&message.text()), "it says what was told");

    let mut announced: Vec<String> = told.iter().filter_map(announced_call).collect();
    let mut called: Vec<String> = received.content.iter().filter_map(call).collect();
    announced.sort_unstable();
    called.sort_unstable();
    assert_eq!(announced, called, "every call is announced once");

    let mut ledger = Ledger::default();
    ledger.record("model", &received.usage, None);
    ledger.record("model", &received.usage, None);
    assert_eq!(ledger.context_used(), received.usage.context());
    survives_the_history(received.content.clone());
}

fn survives_the_history(content: Vec<Block>) {
    if content.is_empty() {
        return;
    }
    let messages = [Message::user("go"), Message::assistant(content)];
    let request = MessageRequest {
        model: "m",
        max_tokens: 1,
        system: "",
        tools: &[],
        messages: &messages,
        adaptive_thinking: false,
    };
    if has_fractions(&request.body()) {
        return;
    }
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let line = |message: &Message| {
        serde_json::to_string(&Line { at, entry: Entry::Message(message.clone()) }).unwrap() + "\n"
    };
    let loaded = Loaded::from_bytes(messages.iter().map(line).collect::<String>().as_bytes());
    assert_eq!(loaded.lost_lines, 0, "a line of the history that cannot be read again");
    assert_eq!(loaded.conversation[..2], messages);
}

fn events(pieces: &[&[u8]]) -> (Vec<SseEvent>, Result<(), EventTooLarge>) {
    let (mut decoder, mut events) = (SseDecoder::default(), Vec::new());
    let end = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut events));
    (events, end)
}

fn written(event: &SseEvent) -> String {
    let data: String = event.data.split('\n').map(|line| format!("data: {line}\n")).collect();
    format!("event: {}\n{data}\n", event.name)
}

fn message(pieces: &[&[u8]]) -> (Vec<StreamEvent>, Vec<Block>) {
    let mut decoder = MessageDecoder::default();
    let told = pieces.iter().flat_map(|piece| decoder.feed(piece)).collect();
    (told, decoder.salvage())
}

fn announced_call(event: &StreamEvent) -> Option<String> {
    match event {
        StreamEvent::ToolUse { id, name, input, .. } => {
            assert!(input.is_object(), "the API takes nothing else back");
            Some(format!("{id:?} {name:?} {input}"))
        }
        _ => None,
    }
}

fn call(block: &Block) -> Option<String> {
    match block {
        Block::ToolUse { id, name, input } => Some(format!("{id:?} {name:?} {input}")),
        _ => None,
    }
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}
