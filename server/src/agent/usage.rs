//! What a session used and what it cost.

use super::update::UsageReport;
use crate::claude::TokenUsage;
use crate::config::Prices;
use std::collections::BTreeMap;

/// Prices where caching costs what it usually costs: a tenth to read, a quarter more to write.
const fn usual(input: f64, output: f64) -> Prices {
    Prices { input, output, cache_read: input * 0.1, cache_write: input * 1.25 }
}

/// The list prices that are known.
const KNOWN: [(&str, Prices); 7] = [
    ("claude-sonnet-5", usual(3.0, 15.0)),
    ("claude-sonnet-4-6", usual(3.0, 15.0)),
    ("claude-opus-4-5", usual(5.0, 25.0)),
    ("claude-opus-4-6", usual(5.0, 25.0)),
    ("claude-opus-4-7", usual(5.0, 25.0)),
    ("claude-opus-4-8", usual(5.0, 25.0)),
    ("claude-haiku-4-5", usual(1.0, 5.0)),
];

/// What a model costs, where that is known. The user's own `[prices]` come first.
pub fn prices_of(model: &str, own: &BTreeMap<String, Prices>) -> Option<Prices> {
    // Exactly that model, or a dated snapshot of it: a later minor version may cost something else.
    let is = |known: &str| {
        let rest = model.strip_prefix(known);
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|date| date.len() == 8))
    };
    let known = || KNOWN.iter().find(|(name, _)| is(name)).map(|(_, prices)| prices);
    own.get(model).or_else(known).copied()
}

fn cost_usd(prices: &Prices, tokens: &TokenUsage) -> f64 {
    let parts = [
        (tokens.input, prices.input),
        (tokens.output, prices.output),
        (tokens.cache_read, prices.cache_read),
        (tokens.cache_write, prices.cache_write),
    ];
    parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum()
}

/// What a session has used so far.
#[derive(Clone, Debug)]
pub struct Ledger {
    tokens: TokenUsage,
    /// `None` as soon as one message's price is not known.
    cost_usd: Option<f64>,
    /// The first model whose price is not known.
    unpriced: Option<String>,
    context_used: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { tokens: TokenUsage::default(), cost_usd: Some(0.0), unpriced: None, context_used: 0 }
    }
}

impl Ledger {
    /// Adds one message of a model.
    pub fn record(&mut self, model: &str, tokens: &TokenUsage, prices: Option<Prices>) {
        if prices.is_none() {
            self.unpriced.get_or_insert_with(|| model.to_owned());
        }
        // The numbers are somebody else's.
        self.tokens.input = self.tokens.input.saturating_add(tokens.input);
        self.tokens.output = self.tokens.output.saturating_add(tokens.output);
        self.tokens.cache_read = self.tokens.cache_read.saturating_add(tokens.cache_read);
        self.tokens.cache_write = self.tokens.cache_write.saturating_add(tokens.cache_write);
        self.cost_usd = self.cost_usd.zip(prices).map(|(cost, prices)| cost + cost_usd(&prices, tokens));
        self.context_used = tokens.context();
    }

    /// The model for which the cost is not known.
    pub fn unpriced(&self) -> Option<&str> {
        self.unpriced.as_deref()
    }

    /// What the conversation fills of the window.
    pub fn context_used(&self) -> u64 {
        self.context_used
    }

    /// After a compaction the conversation is smaller, roughly so.
    pub fn set_context_used(&mut self, tokens: u64) {
        self.context_used = tokens;
    }

    /// Why the session may spend no more, when that is so.
    pub fn over_budget(&self, max_tokens: Option<u64>, max_cost_usd: Option<f64>) -> Option<String> {
        let used = self.tokens.context();
        if let Some(max) = max_tokens.filter(|max| used >= *max) {
            return Some(format!(
                "this session used {used} tokens and may use {max}: raise max_session_tokens, or start a new session"
            ));
        }
        let (cost, max) = self.cost_usd.zip(max_cost_usd).filter(|(cost, max)| cost >= max)?;
        Some(format!(
            "this session cost ${cost:.2} and may cost ${max:.2}: raise max_session_cost_usd, or start a new session"
        ))
    }

    /// For the front end.
    pub fn report(&self, context_size: u64) -> UsageReport {
        UsageReport {
            input_tokens: self.tokens.input,
            output_tokens: self.tokens.output,
            cache_read_tokens: self.tokens.cache_read,
            cache_write_tokens: self.tokens.cache_write,
            cost_usd: self.cost_usd,
            context_used: self.context_used,
            context_size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_for_that_model_and_its_snapshots_only() {
        let own = BTreeMap::new();
        assert!(prices_of("claude-sonnet-5", &own).is_some());
        assert!(prices_of("claude-haiku-4-5-20251001", &own).is_some());
        assert!(prices_of("claude-sonnet-5-5", &own).is_none());
        assert!(prices_of("gpt", &own).is_none());
    }

    #[test]
    fn an_unknown_price_makes_the_whole_cost_unknown_rather_than_wrong() {
        let mut ledger = Ledger::default();
        let tokens = TokenUsage { input: 1_000_000, output: 100_000, cache_read: 0, cache_write: 0 };
        ledger.record("m", &tokens, Some(usual(3.0, 15.0)));
        assert_eq!(ledger.report(1).cost_usd, Some(4.5));
        ledger.record("m", &tokens, None);
        assert_eq!(ledger.report(1).cost_usd, None);
    }

    #[test]
    fn absurd_numbers_of_tokens_are_no_overflow() {
        let mut ledger = Ledger::default();
        let tokens =
            TokenUsage { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX };
        ledger.record("m", &tokens, Some(usual(3.0, 15.0)));
        ledger.record("m", &tokens, Some(usual(3.0, 15.0)));
        assert_eq!((ledger.context_used(), ledger.report(1).input_tokens), (u64::MAX, u64::MAX));
        assert!(ledger.over_budget(Some(1), None).is_some());
    }

    #[test]
    fn a_budget_is_reached_and_says_what_to_do() {
        let mut ledger = Ledger::default();
        ledger.record("m", &TokenUsage { input: 100, ..Default::default() }, Some(usual(1e6, 1.0)));
        assert_eq!(ledger.over_budget(Some(101), Some(100.5)), None);
        assert!(ledger.over_budget(Some(100), None).is_some_and(|text| text.contains("max_session_tokens")));
        assert!(
            ledger.over_budget(None, Some(99.0)).is_some_and(|text| text.contains("max_session_cost_usd"))
        );
    }
}
