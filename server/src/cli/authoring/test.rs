//! `airlock plugin test`: runs the cases in `tests/*.json` with a host that is rehearsed.

use super::arguments::TestArguments;
use super::build::folder;
use super::case::{self, Call, Case};
use super::expectation::Answer;
use super::told;
use crate::cli::exit::Exit;
use crate::environment::Environment;
use crate::limits::PLUGIN_CASES_MAX_BYTES;
use crate::neutral::neutral;
use crate::patience::patiently;
use crate::plugins::{
    COMPONENT, CallContext, Content, Fault, Loaded, Place, Plugin, PluginEngine, Plugins, ToolError,
};
use crate::storage;
use anyhow::{Context, bail};
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The plugin that is tested.
struct Bench<'p> {
    plugins: &'p Plugins,
    engine: Arc<PluginEngine>,
    plugin: Arc<Plugin>,
    loaded: Arc<Loaded>,
}

/// Runs the cases of the plugin in a folder.
pub(in crate::cli) async fn test(
    environment: &Environment,
    plugins: &Plugins,
    arguments: &TestArguments,
) -> anyhow::Result<Exit> {
    let folder = folder(environment, arguments.folder.as_deref());
    let mut cases = cases(&folder)?;
    if let Some(filter) = &arguments.filter {
        cases.retain(|case| case.name.contains(filter.as_str()));
    }
    if cases.is_empty() {
        bail!("no case to run: write some into {}", folder.join("tests/cases.json").display());
    }
    if !folder.join(COMPONENT).is_file() {
        bail!("there is no {COMPONENT} in {}: run `airlock plugin build` first", folder.display());
    }
    let bench = Bench::of(plugins, &folder).await.map_err(anyhow::Error::msg)?;
    let (mut out, mut failed) = (io::stdout(), 0);
    for case in &cases {
        let differences = bench.differences(case).await?;
        let verdict = if differences.is_empty() { "ok" } else { "FAILED" };
        writeln!(out, "{} ... {verdict}", neutral(&case.name))?;
        for difference in &differences {
            writeln!(out, "  {}", neutral(difference))?;
        }
        failed += usize::from(!differences.is_empty());
    }
    writeln!(out, "{} passed, {failed} failed", cases.len() - failed)?;
    Ok(if failed == 0 { Exit::Well } else { Exit::Failed })
}

fn cases(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let folder = folder.join("tests");
    let mut cases = Vec::new();
    for name in storage::names_with_suffix(&folder, ".json")? {
        let path = folder.join(name);
        let text = storage::read_text(&path, PLUGIN_CASES_MAX_BYTES)
            .with_context(|| format!("cannot read {}", path.display()))?
            .unwrap_or_default();
        cases.extend(case::parse(&path, &text)?);
    }
    Ok(cases)
}

impl<'p> Bench<'p> {
    async fn of(plugins: &'p Plugins, folder: &Path) -> Result<Self, String> {
        let plugin = plugins.open(&Place::User(folder.to_owned()))?;
        let loaded = patiently(plugin.load(plugins), || told("the component is being compiled")).await?;
        plugin.list(plugins).await?;
        Ok(Self { engine: plugins.engine()?, plugins, plugin, loaded })
    }

    /// What of a case is not as it must be.
    async fn differences(&self, case: &Case) -> anyhow::Result<Vec<String>> {
        let stage = case.host.stage();
        let context = self.plugins.rehearsal_context(&self.plugin, &stage).map_err(anyhow::Error::msg)?;
        let answer = match case.call()? {
            Call::Tool { name, arguments } => self.call(context, name, &arguments).await,
            Call::Command { name, arguments } => self.expand(context, name, arguments).await,
        };
        Ok(match answer {
            Ok(answer) => case.expect.differences(&answer, &stage.told()),
            Err(fault) => vec![fault.to_string()],
        })
    }

    /// As the server does it: what does not fit the schema never reaches the tool.
    async fn call(&self, context: CallContext, name: &str, arguments: &Value) -> Result<Answer, Fault> {
        let mut tools = self.plugin.listing().into_iter().flat_map(|listing| &listing.tools);
        let Some(tool) = tools.find(|tool| tool.name == name) else {
            return Err(Fault::new(format!("the plugin has no tool {name}")));
        };
        let schema = jsonschema::validator_for(&tool.input_schema)
            .map_err(|error| Fault::new(format!("the schema of {name} is wrong: {error}")))?;
        if let Err(error) = schema.validate(arguments) {
            return Ok(Answer::Error { code: "invalid".to_owned(), message: error.to_string() });
        }
        let answer = self.engine.call_tool(&self.loaded, context, name, &arguments.to_string()).await?;
        answer.map_or_else(|error| Ok(of_error(error)), of_content)
    }

    async fn expand(&self, context: CallContext, name: &str, arguments: &str) -> Result<Answer, Fault> {
        let prompt = self.engine.expand(&self.loaded, context, name, arguments).await?;
        Ok(prompt.map_or_else(of_error, Answer::Text))
    }
}

/// Several pieces are one text, as the model sees them.
fn of_content(content: Vec<Content>) -> Result<Answer, Fault> {
    if let [Content::Json(json)] = content.as_slice() {
        let data = serde_json::from_str(json);
        return data.map(Answer::Json).map_err(|error| Fault::new(format!("its answer is no JSON: {error}")));
    }
    let pieces = content.into_iter().map(|(Content::Text(text) | Content::Json(text))| text);
    Ok(Answer::Text(pieces.collect::<Vec<_>>().join("\n")))
}

fn of_error(error: ToolError) -> Answer {
    Answer::Error { code: error.code, message: error.message }
}
