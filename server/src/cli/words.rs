//! Numbers and endings in a person's words.

use crate::agent::update::{Isolation, SandboxState, StopReason, UsageReport};
use std::time::Duration;

/// What the session used so far, in one line.
pub(super) fn usage(report: &UsageReport) -> String {
    let sent = report.input_tokens + report.cache_read_tokens + report.cache_write_tokens;
    let mut parts =
        vec![format!("session: {} tokens in", count(sent)), format!("{} out", count(report.output_tokens))];
    if let Some(cost) = report.cost_usd {
        parts.push(if cost < 1.0 { format!("${cost:.4}") } else { format!("${cost:.2}") });
    }
    if report.context_size > 0 {
        parts.push(format!("window {}%", percent(report.context_used, report.context_size)));
    }
    parts.join(" · ")
}

/// A little is not nothing.
fn percent(part: u64, whole: u64) -> String {
    match part.saturating_mul(100) / whole {
        0 if part > 0 => "<1".to_owned(),
        percent => percent.to_string(),
    }
}

/// A number with its thousands apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How much waits for review.
pub(super) fn changes(hunks: usize, files: usize) -> String {
    let of = |number, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{} {many}", count(number as u64)),
    };
    format!("{} in {}", of(hunks, "change", "changes"), of(files, "file", "files"))
}

/// How long something took.
pub(super) fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    if seconds < 60 {
        format!("{:.1} s", took.as_secs_f32())
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// What to say at the end of a turn when nothing else said it. Limits and refusals come with a notice.
pub(super) fn ending(stop_reason: StopReason) -> Option<&'static str> {
    match stop_reason {
        StopReason::Cancelled => Some("stopped"),
        StopReason::Error => Some("the turn failed"),
        StopReason::EndTurn | StopReason::MaxTokens | StopReason::MaxTurnRequests | StopReason::Refusal => {
            None
        }
    }
}

/// What the sandbox is doing.
pub(super) fn sandbox(state: SandboxState, isolation: Option<Isolation>) -> String {
    let state = match state {
        SandboxState::Starting => "starting",
        SandboxState::Ready => "ready",
        SandboxState::Failed => "failed",
        SandboxState::Stopped => "stopped",
    };
    let wall = match isolation {
        Some(Isolation::Microvm) => " (microVM)",
        Some(Isolation::Container) => " (container)",
        None => "",
    };
    format!("sandbox: {state}{wall}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn usage_is_one_line() {
        let mut report = UsageReport {
            input_tokens: 1000,
            cache_read_tokens: 234_567,
            output_tokens: 56,
            cost_usd: Some(0.01234),
            context_used: 50_000,
            context_size: 200_000,
            ..UsageReport::default()
        };
        assert_eq!(usage(&report), "session: 235,567 tokens in · 56 out · $0.0123 · window 25%");
        report.cost_usd = None;
        report.context_used = 3;
        assert_eq!(usage(&report), "session: 235,567 tokens in · 56 out · window <1%");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(duration(Duration::from_millis(340)), "0.3 s");
        assert_eq!(duration(Duration::from_secs(125)), "2 min 5 s");
    }
}
