//! A reply as the events that the API would send, in its order.
//!
//! Invariant: pure. Gates and silences stay in the list as themselves; the body waits at them, not this.

use super::gate::Gate;
use super::reply::{Cut, Reply, Step};
use bytes::Bytes;
use serde_json::{Value, json};

/// What the connection is to do next.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Bytes(Bytes),
    Gate(Gate),
    Silence,
    Abort,
}

impl Reply {
    /// The whole stream as bytes, to be split and cut by other tests. Gates, silences and cuts are left out.
    /// Over HTTP it has the same length, so that positions in the one are positions in the other.
    pub fn sse_bytes(&self) -> Bytes {
        let mut bytes = Vec::new();
        for part in self.events("claude-sonnet-5", "msg_scripted_0000") {
            if let Part::Bytes(event) = part {
                bytes.extend_from_slice(&event);
            }
        }
        bytes.into()
    }

    /// What goes over the wire: the events, cut and split as the test asked.
    pub(super) fn parts(&self, model: &str, id: &str) -> Vec<Part> {
        if self.delivery.mute {
            return vec![Part::Silence];
        }
        let mut parts = self.events(model, id);
        if let Some(cut) = self.delivery.cut {
            parts = shorten(parts, cut);
        }
        if self.delivery.one_byte_chunks {
            parts = parts.into_iter().flat_map(one_byte_each).collect();
        }
        parts
    }

    fn events(&self, model: &str, id: &str) -> Vec<Part> {
        let mut writer = Writer::new(self);
        writer.message_start(model, id);
        for step in &self.steps {
            match step {
                Step::Error(error) => {
                    writer.event("error", error.body("req_scripted"));
                    return writer.parts;
                }
                step => writer.step(step),
            }
        }
        writer.message_end();
        writer.parts
    }

    /// The reason given, or the one that follows from the content.
    pub(super) fn stop_reason(&self) -> &str {
        let calls = |step: &Step| matches!(step, Step::ToolUse { .. });
        match &self.stop_reason {
            Some(reason) => reason,
            None if self.steps.iter().any(calls) => "tool_use",
            None => "end_turn",
        }
    }
}

struct Writer<'a> {
    reply: &'a Reply,
    parts: Vec<Part>,
    open: Option<Open>,
    index: usize,
}

/// The block that is being written.
enum Open {
    Text,
    Thinking { signature: String },
    ToolUse,
    Other,
}

impl<'a> Writer<'a> {
    fn new(reply: &'a Reply) -> Self {
        Self { reply, parts: Vec::new(), open: None, index: 0 }
    }

    fn message_start(&mut self, model: &str, id: &str) {
        let message = json!({
            "model": model, "id": id, "type": "message", "role": "assistant", "content": [],
            "stop_reason": null, "stop_sequence": null, "stop_details": null,
            "usage": self.reply.usage.at_start(),
        });
        self.event("message_start", json!({"type": "message_start", "message": message}));
        if self.reply.delivery.unknowns {
            self.event("novelty", json!({"type": "novelty", "index": 7, "novelty": [1, 2]}));
        }
    }

    fn message_end(&mut self) {
        self.end_block();
        let delta =
            json!({"stop_reason": self.reply.stop_reason(), "stop_sequence": null, "stop_details": null});
        let usage = self.reply.usage.at_end();
        self.event("message_delta", json!({"type": "message_delta", "delta": delta, "usage": usage}));
        self.event("message_stop", json!({"type": "message_stop"}));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Text(pieces) => {
                self.start_block(Open::Text, json!({"type": "text", "text": ""}));
                pieces.iter().for_each(|piece| self.piece(piece));
            }
            Step::Thinking { text, signature } => {
                let signature = signature.clone();
                let start = json!({"type": "thinking", "thinking": "", "signature": ""});
                self.start_block(Open::Thinking { signature }, start);
                if !text.is_empty() {
                    self.piece(text);
                }
            }
            Step::RedactedThinking(data) => {
                self.start_block(Open::Other, json!({"type": "redacted_thinking", "data": data}));
            }
            Step::ToolUse { id, name, json } => {
                let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                self.start_block(Open::ToolUse, start);
                json.iter().for_each(|piece| self.piece(piece));
            }
            Step::More(piece) => self.piece(piece),
            Step::EndBlock => self.end_block(),
            Step::Ping => self.event("ping", json!({"type": "ping"})),
            Step::Event(name, data) => self.event(name, data.clone()),
            Step::Gate(gate) => self.parts.push(Part::Gate(gate.clone())),
            Step::Silence => self.parts.push(Part::Silence),
            Step::Error(_) => unreachable!("an error ends the stream before it gets here"),
        }
    }

    fn start_block(&mut self, open: Open, content_block: Value) {
        self.end_block();
        let index = self.index;
        self.open = Some(open);
        self.event(
            "content_block_start",
            json!({"type": "content_block_start", "index": index, "content_block": content_block}),
        );
        // Where the API sends its first ping.
        if index == 0 {
            self.event("ping", json!({"type": "ping"}));
        }
        if self.reply.delivery.unknowns {
            self.delta(json!({"type": "novelty_delta", "novelty": "?"}));
        }
    }

    fn piece(&mut self, piece: &str) {
        let delta = match &self.open {
            Some(Open::Text) => json!({"type": "text_delta", "text": piece}),
            Some(Open::Thinking { .. }) => json!({"type": "thinking_delta", "thinking": piece}),
            Some(Open::ToolUse) => json!({"type": "input_json_delta", "partial_json": piece}),
            Some(Open::Other) | None => panic!("the script has {piece:?} but no open block to put it in"),
        };
        self.delta(delta);
    }

    fn delta(&mut self, delta: Value) {
        let index = self.index;
        self.event(
            "content_block_delta",
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
        );
    }

    fn end_block(&mut self) {
        match self.open.take() {
            None => return,
            Some(Open::Thinking { signature }) => {
                self.delta(json!({"type": "signature_delta", "signature": signature}));
            }
            Some(_) => {}
        }
        let index = self.index;
        self.event("content_block_stop", json!({"type": "content_block_stop", "index": index}));
        self.index += 1;
    }

    fn event(&mut self, name: &str, mut data: Value) {
        if self.reply.delivery.unknowns && data.is_object() {
            data["novelty"] = json!({"since": "tomorrow"});
        }
        let end = if self.reply.delivery.crlf { "\r\n" } else { "\n" };
        let frame = format!("event: {name}{end}data: {data}{end}{end}");
        self.parts.push(Part::Bytes(frame.into()));
    }
}

/// The parts up to the cut, and the cut.
fn shorten(parts: Vec<Part>, cut: Cut) -> Vec<Part> {
    let (mut left, end) = match cut {
        Cut::Abort(bytes) => (bytes, Some(Part::Abort)),
        Cut::End(bytes) => (bytes, None),
    };
    let mut kept = Vec::new();
    for part in parts {
        match part {
            Part::Bytes(bytes) if bytes.len() > left => {
                if left > 0 {
                    kept.push(Part::Bytes(bytes.slice(..left)));
                }
                kept.extend(end);
                return kept;
            }
            Part::Bytes(bytes) => {
                left -= bytes.len();
                kept.push(Part::Bytes(bytes));
            }
            other => kept.push(other),
        }
    }
    kept.extend(end);
    kept
}

fn one_byte_each(part: Part) -> Vec<Part> {
    match part {
        Part::Bytes(bytes) => (0..bytes.len()).map(|at| Part::Bytes(bytes.slice(at..=at))).collect(),
        other => vec![other],
    }
}
