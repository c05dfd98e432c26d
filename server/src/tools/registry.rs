//! The tools of a session: looked up by name, their input checked before they run.

use super::{Tool, ToolContext, ToolOutcome};
use crate::claude::ToolSpec;
use crate::conversation::ResultPart;
use crate::limits::{TOOL_NAME_MAX_CHARS, TOOL_RESULT_MAX_BYTES};
use crate::neutral::neutral_line;
use jsonschema::Validator;
use serde_json::Value;
use std::sync::Arc;

/// The tools there are, in an order that never changes.
pub struct Registry {
    entries: Vec<Entry>,
    specs: Vec<ToolSpec>,
}

#[derive(Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    validator: Arc<Validator>,
}

/// Keywords that fail the whole request when they stand at the top of a schema.
const FORBIDDEN_AT_TOP: [&str; 3] = ["oneOf", "anyOf", "allOf"];

impl Registry {
    /// Takes the tools that the API would accept; for each other one there is a sentence that says why not.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> (Self, Vec<String>) {
        Self { entries: Vec::new(), specs: Vec::new() }.with(tools)
    }

    /// These tools, and after them others. None of those takes the name of one that is there.
    pub fn with(&self, tools: Vec<Arc<dyn Tool>>) -> (Self, Vec<String>) {
        let mut registry = Self { entries: self.entries.clone(), specs: self.specs.clone() };
        let mut left_out = Vec::new();
        for tool in tools {
            let spec = tool.spec();
            match registry.check(&spec) {
                Ok(validator) => {
                    registry.entries.push(Entry { tool, validator: Arc::new(validator) });
                    registry.specs.push(spec);
                }
                Err(why) => left_out.push(format!("the tool {:?} is left out: {why}", spec.name)),
            }
        }
        (registry, left_out)
    }

    /// What the model is told.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Whether a tool changes nothing. One that is not there changes nothing either.
    pub fn reads_only(&self, name: &str) -> bool {
        self.find(name).is_none_or(|entry| entry.tool.reads_only())
    }

    /// The plugin that brought a tool.
    pub fn owner(&self, name: &str) -> Option<&str> {
        self.find(name)?.tool.owner()
    }

    /// A call in a few words.
    pub fn title(&self, name: &str, input: &Value) -> String {
        let title = self.find(name).map_or_else(|| name.to_owned(), |entry| entry.tool.title(input));
        neutral_line(&title)
    }

    /// Runs a tool. Whatever is wrong with the call becomes an error that the model can read.
    pub async fn run(&self, name: &str, input: Value, context: ToolContext) -> ToolOutcome {
        let Some(entry) = self.find(name) else {
            let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
            return ToolOutcome::error(format!("there is no tool {name:?}; there are {}", names.join(", ")));
        };
        let errors: Vec<String> = entry
            .validator
            .iter_errors(&input)
            .take(5)
            .map(|error| match error.instance_path().to_string() {
                path if path.is_empty() => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        if !errors.is_empty() {
            return ToolOutcome::error(format!(
                "the input does not fit the tool's schema: {}",
                errors.join("; ")
            ));
        }
        bounded(entry.tool.run(input, context).await)
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.specs.iter().position(|spec| spec.name == name).map(|index| &self.entries[index])
    }

    fn check(&self, spec: &ToolSpec) -> Result<Validator, String> {
        let letters = spec.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if spec.name.is_empty() || spec.name.len() > TOOL_NAME_MAX_CHARS || !letters {
            return Err(format!(
                "its name must be 1 to {TOOL_NAME_MAX_CHARS} letters, digits, \"_\" or \"-\""
            ));
        }
        if self.find(&spec.name).is_some() {
            return Err("another tool has that name".to_owned());
        }
        let Some(schema) = spec.input_schema.as_object() else {
            return Err("its input schema is not an object".to_owned());
        };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("its input schema must have \"type\": \"object\"".to_owned());
        }
        if let Some(keyword) = FORBIDDEN_AT_TOP.iter().find(|keyword| schema.contains_key(**keyword)) {
            return Err(format!("its input schema has {keyword:?} at the top, which the API refuses"));
        }
        jsonschema::validator_for(&spec.input_schema)
            .map_err(|error| format!("its input schema is wrong: {error}"))
    }
}

