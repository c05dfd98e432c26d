//! `airlock plugin run`: calls a tool as the agent would, with a workspace and a sandbox of its own when it needs them.

use super::{World, describe, grant};
use crate::cli::authoring::told;
use crate::cli::exit::Exit;
use crate::cli::signals::Signals;
use crate::limits::TOOL_PROGRESS_WAITING_MAX;
use crate::neutral::{neutral, neutral_line};
use crate::paths::WorkspaceRoot;
use crate::patience::patiently;
use crate::patterns::Patterns;
use crate::plugins::{CallContext, Content, Plugin, Powers};
use crate::review;
use crate::sandbox::{Plan, SandboxError, SandboxSlot, session_folder};
use crate::storage;
use crate::tools::Progress;
use crate::view::{NoEditor, SessionView, WorkspaceWatches};
use anyhow::{Context, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// `airlock plugin run`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct RunArguments {
    /// The tool
    #[arg(value_name = "TOOL")]
    tool: String,

    /// What it is given: a JSON object
    #[arg(value_name = "JSON", default_value = "{}")]
    input: String,

    /// The plugin's name or folder; else the one in this folder, or whichever has that tool
    #[arg(short, long, value_name = "NAME|DIR")]
    plugin: Option<String>,

    /// Grant something for this call alone: workspace:read, exec, …, secret:NAME, or all but secrets
    #[arg(short, long, value_name = "WHAT")]
    grant: Vec<String>,

    /// The workspace; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

const HELP: &str = "\
The answer goes to stdout; who runs and with what grants, its log, its progress and what it proposes go to stderr.
The exit status is 0 only when the tool answered well.

Examples:
  airlock plugin run word_count '{\"text\": \"one two\"}'
  airlock plugin run --grant all collect_todos";

pub(super) async fn run(world: &World, arguments: RunArguments) -> anyhow::Result<Exit> {
    let workspace = world.workspace(arguments.workspace.as_deref())?;
    let plugin = match &arguments.plugin {
        Some(name) => world.named(name, Some(workspace.as_host()))?,
        None => world.with_tool(&arguments.tool, &workspace).await?,
    };
    let compiling = || told("the component is being compiled");
    let listing = patiently(plugin.list(&world.plugins), compiling).await.map_err(anyhow::Error::msg)?;
    let Some(tool) = listing.tools.iter().find(|tool| tool.name == arguments.tool) else {
        let names: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
        bail!("{} has no tool {:?}; it has {}", plugin.name(), arguments.tool, names.join(", "));
    };
    let input: serde_json::Value = serde_json::from_str(&arguments.input).context("the input is not JSON")?;
    let schema = jsonschema::validator_for(&tool.input_schema).context("the tool's schema is wrong")?;
    if let Some(error) = schema.iter_errors(&input).next() {
        bail!("the input does not fit the tool's schema: {error}");
    }
    let powers = powers(world, &plugin, &arguments.grant)?;
    // Nowhere is left to say that stderr is gone.
    let _ = writeln!(io::stderr(), "{}", neutral_line(&introduction(&plugin, &powers)));
    let (sink, shown) = mpsc::channel(TOOL_PROGRESS_WAITING_MAX);
    let shown = tokio::spawn(show(shown));
    let desk = Desk::open(world, &workspace, &powers);
    let context = CallContext {
        view: desk.as_ref().map(|desk| Arc::clone(&desk.view)),
        progress: Progress::of_call(0, sink),
        log: Arc::new(|level, line| {
            // Nowhere is left to say that stderr is gone.
            let _ = writeln!(io::stderr(), "{level}: {}", neutral_line(line));
        }),
        ..world.plugins.call_context(&plugin, powers)
    };
    let loaded = patiently(plugin.load(&world.plugins), compiling).await.map_err(anyhow::Error::msg)?;
    let engine = world.plugins.engine().map_err(anyhow::Error::msg)?;
    // From here on there may be a sandbox, which must not stay behind.
    let mut signals = Signals::new().context("signals cannot be caught")?;
    let input = input.to_string();
    let called = tokio::select! {
        called = engine.call_tool(&loaded, context, &arguments.tool, &input) => Ok(called),
        signal = signals.next() => Err(signal),
    };
    if let Some(desk) = desk {
        desk.close().await;
    }
    shown.await?;
    let answer = match called {
        Ok(Ok(Ok(contents))) => contents,
        Ok(Ok(Err(error))) => bail!("{}: {}", error.code, error.message),
        Ok(Err(fault)) => bail!("the plugin {} failed: {fault}", plugin.name()),
        Err(signal) => return Ok(Exit::Signalled(signal)),
    };
    for content in answer {
        if let Content::Json(text) = &content
            && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
        {
            bail!("{} answered with what is no JSON ({error}): {text}", arguments.tool);
        }
        let (Content::Text(text) | Content::Json(text)) = content;
        writeln!(io::stdout(), "{}", if io::stdout().is_terminal() { neutral(&text) } else { text })?;
    }
    Ok(Exit::Well)
}

/// Who is about to run, and what it may do.
fn introduction(plugin: &Plugin, powers: &Powers) -> String {
    let (name, version, folder) = (plugin.name(), &plugin.manifest.version, plugin.place.folder());
    let granted = match powers.words().as_slice() {
        [] => "nothing but computing".to_owned(),
        words => words.join(", "),
    };
    format!("plugin {name} {version} in {}, granted: {granted}", folder.display())
}

/// Shows progress until the call has ended.
async fn show(mut progress: mpsc::Receiver<(usize, String)>) {
    while let Some((_, text)) = progress.recv().await {
        // Nowhere is left to say that stderr is gone.
        let _ = write!(io::stderr(), "{}", neutral(&text));
    }
}

/// What the plugin has in this call: what it was granted, and what is granted for now. A person can be asked.
fn powers(world: &World, plugin: &Plugin, for_now: &[String]) -> anyhow::Result<Powers> {
    let asks = &plugin.manifest.asks;
    let mut granted = world.plugins.grants().granted(plugin);
    if for_now.iter().any(|word| word == "all") {
        // A secret is the user's, and not for whichever plugin lies in this folder.
        granted = granted.with(Powers { secrets: BTreeMap::new(), ..asks.clone() });
    }
    let words: Vec<String> = for_now.iter().filter(|word| *word != "all").cloned().collect();
    if !words.is_empty() {
        granted = granted.with(grant::parts(plugin, asks, &words)?);
    }
    let missing = asks.beyond(&granted);
    if missing.is_empty() || !for_now.is_empty() || !io::stdin().is_terminal() || !io::stderr().is_terminal()
    {
        return Ok(asks.within(&granted));
    }
    write!(
        io::stderr(),
        "The plugin {} asks for:\n{}\nGrant it for this call? [y/N] ",
        plugin.name(),
        describe::lines(&missing)
    )?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let yes = matches!(answer.trim(), "y" | "Y" | "yes");
    Ok(asks.within(&if yes { granted.with(missing) } else { granted }))
}

/// A view of the workspace for one call. Its sandbox starts when it is needed, and nothing of it is kept.
struct Desk {
    view: Arc<SessionView>,
    folder: PathBuf,
    _watches: WorkspaceWatches,
}

impl Desk {
    fn open(world: &World, workspace: &WorkspaceRoot, powers: &Powers) -> Option<Self> {
        if !powers.exec && powers.workspace.is_empty() {
            return None;
        }
        let (isolation, image) = (world.settings.isolation, world.settings.image.clone());
        let session_id = format!("plugin-run-{}", std::process::id());
        let folder = session_folder(&world.environment, &session_id);
        let plan = match world.settings.use_sandbox {
            true => Ok(Plan { session_id, workspace: workspace.clone(), isolation, image }),
            false => {
                Err(SandboxError::new("it is switched off", "set use_sandbox = true, or USE_SANDBOX=true"))
            }
        };
        let slot = SandboxSlot::new(world.environment.clone(), plan, |_| ());
        let watches = WorkspaceWatches::default();
        let tell = |text: String| {
            let _ = writeln!(io::stderr(), "{}", neutral(&text));
        };
        let view = SessionView::new(slot, workspace, Arc::new(NoEditor), &watches, &folder, tell);
        Some(Self { view, folder, _watches: watches })
    }

    /// Shows what was proposed, and ends it.
    async fn close(self) {
        self.view.capture().await;
        if let Some(held) = self.view.hold().await
            && let Ok(listing) = review::list(&held, &Patterns::default()).await
        {
            for change in &listing.changes {
                let (path, text) = (neutral_line(change.path.as_str()), neutral(&change.text()));
                let _ = writeln!(io::stderr(), "proposed for {path} (not kept):\n{text}");
            }
        }
        self.view.stop().await;
        if let Err(error) = remove(&self.folder) {
            tracing::warn!(%error, "what the call left cannot be removed");
        }
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    storage::remove_tree(folder)
}
