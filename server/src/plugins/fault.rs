//! What went wrong in a call of a plugin, in words that its author and the model can act on.

use super::engine::Bounds;
use super::host::HostState;
use super::tail::Tail;
use crate::limits::{
    PLUGIN_HANDLES_MAX, PLUGIN_HOST_CALL_MAX_BYTES, PLUGIN_STACK_MAX_BYTES, PLUGIN_TABLE_ELEMENTS_MAX,
};
use std::fmt;
use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

/// Why a call gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub what: String,
    /// The end of what the plugin wrote to stdout and stderr.
    pub last_words: String,
}

/// The plugin computed too long.
#[derive(Debug)]
pub(super) struct OutOfTime;

impl fmt::Display for OutOfTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("it computed too long")
    }
}

impl std::error::Error for OutOfTime {}

/// Frames of a stack that are shown.
const FRAMES_SHOWN_MAX: usize = 6;

impl Fault {
    /// A fault of which there is nothing more to say.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), last_words: String::new() }
    }

    pub(super) fn with_last_words(what: String, tail: &Tail) -> Self {
        Self { what, last_words: tail.text() }
    }

    /// What wasmtime says, in our words.
    pub(super) fn of(error: &wasmtime::Error, state: &HostState, bounds: &Bounds) -> Self {
        let what = if error.is::<OutOfTime>() {
            format!("it computed for more than {} and was ended", seconds(bounds.cpu_max))
        } else if let Some(exit) = error.downcast_ref::<I32Exit>() {
            format!("it ended itself with exit code {}", exit.0)
        } else {
            let memory = state.limiter.refused_memory.then(|| {
                format!(
                    "it wanted more than the {} MiB of memory that a plugin may have; ",
                    bounds.memory_max_bytes >> 20
                )
            });
            let table = state
                .limiter
                .refused_table
                .then(|| format!("it wanted a table of more than {PLUGIN_TABLE_ELEMENTS_MAX} elements; "));
            let prefix = memory.or(table).unwrap_or_default();
            format!("{prefix}{}{}", describe(error), frames(error))
        };
        Self::with_last_words(what, &state.tail)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)?;
        match self.last_words.trim_end() {
            "" => Ok(()),
            words => write!(formatter, "\n[the end of its stderr]\n{words}"),
        }
    }
}

impl std::error::Error for Fault {}

fn describe(error: &wasmtime::Error) -> String {
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => {
            format!("it recursed too deep: its stack of {} KiB is full", PLUGIN_STACK_MAX_BYTES >> 10)
        }
        Some(Trap::UnreachableCodeReached) => "it panicked or aborted".to_owned(),
        Some(Trap::MemoryOutOfBounds) => "it reached for memory that is not its own".to_owned(),
        Some(trap) => format!("it trapped: {trap}"),
        None => {
            let words: Vec<String> = error
                .chain()
                .map(ToString::to_string)
                .filter(|word| !word.starts_with("error while executing"))
                .collect();
            let words = words.join(": ");
            if words.contains("fuel") {
                format!("it handed over more than {} MiB at once", PLUGIN_HOST_CALL_MAX_BYTES >> 20)
            } else if words.contains("table has no free keys") || words.contains("handle limit exceeded") {
                format!("it holds more than {PLUGIN_HANDLES_MAX} handles at once")
            } else {
                words
            }
        }
    }
}

/// The functions that were at work, the innermost first.
fn frames(error: &wasmtime::Error) -> String {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else { return String::new() };
    let names: Vec<String> = backtrace
        .frames()
        .iter()
        .filter_map(|frame| frame.func_name().map(|name| format!("{:#}", rustc_name(name))))
        .take(FRAMES_SHOWN_MAX)
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" (in {})", names.join(" ← ")),
    }
}

/// A function's name as far as people want to read it.
fn rustc_name(name: &str) -> String {
    crate::neutral::neutral_line(name).chars().take(100).collect()
}

pub(super) fn seconds(duration: std::time::Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_hold_too_many_handles_is_told_in_the_same_words() {
        let limit = format!("it holds more than {PLUGIN_HANDLES_MAX} handles at once");
        for words in [
            "cannot allocate another handle: store handle limit exceeded",
            "cannot lend resource: store handle limit exceeded",
            "resource table has no free keys",
        ] {
            assert_eq!(describe(&wasmtime::Error::msg(words)), limit);
        }
    }
}