/// A last bound: a tool that says too much is cut in the middle.
fn bounded(mut outcome: ToolOutcome) -> ToolOutcome {
    let mut room = TOOL_RESULT_MAX_BYTES;
    for part in &mut outcome.content {
        if let ResultPart::Text { text } = part {
            if text.len() > room {
                let (head, tail) =
                    (text.floor_char_boundary(room / 2), text.ceil_char_boundary(text.len() - room / 2));
                let left_out = tail - head;
                *text = format!("{}\n[… {left_out} bytes left out …]\n{}", &text[..head], &text[tail..]);
            }
            room = room.saturating_sub(text.len());
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::sandbox::{SandboxError, SandboxSlot};
    use crate::tools::{Progress, built_in};
    use crate::view::SessionView;
    use futures::future::BoxFuture;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    struct Fake(&'static str, Value);

    impl Tool for Fake {
        fn spec(&self) -> ToolSpec {
            ToolSpec { name: self.0.to_owned(), description: String::new(), input_schema: self.1.clone() }
        }
        fn reads_only(&self) -> bool {
            true
        }
        fn title(&self, _: &Value) -> String {
            String::new()
        }
        fn run(&self, _: Value, _: ToolContext) -> BoxFuture<'static, ToolOutcome> {
            Box::pin(std::future::ready(ToolOutcome::text("ä".repeat(TOOL_RESULT_MAX_BYTES))))
        }
    }

    fn context() -> ToolContext {
        ToolContext {
            cancel: CancellationToken::new(),
            progress: Progress::nowhere(),
            view: SessionView::none(SandboxSlot::none(
                Environment::for_test(std::path::Path::new("/nowhere"), &[]),
                SandboxError::new("it is a test", "do nothing"),
            )),
            editor: Default::default(),
            consent: crate::tools::Consent::nobody(),
        }
    }

    #[test]
    fn the_built_in_tools_are_all_accepted() {
        let (registry, left_out) = Registry::new(built_in());
        assert_eq!(left_out, Vec::<String>::new());
        assert_eq!(registry.specs().len(), 6);
    }

    #[test]
    fn one_bad_schema_leaves_out_that_tool_and_no_other() {
        let object = json!({"type": "object"});
        let tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(Fake("good", object.clone())),
            Arc::new(Fake("top", json!({"type": "object", "anyOf": []}))),
            Arc::new(Fake("good", object.clone())),
            Arc::new(Fake("no schema", object)),
            Arc::new(Fake("broken", json!({"type": "object", "properties": {"a": {"type": "nonsense"}}}))),
        ];
        let (registry, left_out) = Registry::new(tools);
        assert_eq!(registry.specs().iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["good"]);
        assert_eq!(left_out.len(), 4, "{left_out:?}");
    }

    #[tokio::test]
    async fn bad_input_never_reaches_a_tool() {
        let (registry, _) = Registry::new(built_in());
        for input in [
            json!({}),
            json!({"command": 1}),
            json!({"command": ""}),
            json!({"command": "x", "extra": 1}),
            json!([]),
        ] {
            let outcome = registry.run("bash", input.clone(), context()).await;
            assert!(outcome.is_error && outcome.all_text().contains("schema"), "{input}: {outcome:?}");
        }
        let outcome = registry.run("bsh", json!({}), context()).await;
        assert!(outcome.is_error && outcome.all_text().contains("bash"));
    }

    #[tokio::test]
    async fn an_answer_over_the_limit_is_cut_in_the_middle() {
        let (registry, _) = Registry::new(vec![Arc::new(Fake("loud", json!({"type": "object"})))]);
        let text = registry.run("loud", json!({}), context()).await.all_text();
        assert!(text.len() < TOOL_RESULT_MAX_BYTES + 100 && text.contains("left out"));
    }
}
