//! `airlock plugin build`: a component from its source, checked, with its list of tools in it.

use super::arguments::BuildArguments;
use super::{cargo, check, python, told};
use crate::cli::exit::Exit;
use crate::environment::Environment;
use crate::limits::{PLUGIN_FILE_MAX_BYTES, PLUGIN_MANIFEST_MAX_BYTES};
use crate::neutral::neutral;
use crate::patience::patiently;
use crate::plugins::section::Listing;
use crate::plugins::{COMPONENT, MANIFEST, Manifest, Names, Plugins};
use crate::storage;
use crate::tools;
use anyhow::{Context, anyhow, bail};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Builds the plugin in a folder.
pub(in crate::cli) async fn build(
    environment: &Environment,
    plugins: &Plugins,
    arguments: &BuildArguments,
) -> anyhow::Result<Exit> {
    let folder = folder(environment, arguments.folder.as_deref());
    let manifest = manifest(&folder)?;
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let source = match &arguments.component {
        Some(component) => environment.working_dir.join(component),
        None if folder.join("Cargo.toml").is_file() => cargo::build(environment, &folder).await?,
        None if folder.join("app.py").is_file() => {
            python::build(environment, &folder, scratch.path()).await?
        }
        None => bail!(
            "{} holds neither a Cargo.toml nor an app.py: build the component with a tool of your own, and give it with \
             --component FILE",
            folder.display()
        ),
    };
    let bytes = storage::read_bytes_of_file(&source, PLUGIN_FILE_MAX_BYTES)
        .with_context(|| format!("cannot read {}", source.display()))?
        .with_context(|| format!("{} is not there", source.display()))?;
    let of_component = |why: String| anyhow!("{}: {why}", source.display());
    let names = Names::read(&bytes).map_err(of_component)?;
    names.check().map_err(of_component)?;
    // It is asked for its list as a user's machine would ask it.
    let finished = patiently(plugins.finish(bytes), || {
        told("the component is being compiled, to ask it what it offers")
    });
    let (component, listing) = finished.await.map_err(of_component)?;
    let built_in: Vec<String> = tools::built_in().iter().map(|tool| tool.spec().name).collect();
    let findings = check::check(&listing, &names, &manifest, &built_in);
    if !findings.errors.is_empty() {
        bail!("the plugin {} cannot be used like this:\n  {}", manifest.name, findings.errors.join("\n  "));
    }
    let target = folder.join(COMPONENT);
    storage::replace(&target, &component).with_context(|| format!("cannot write {}", target.display()))?;
    for warning in &findings.warnings {
        writeln!(io::stderr(), "warning: {}", neutral(warning))?;
    }
    write!(io::stdout(), "{}", neutral(&report(&manifest, &listing, &target, component.len())))?;
    Ok(Exit::Well)
}

fn report(manifest: &Manifest, listing: &Listing, target: &Path, bytes: usize) -> String {
    let mut report =
        format!("{} {}: {} ({} kB)\n", manifest.name, manifest.version, target.display(), bytes / 1000);
    for tool in &listing.tools {
        // Writing to a string cannot fail.
        let _ = writeln!(report, "  tool {}: {}", tool.name, first_line(&tool.description));
    }
    for command in &listing.commands {
        let _ = writeln!(report, "  command /{}: {}", command.name, first_line(&command.description));
    }
    let asks = manifest.asks.lines();
    if asks.is_empty() {
        report.push_str("  asks for nothing\n");
    }
    for line in asks {
        let _ = writeln!(report, "  asks for {line}");
    }
    report
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The plugin's folder: named, or where the author is.
pub(super) fn folder(environment: &Environment, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| environment.working_dir.clone(), |named| environment.working_dir.join(named))
}

/// What the `plugin.toml` of the folder says.
fn manifest(folder: &Path) -> anyhow::Result<Manifest> {
    let path = folder.join(MANIFEST);
    let bytes = storage::read_bytes_of_file(&path, PLUGIN_MANIFEST_MAX_BYTES)
        .with_context(|| format!("cannot read {}", path.display()))?
        .with_context(|| {
            format!("{} is not there: make a plugin with `airlock plugin new NAME`", path.display())
        })?;
    let text = String::from_utf8(bytes).with_context(|| format!("{} is no text", path.display()))?;
    Manifest::parse(&text).map_err(|why| anyhow!("{}: {why}", path.display()))
}
