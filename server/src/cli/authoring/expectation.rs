//! What must come of a case. What is not named may be anything.

use crate::plugins::Rehearsed;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What must come of a case.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct Expectation(Fields);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    /// The answer is exactly this text.
    text: Option<String>,
    /// The answer is exactly this data.
    json: Option<Value>,
    /// The answer, the prompt or the message of the error contains each of these.
    contains: Vec<String>,
    /// It fails with this code.
    error: Option<String>,
    /// Exactly these texts are proposed for these files.
    proposed: Option<BTreeMap<String, String>>,
    /// Exactly these requests are sent, as `METHOD URL`.
    requests: Option<Vec<String>>,
    /// Exactly these commands are run.
    ran: Option<Vec<String>>,
    /// This is in the store afterwards; other keys may be too.
    kv: BTreeMap<String, String>,
    /// Some line of the log contains each of these.
    log: Vec<String>,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Text(String),
    Json(Value),
    Error { code: String, message: String },
}

impl TryFrom<Fields> for Expectation {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let Fields { text, json, contains, error, proposed, requests, ran, kv, log } = &fields;
        let nothing = text.is_none() && json.is_none() && error.is_none() && proposed.is_none();
        let nothing = nothing && requests.is_none() && ran.is_none();
        if nothing && contains.is_empty() && kv.is_empty() && log.is_empty() {
            return Err("it expects nothing, so it could not fail: say what must come of the call".to_owned());
        }
        if usize::from(text.is_some()) + usize::from(json.is_some()) + usize::from(error.is_some()) > 1 {
            return Err("an answer is one of text, json and error".to_owned());
        }
        Ok(Self(fields))
    }
}

impl Expectation {
    /// What differs; nothing when all is as it must be.
    pub(super) fn differences(&self, answer: &Answer, told: &Rehearsed) -> Vec<String> {
        let Fields { text, json, contains, error, proposed, requests, ran, kv, log } = &self.0;
        let mut found = Vec::new();
        let mut expect = |fits: bool, expected: String, got: String| {
            if !fits {
                found.push(format!("expected {expected}\n     got {got}"));
            }
        };
        if let Some(text) = text {
            expect(
                matches!(answer, Answer::Text(got) if got == text),
                format!("the text {text:?}"),
                answer.told(),
            );
        }
        if let Some(json) = json {
            expect(
                matches!(answer, Answer::Json(got) if got == json),
                format!("the data {json}"),
                answer.told(),
            );
        }
        if let Some(error) = error {
            let fits = matches!(answer, Answer::Error { code, .. } if code == error);
            expect(fits, format!("the error {error:?}"), answer.told());
        } else {
            expect(!matches!(answer, Answer::Error { .. }), "no error".to_owned(), answer.told());
        }
        let said = answer.said();
        for part in contains {
            expect(said.contains(part), format!("something with {part:?}"), answer.told());
        }
        if let Some(proposed) = proposed {
            let as_json = |files: &BTreeMap<String, String>| serde_json::json!(files).to_string();
            let expected = format!("these proposals: {}", as_json(proposed));
            expect(*proposed == told.proposed, expected, as_json(&told.proposed));
        }
        if let Some(requests) = requests {
            expect(
                *requests == told.requests,
                format!("the requests {requests:?}"),
                format!("{:?}", told.requests),
            );
        }
        if let Some(ran) = ran {
            expect(*ran == told.ran, format!("the commands {ran:?}"), format!("{:?}", told.ran));
        }
        for (key, value) in kv {
            let kept = told.kv.get(key);
            expect(kept == Some(value), format!("{key:?} to hold {value:?}"), format!("{kept:?}"));
        }
        for part in log {
            let fits = told.log.iter().any(|line| line.contains(part));
            expect(fits, format!("a line of the log with {part:?}"), format!("{:?}", told.log));
        }
        found
    }
}

impl Answer {
    fn said(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(json) => json.to_string(),
            Self::Error { message, .. } => message.clone(),
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Text(text) => format!("the text {text:?}"),
            Self::Json(json) => format!("the data {json}"),
            Self::Error { code, message } => format!("the error {code:?}: {message}"),
        }
    }
}
