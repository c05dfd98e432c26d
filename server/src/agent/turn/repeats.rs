//! Notices when the agent turns in circles: the same call with the same result, several times in a row.

use super::effect::RepeatedCall;
use super::event::{CallEnd, ToolCall};
use crate::conversation::ResultPart;
use serde_json::Value;

/// The last call and how often it has been seen in a row.
pub(super) struct Repeats {
    /// `None`: never ask.
    ask_at: Option<u32>,
    last: Option<(String, Value, Vec<ResultPart>)>,
    times: u32,
}

impl Repeats {
    pub(super) fn new(ask_at: Option<u32>) -> Self {
        Self { ask_at, last: None, times: 0 }
    }

    /// Takes the next call; tells when it is time to ask.
    pub(super) fn saw(&mut self, call: &ToolCall, end: &CallEnd) -> Option<RepeatedCall> {
        let ask_at = self.ask_at?;
        let content = timeless(&end.content);
        let same = self.last.as_ref().is_some_and(|(name, input, last)| {
            *name == call.name && *input == call.input && *last == content
        });
        if same {
            self.times += 1;
        } else {
            self.last = Some((call.name.clone(), call.input.clone(), content));
            self.times = 1;
        }
        (self.times >= ask_at).then(|| RepeatedCall { call: call.clone(), times: self.times })
    }

    pub(super) fn asks(&self) -> bool {
        self.ask_at.is_some()
    }

    pub(super) fn forget(&mut self) {
        self.last = None;
        self.times = 0;
    }

    pub(super) fn never_ask(&mut self) {
        self.ask_at = None;
    }
}

/// A command says how long it took, which is another time each time: that makes no other result of it.
fn timeless(content: &[ResultPart]) -> Vec<ResultPart> {
    let line = |line: &str| -> String {
        let told = line.strip_prefix('[').and_then(|told| told.strip_suffix(" s]")?.rsplit_once(", "));
        match told {
            Some((end, seconds)) if seconds.parse::<f64>().is_ok() => format!("[{end}]"),
            _ => line.to_owned(),
        }
    };
    let part = |part: &ResultPart| match part {
        ResultPart::Text { text } => {
            ResultPart::Text { text: text.split('\n').map(line).collect::<Vec<_>>().join("\n") }
        }
        other => other.clone(),
    };
    content.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asks_after(results: [&str; 3]) -> bool {
        let mut repeats = Repeats::new(Some(3));
        let call = ToolCall {
            id: "toolu_1".into(),
            name: "bash".into(),
            input: json!({"command": "ls"}),
            defect: None,
            title: "$ ls".into(),
            reads_only: false,
        };
        let end = |text: &str| CallEnd {
            content: vec![ResultPart::Text { text: text.into() }],
            unseen: None,
            is_error: false,
            exit_code: Some(0),
        };
        results.map(|text| repeats.saw(&call, &end(text)).is_some())[2]
    }

    #[test]
    fn how_long_a_command_took_makes_no_other_result() {
        assert!(asks_after([
            "a\n[exit code 0, 0.0 s]",
            "a\n[exit code 0, 0.1 s]",
            "a\n[exit code 0, 12.0 s]"
        ]));
        assert!(!asks_after([
            "a\n[exit code 0, 0.0 s]",
            "a\n[exit code 1, 0.0 s]",
            "a\n[exit code 0, 0.0 s]"
        ]));
        assert!(!asks_after([
            "1\n[exit code 0, 0.0 s]",
            "2\n[exit code 0, 0.0 s]",
            "3\n[exit code 0, 0.0 s]"
        ]));
    }
}
