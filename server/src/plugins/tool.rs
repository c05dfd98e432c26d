//! A plugin's tool as the agent sees it.

use super::engine::Content;
use super::fault::Fault;
use super::host::CallContext;
use super::plugin::Plugin;
use super::powers::WorkspacePower;
use super::section::ListedTool;
use super::shared::Plugins;
use super::slot::{News, Slot};
use crate::claude::ToolSpec;
use crate::conversation::ResultPart;
use crate::limits::PLUGIN_OUTPUT_MAX_BYTES;
use crate::tools::{Tool, ToolContext, ToolOutcome};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a plugin.
pub struct PluginTool {
    slot: Arc<Slot>,
    plugins: Arc<Plugins>,
    plugin: String,
    listed: ListedTool,
    reads_only: bool,
    tell: Arc<dyn Fn(String) + Send + Sync>,
}

impl PluginTool {
    pub(super) fn new(
        slot: Arc<Slot>,
        plugins: Arc<Plugins>,
        plugin: &Plugin,
        listed: &ListedTool,
        tell: Arc<dyn Fn(String) + Send + Sync>,
    ) -> Self {
        let (name, listed) = (plugin.name().to_owned(), listed.clone());
        Self { slot, plugins, plugin: name, reads_only: reads_only(plugin, &listed), listed, tell }
    }
}

/// Whether a tool changes nothing: it must say so, and its plugin must not even ask for a way to.
fn reads_only(plugin: &Plugin, listed: &ListedTool) -> bool {
    let asks = &plugin.manifest.asks;
    let only_gets =
        asks.http.iter().flat_map(|power| &power.methods).all(|method| method == "GET" || method == "HEAD");
    let may_write = asks.exec || asks.workspace.contains(&WorkspacePower::Propose) || !only_gets;
    !may_write && listed.effects.iter().all(|effect| effect == "read" || effect == "http")
}

impl Tool for PluginTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.listed.name.clone(),
            description: self.listed.description.clone(),
            input_schema: self.listed.input_schema.clone(),
        }
    }

    fn reads_only(&self) -> bool {
        self.reads_only
    }

    fn title(&self, input: &Value) -> String {
        /// What fits into a line.
        const INPUT_SHOWN_MAX_BYTES: usize = 120;
        let input = input.to_string();
        let end = input.floor_char_boundary(INPUT_SHOWN_MAX_BYTES.min(input.len()));
        let more = if end < input.len() { "…" } else { "" };
        format!("{} {}{more}", self.listed.name, &input[..end])
    }

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let (slot, plugins) = (Arc::clone(&self.slot), Arc::clone(&self.plugins));
        let (plugin, name, tell) = (self.plugin.clone(), self.listed.name.clone(), Arc::clone(&self.tell));
        let cancel = context.cancel.clone();
        Box::pin(async move {
            let called = call(&slot, &plugins, &name, &input, context, &*tell).await;
            called.unwrap_or_else(|why| {
                let text = format!("the plugin {plugin} failed in {name}: {why}");
                // Who stopped it knows.
                if !cancel.is_cancelled() {
                    tell(text.clone());
                }
                ToolOutcome::error(text)
            })
        })
    }
}

async fn call(
    slot: &Slot,
    plugins: &Plugins,
    name: &str,
    input: &Value,
    context: ToolContext,
    tell: &(dyn Fn(String) + Send + Sync),
) -> Result<ToolOutcome, String> {
    if let News::Broken(why) = slot.refresh(plugins).await {
        tell(format!("a plugin changed and cannot be used, so the last good one goes on: {why}"));
    }
    let (plugin, around) = prepare(slot, plugins, context).await?;
    let loaded = plugin.load(plugins).await?;
    let called = plugins.engine()?.call_tool(&loaded, around, name, &input.to_string()).await;
    match called.map_err(|fault: Fault| fault.to_string())? {
        Ok(contents) => answer(contents),
        Err(error) => {
            let again = if error.retryable { " (the same call may work later)" } else { "" };
            Ok(ToolOutcome::error(format!("{}: {}{again}", error.code, error.message)))
        }
    }
}

/// The prompt that a slash command stands for.
pub(super) async fn invoke_command(
    slot: &Slot,
    plugins: &Plugins,
    name: &str,
    arguments: &str,
    context: ToolContext,
) -> Result<String, String> {
    let (plugin, around) = prepare(slot, plugins, context).await?;
    let failed = |why: String| format!("the plugin {} failed in /{name}: {why}", plugin.name());
    let loaded = plugin.load(plugins).await.map_err(failed)?;
    let expanded = plugins.engine()?.expand(&loaded, around, name, arguments).await;
    match expanded.map_err(|fault| failed(fault.to_string()))? {
        Ok(prompt) if prompt.len() > crate::limits::PROMPT_MAX_BYTES => {
            Err(failed("its prompt is too long".to_owned()))
        }
        Ok(prompt) => Ok(prompt),
        Err(error) => Err(failed(format!("{}: {}", error.code, error.message))),
    }
}

/// The plugin as it is now, and what a call of it has around it.
async fn prepare(
    slot: &Slot,
    plugins: &Plugins,
    context: ToolContext,
) -> Result<(Arc<Plugin>, CallContext), String> {
    let plugin = slot.plugin().ok_or("it is gone")?;
    let asked = slot.powers(&plugin, plugins, &context.consent);
    let Some(powers) = context.cancel.run_until_cancelled(asked).await else {
        return Err("stopped by the user".to_owned());
    };
    let around = CallContext {
        cancel: context.cancel,
        progress: context.progress,
        view: Some(context.view),
        editor: context.editor,
        ..plugins.call_context(&plugin, powers)
    };
    Ok((plugin, around))
}

/// A good answer, as far as it is one.
pub(super) fn answer(contents: Vec<Content>) -> Result<ToolOutcome, String> {
    let mut texts = Vec::new();
    for content in contents {
        match content {
            Content::Text(text) => texts.push(text),
            Content::Json(text) => {
                let end = text.floor_char_boundary(200.min(text.len()));
                serde_json::from_str::<serde::de::IgnoredAny>(&text).map_err(|error| {
                    format!("it answered with what is no JSON ({error}): {}", &text[..end])
                })?;
                texts.push(text);
            }
        }
    }
    Ok(ToolOutcome { content: vec![ResultPart::text(bounded(texts.join("\n")))], ..ToolOutcome::text("") })
}

/// A plugin that says too much is cut in the middle.
fn bounded(text: String) -> String {
    if text.len() <= PLUGIN_OUTPUT_MAX_BYTES {
        return text;
    }
    let head = text.floor_char_boundary(PLUGIN_OUTPUT_MAX_BYTES / 2);
    let tail = text.ceil_char_boundary(text.len() - PLUGIN_OUTPUT_MAX_BYTES / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
