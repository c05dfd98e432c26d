//! A plugin's tool as the agent sees it.

use super::engine::Content;
use super::fault::Fault;
use super::host::CallContext;
use super::plugin::Plugin;
use super::powers::WorkspacePower;
use super::section::ListedTool;
use super::shared::Plugins;
use super::slot::Slot;
use crate::claude::ToolSpec;
use crate::conversation::ResultPart;
use crate::limits::PLUGIN_OUTPUT_MAX_BYTES;
use crate::patience::patiently;
use crate::tools::{Tool, ToolContext, ToolOutcome};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a plugin.
pub struct PluginTool {
    slot: Arc<Slot>,
    plugins: Arc<Plugins>,
    /// As it was when the turn began.
    plugin: Arc<Plugin>,
    listed: ListedTool,
    reads_only: bool,
    tell: Arc<dyn Fn(String) + Send + Sync>,
}

impl PluginTool {
    pub(super) fn new(
        slot: Arc<Slot>,
        plugins: Arc<Plugins>,
        plugin: Arc<Plugin>,
        listed: &ListedTool,
        tell: Arc<dyn Fn(String) + Send + Sync>,
    ) -> Self {
        let (listed, reads_only) = (listed.clone(), reads_only(&plugin, listed));
        Self { slot, plugins, plugin, reads_only, listed, tell }
    }
}

/// Whether a tool changes nothing: it must say so, and its plugin must not even ask for a way to.
fn reads_only(plugin: &Plugin, listed: &ListedTool) -> bool {
    !may_write(plugin) && listed.effects.iter().all(|effect| effect == "read" || effect == "http")
}

fn may_write(plugin: &Plugin) -> bool {
    let mut methods = plugin.manifest.asks.http.iter().flat_map(|power| &power.methods);
    changes_files(plugin) || methods.any(|method| method != "GET" && method != "HEAD")
}

/// Whether a plugin asks for a way to change what the agent sees.
pub(super) fn changes_files(plugin: &Plugin) -> bool {
    let asks = &plugin.manifest.asks;
    asks.exec || asks.workspace.contains(&WorkspacePower::Propose)
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

    fn owner(&self) -> Option<&str> {
        Some(self.plugin.name())
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
        let (plugin, name, tell) =
            (Arc::clone(&self.plugin), self.listed.name.clone(), Arc::clone(&self.tell));
        let (cancel, reads_only) = (context.cancel.clone(), self.reads_only);
        let progress = context.progress.clone();
        Box::pin(async move {
            let compiling = || progress.show(being_compiled(&plugin));
            if let Err(why) = patiently(slot.refresh(&plugins), compiling).await {
                tell(format!("a plugin changed and cannot be used, so the last good one goes on: {why}"));
            }
            // What may write runs alone and can be undone. One that did not ask for it when the turn began has to wait.
            let now = slot.plugin().filter(|now| !(reads_only && may_write(now)));
            let called =
                call(&slot, now.unwrap_or_else(|| Arc::clone(&plugin)), &plugins, &name, &input, context);
            called.await.unwrap_or_else(|why| {
                let text = format!("the plugin {} failed in {name}: {why}", plugin.name());
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
    plugin: Arc<Plugin>,
    plugins: &Plugins,
    name: &str,
    input: &Value,
    context: ToolContext,
) -> Result<ToolOutcome, String> {
    let progress = context.progress.clone();
    let around = prepare(slot, &plugin, plugins, context).await?;
    let compiling = || progress.show(being_compiled(&plugin));
    let loaded = patiently(plugin.load(plugins), compiling).await?;
    let called = plugins.engine()?.call_tool(&loaded, around, name, &input.to_string()).await;
    match called.map_err(|fault: Fault| fault.to_string())? {
        Ok(contents) => answer(contents),
        Err(error) => {
            let again = if error.retryable { " (the same call may work later)" } else { "" };
            Ok(ToolOutcome::error(bounded(format!("{}: {}{again}", error.code, error.message))))
        }
    }
}

fn being_compiled(plugin: &Plugin) -> String {
    format!("the plugin {} is being compiled\n", plugin.name())
}

/// The prompt that a slash command stands for.
pub(super) async fn invoke_command(
    slot: &Slot,
    plugins: &Plugins,
    name: &str,
    arguments: &str,
    context: ToolContext,
) -> Result<String, String> {
    let plugin = slot.plugin().ok_or("the plugin is gone")?;
    let around = prepare(slot, &plugin, plugins, context).await?;
    let failed = |why: String| format!("the plugin {} failed in /{name}: {why}", plugin.name());
    let loaded = plugin.load(plugins).await.map_err(failed)?;
    let expanded = plugins.engine()?.expand(&loaded, around, name, arguments).await;
    match expanded.map_err(|fault| failed(fault.to_string()))? {
        Ok(prompt) if prompt.len() > crate::limits::PROMPT_MAX_BYTES => {
            Err(failed("its prompt is too long".to_owned()))
        }
        Ok(prompt) => Ok(prompt),
        Err(error) => Err(failed(bounded(format!("{}: {}", error.code, error.message)))),
    }
}

/// What a call of a plugin has around it.
async fn prepare(
    slot: &Slot,
    plugin: &Arc<Plugin>,
    plugins: &Plugins,
    context: ToolContext,
) -> Result<CallContext, String> {
    let asked = slot.powers(plugin, plugins, &context.consent);
    let Some(powers) = context.cancel.run_until_cancelled(asked).await else {
        return Err("stopped by the user".to_owned());
    };
    Ok(CallContext {
        cancel: context.cancel,
        progress: context.progress,
        view: Some(context.view),
        editor: context.editor,
        ..plugins.call_context(plugin, powers)
    })
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
