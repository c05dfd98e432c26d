//! A component from a Rust crate.

use super::toolchain;
use crate::environment::Environment;
use anyhow::{Context, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const TARGET: &str = "wasm32-wasip2";
const RUST: &str = "install Rust from https://rustup.rs";

/// Builds the crate in this folder; gives the component that cargo made.
pub(super) async fn build(environment: &Environment, folder: &Path) -> anyhow::Result<PathBuf> {
    let cargo = toolchain::find(environment, "cargo", RUST)?;
    let rustc = toolchain::find(environment, "rustc", RUST)?;
    let words = ["--print", "target-libdir", "--target", TARGET];
    let (known, folder_of_target) = toolchain::run(&rustc, folder, &words, Stdio::null()).await?;
    let folder_of_target = String::from_utf8_lossy(&folder_of_target);
    if !known || !Path::new(folder_of_target.trim()).is_dir() {
        bail!("the Rust target {TARGET} is not installed: run `rustup target add {TARGET}` and build again");
    }
    let words =
        ["build", "--release", "--lib", "--target", TARGET, "--message-format=json-render-diagnostics"];
    let (built, messages) = toolchain::run(&cargo, folder, &words, Stdio::inherit()).await?;
    if !built {
        bail!("cargo could not build {}: it says why above", folder.display());
    }
    let manifest = folder.join("Cargo.toml").canonicalize()?;
    component(&messages, &manifest).with_context(|| {
        format!(
            "cargo made no component of {}: it needs `crate-type = [\"cdylib\"]` under [lib]",
            manifest.display()
        )
    })
}

/// The `.wasm` that cargo says it made of the crate with this manifest.
fn component(messages: &[u8], manifest: &Path) -> Option<PathBuf> {
    let ours = |message: &Value| {
        message["reason"] == "compiler-artifact"
            && message["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest)
    };
    messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter(ours)
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|name| name.as_str().map(PathBuf::from))
        .find(|path| path.extension().is_some_and(|end| end == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::component;
    use std::path::{Path, PathBuf};

    #[test]
    fn the_component_of_the_crate_is_found_among_what_cargo_says() {
        let messages = br#"
            not json
            {"reason":"compiler-artifact","manifest_path":"/dep/Cargo.toml","filenames":["/t/dep.wasm"]}
            {"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","filenames":["/t/p.d","/t/p.wasm"]}
            {"reason":"build-finished","success":true}"#;
        assert_eq!(component(messages, Path::new("/p/Cargo.toml")), Some(PathBuf::from("/t/p.wasm")));
        assert_eq!(component(messages, Path::new("/other/Cargo.toml")), None);
    }
}
