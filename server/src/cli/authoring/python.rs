//! A component from `app.py`.

use super::{told, toolchain};
use crate::environment::Environment;
use crate::patience::patiently;
use anyhow::bail;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The version that the template was made for.
pub(super) const COMPONENTIZE_PY: &str = "componentize-py==0.25.1";

/// The name of the world in `wit/world.wit`.
const WORLD: &str = "python-plugin";

/// Builds the component into this folder of ours.
pub(super) async fn build(environment: &Environment, folder: &Path, into: &Path) -> anyhow::Result<PathBuf> {
    let advice = format!("run `pip install {COMPONENTIZE_PY}` and build again");
    let program = toolchain::find(environment, "componentize-py", &advice)?;
    let component = into.join("app.wasm");
    let words = ["--quiet", "--wit-path", "wit", "--world", WORLD, "componentize", "app", "--output"];
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).chain([component.as_os_str()]).collect();
    let run = toolchain::run(&program, folder, &words, Stdio::inherit());
    let (built, _) = patiently(run, || told("componentize-py is at work")).await?;
    if !built {
        bail!("componentize-py could not build {}: it says why above", folder.display());
    }
    Ok(component)
}
