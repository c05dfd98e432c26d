use super::*;
use pretty_assertions::assert_eq;

/// A recorded stream with everything in it: thinking, text with multi-byte characters, two calls, pings, the unknown.
fn recording() -> String {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 5}}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm €"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Grüße "}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "😀"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {}}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "from_the_future", "x": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "bash", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"z\": \"ä"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "\", \"a\": 1}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    let frames = events.iter().enumerate().map(|(index, event)| {
        let ending = if index % 2 == 0 { "\n" } else { "\r\n" };
        format!("event: {}{ending}data: {event}{ending}{ending}", event["type"].as_str().unwrap())
    });
    frames.collect()
}

/// Events of chunks, with neighbouring pieces of text joined: how they were cut is not part of the law.
fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
    let mut decoder = MessageDecoder::default();
    chunks.into_iter().flat_map(|chunk| decoder.feed(chunk)).collect()
}

fn one_call(partial_json: &str) -> Vec<StreamEvent> {
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "n", "input": {}}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": partial_json}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    decode([format!("data: {start}\n\ndata: {delta}\n\ndata: {stop}\n\n").as_bytes()])
}

#[test]
fn a_recorded_stream_gives_its_message() {
    let events = decode([recording().as_bytes()]);
    let input = json!({"z": "ä", "a": 1});
    let content = vec![
        Block::Thinking { thinking: "hm €".into(), signature: "sig".into() },
        Block::text("Grüße 😀"),
        Block::ToolUse { id: "t1".into(), name: "bash".into(), input: input.clone() },
    ];
    let usage = TokenUsage { input: 9, output: 7, cache_read: 5, cache_write: 0 };
    assert_eq!(
        events,
        [
            StreamEvent::Thinking("hm €".into()),
            StreamEvent::Text("Grüße ".into()),
            StreamEvent::Text("😀".into()),
            StreamEvent::ToolUse { id: "t1".into(), name: "bash".into(), input, defect: None },
            StreamEvent::Finished(Received { content, stop: StopCause::ToolUse, usage }),
        ]
    );
}

#[test]
fn every_split_of_a_recorded_stream_gives_the_same_events() {
    let recording = recording();
    let bytes = recording.as_bytes();
    let whole = decode([bytes]);
    assert_eq!(decode(bytes.chunks(1)), whole);
    for cut in 0..=bytes.len() {
        assert_eq!(decode([&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
    }
}

#[test]
fn after_every_cut_the_salvage_is_a_prefix_without_tool_calls() {
    let recording = recording();
    let bytes = recording.as_bytes();
    for cut in 0..bytes.len() {
        let mut decoder = MessageDecoder::default();
        let events = decoder.feed(&bytes[..cut]);
        let said: String = events
            .iter()
            .filter_map(|event| if let StreamEvent::Text(text) = event { Some(text.as_str()) } else { None })
            .collect();
        if events.iter().any(|event| matches!(event, StreamEvent::Finished(_))) {
            continue;
        }
        let kept = decoder.salvage();
        let text: String = kept
            .iter()
            .filter_map(|block| if let Block::Text { text } = block { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(text, said, "cut at {cut}: what was shown is what is kept");
        assert!(kept.iter().all(|block| !matches!(block, Block::ToolUse { .. })), "cut at {cut}");
        assert!(
            kept.iter()
                .all(|block| !matches!(block, Block::Thinking { signature, .. } if signature.is_empty()))
        );
    }
}

#[test]
fn input_that_is_no_object_is_wrapped_and_its_defect_told() {
    for (text, defective) in
        [("", false), ("{}", false), ("[1]", true), ("{\"a\": ", true), ("nonsense", true)]
    {
        let [StreamEvent::ToolUse { input, defect, .. }] = &one_call(text)[..] else { panic!("{text}") };
        assert!(input.is_object(), "{text}");
        assert_eq!(defect.is_some(), defective, "{text}");
    }
    let [StreamEvent::ToolUse { input, defect, .. }] = &one_call(&"x".repeat(5 << 20))[..] else {
        panic!("5 MB")
    };
    assert!(input.to_string().len() < 100 && defect.as_ref().is_some_and(|why| why.contains("larger")));
}

#[test]
fn an_error_event_ends_the_stream_once() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let text = format!("event: error\ndata: {error}\n\n{}", recording());
    let events = decode([text.as_bytes()]);
    let [StreamEvent::Failed(failure)] = &events[..] else { panic!("{events:?}") };
    assert!(failure.message.contains("Overloaded"));
    assert_ne!(failure.retry, crate::claude::failure::Retry::Never);
}

#[test]
fn events_that_make_no_sense_fail_instead_of_panicking() {
    let nonsense = [
        json!({"type": "content_block_stop", "index": 3}),
        json!({"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "x"}}),
        json!({"type": "content_block_start", "index": 4, "content_block": {"type": "text"}}),
        json!({"type": "content_block_start", "index": -1}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_result", "tool_use_id": "t", "content": []}}),
        json!([1, 2]),
    ];
    for event in nonsense {
        let events = decode([format!("data: {event}\n\n").as_bytes()]);
        assert!(matches!(events[..], [StreamEvent::Failed(_)]), "{event}: {events:?}");
    }
}

#[test]
fn an_unknown_event_may_hold_anything_and_a_known_one_may_not() {
    let stop = "event: message_stop\ndata: {\"type\": \"message_stop\"}\n\n";
    let stream = format!("event: novelty\ndata: not JSON\n\nevent: ping\ndata: \n\n{stop}");
    assert!(matches!(decode([stream.as_bytes()])[..], [StreamEvent::Finished(_)]));
    let stream = format!("event: message_delta\ndata: not JSON\n\n{stop}");
    assert!(matches!(decode([stream.as_bytes()])[..], [StreamEvent::Failed(_)]));
}

#[test]
fn two_calls_of_one_id_are_not_both_made() {
    let call = |index: u32| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": "t", "name": "n"}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let events = decode([format!("data: {}\n\ndata: {stop}\n\ndata: {}\n\n", call(0), call(1)).as_bytes()]);
    assert!(matches!(events[..], [StreamEvent::ToolUse { .. }, StreamEvent::Failed(_)]), "{events:?}");
}

#[test]
fn a_call_that_ends_twice_is_not_made_twice() {
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "n"}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let events = decode([format!("data: {start}\n\ndata: {stop}\n\ndata: {stop}\n\n").as_bytes()]);
    assert!(matches!(events[..], [StreamEvent::ToolUse { .. }, StreamEvent::Failed(_)]), "{events:?}");
}

#[test]
fn what_is_nested_too_deep_for_the_history_is_refused() {
    let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    let [StreamEvent::ToolUse { defect: None, .. }] = &one_call(&nested(MESSAGE_DEPTH_MAX))[..] else {
        panic!("one that is just shallow enough");
    };
    let deep = nested(MESSAGE_DEPTH_MAX + 1);
    let [StreamEvent::ToolUse { defect: Some(why), input, .. }] = &one_call(&deep)[..] else {
        panic!("a defect");
    };
    assert!(why.contains("nested deeper"), "{why}");
    assert_eq!(*input, json!({"too_deep": deep}));

    let start = format!("{{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{deep}}}");
    assert!(matches!(decode([format!("data: {start}\n\n").as_bytes()])[..], [StreamEvent::Failed(_)]));
}

#[test]
fn absurd_numbers_of_tokens_are_no_overflow() {
    let tokens = TokenUsage { input: u64::MAX, output: 1, cache_read: u64::MAX, cache_write: 1 };
    assert_eq!(tokens.context(), u64::MAX);
}
