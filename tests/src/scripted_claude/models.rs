//! `GET /v1/models` and `/v1/models/{id}`: what models there are, in the API's shape.

use super::fault::ApiError;
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) id: String,
    pub(super) context: u64,
    pub(super) max_tokens: u64,
    pub(super) adaptive: bool,
}

/// The models that every scripted Claude knows, the newest first as the API lists them.
pub(super) fn known() -> Vec<Model> {
    vec![
        Model::new("claude-sonnet-5", 1_000_000, 128_000, true),
        Model::new("claude-haiku-4-5", 200_000, 64_000, false),
    ]
}

impl Model {
    pub(super) fn new(id: &str, context: u64, max_tokens: u64, adaptive: bool) -> Self {
        Self { id: id.to_owned(), context, max_tokens, adaptive }
    }

    fn info(&self) -> Value {
        let is = |supported: bool| json!({"supported": supported});
        let line = ["haiku", "sonnet", "opus"].into_iter().find(|line| self.id.contains(line));
        json!({
            "type": "model",
            "id": self.id,
            "display_name": self.id.replace("claude-", "Claude ").replace('-', " "),
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "line": line,
            "deprecated_at": null,
            "retires_at": null,
            "max_input_tokens": self.context,
            "max_tokens": self.max_tokens,
            "capabilities": {
                "batch": is(true),
                "citations": is(true),
                "code_execution": is(true),
                "context_management": is(false),
                "effort": {
                    "supported": self.adaptive, "low": is(self.adaptive), "medium": is(self.adaptive),
                    "high": is(self.adaptive), "max": is(self.adaptive), "xhigh": is(false),
                },
                "image_input": is(true),
                "pdf_input": is(true),
                "server_tools": {"supported": true, "code_execution": is(true), "web_search": is(true)},
                "structured_outputs": is(true),
                "thinking": {
                    "supported": true,
                    "types": {
                        "adaptive": is(self.adaptive), "between_tools": is(self.adaptive),
                        "disabled": is(true), "enabled": is(!self.adaptive),
                    },
                },
            },
        })
    }
}

/// One model.
pub(super) fn retrieve(models: &[Model], id: &str) -> Result<Value, ApiError> {
    Ok(find(models, id)?.info())
}

pub(super) fn find<'a>(models: &'a [Model], id: &str) -> Result<&'a Model, ApiError> {
    models
        .iter()
        .find(|model| model.id == id)
        .ok_or_else(|| ApiError::new(404, "not_found_error", format!("model: {id}")))
}

/// A page of them: the query may hold `limit` and `after_id`.
pub(super) fn list(models: &[Model], query: &str) -> Value {
    let parameter = |name: &str| {
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    };
    let after = parameter("after_id").and_then(|id| models.iter().position(|model| model.id == id));
    let rest = &models[after.map_or(0, |index| index + 1)..];
    let limit = parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20);
    let page = &rest[..rest.len().min(limit)];
    json!({
        "data": page.iter().map(Model::info).collect::<Vec<_>>(),
        "has_more": page.len() < rest.len(),
        "first_id": page.first().map(|model| &model.id),
        "last_id": page.last().map(|model| &model.id),
    })
}
