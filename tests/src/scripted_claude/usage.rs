//! Token counts of a reply, as the API reports them: a first count, then cumulative totals.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_creation: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 10, output: 5, cache_read: 0, cache_creation: 0 }
    }
}

impl Usage {
    /// As `message_start` has it, when hardly anything is written yet.
    pub(super) fn at_start(self) -> Value {
        Self { output: self.output.min(1), ..self }.of_message()
    }

    /// As a whole message has it.
    pub(super) fn of_message(self) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.cache_creation,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": self.output,
            "service_tier": "standard",
        })
    }

    /// As `message_delta` has it.
    pub(super) fn at_end(self) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
            "output_tokens": self.output,
        })
    }
}
