//! What a turn wants done: verbs. The driver does them in order.

use super::event::ToolCall;
use crate::agent::update::{StopReason, Update};
use crate::conversation::Message;
use std::time::Duration;

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Put a message at the end of the conversation and save it.
    Append(Message),
    /// Find out what the model can do.
    LearnModel,
    /// Ask the model for the next message.
    AskModel,
    /// Wait, then say so.
    Wait(Duration),
    /// Run a tool.
    RunTool {
        /// Which call of the message.
        index: usize,
        /// The call.
        call: ToolCall,
    },
    /// Stop all running tools. Their words no longer count.
    StopTools,
    /// Ask the user whether to go on.
    AskAboutRepeats(RepeatedCall),
    /// Summarise the conversation into a new beginning.
    Compact,
    /// Tell the front end.
    Show(Update),
    /// The turn is over. Always the last effect.
    End {
        /// Why.
        stop_reason: StopReason,
        /// What went wrong, when something did.
        error: Option<String>,
    },
}

/// A call that brought the same result again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedCall {
    /// The last such call.
    pub call: ToolCall,
    /// How often in a row.
    pub times: u32,
}
