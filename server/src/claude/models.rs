//! What a model can do, as `GET /v1/models/{id}` tells it.

use super::wire::WireModel;

/// A model's properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Tokens of its window.
    pub context_size: u64,
    /// The most tokens that one answer may have.
    pub max_output: Option<u64>,
    /// It thinks when it wants to, and can be asked to show it.
    pub adaptive_thinking: bool,
}

impl Default for ModelInfo {
    /// What is assumed while the API does not tell: the smallest window of any current model, nothing special.
    fn default() -> Self {
        Self { context_size: 200_000, max_output: None, adaptive_thinking: false }
    }
}

impl From<WireModel> for ModelInfo {
    fn from(wire: WireModel) -> Self {
        let adaptive = wire.capabilities.pointer("/thinking/types/adaptive/supported");
        Self {
            context_size: wire.max_input_tokens.unwrap_or(Self::default().context_size),
            max_output: wire.max_tokens,
            adaptive_thinking: adaptive.and_then(serde_json::Value::as_bool).unwrap_or(false),
        }
    }
}
