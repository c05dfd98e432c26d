//! Neovim 0.10, which the client for it is tested in, and luacheck for its Lua.
//!
//! Debian's trixie has it; its packages are only unpacked, and it runs with its own loader and libraries, so the machine may
//! be an older Debian.

use crate::components::{apt, cache};
use crate::lab::kept::{self, Kept};
use crate::lab::mirror;
use crate::lab::step::run;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

const SUITE: &str = "trixie";
const VERSION: &str = "NVIM v0.10.";
/// Another text than the one that it was made from makes it anew.
const RECIPE: &str = include_str!("neovim.rs");

/// Unpacks it where it is missing.
pub(crate) fn set_up() -> Result<()> {
    luacheck()?;
    let folder = cache()?;
    std::fs::create_dir_all(&folder)?;
    let neovim = Kept::new(&folder, "neovim", RECIPE.to_owned());
    let _lock = kept::lock(&folder)?;
    if neovim.is_ready() {
        return Ok(());
    }
    eprintln!("setting up Neovim in {}", neovim.folder().display());
    neovim.make(|folder| {
        let root = folder.join("root");
        unpack(&root, "neovim")?;
        check(&root)
    })
}

/// Unpacks packages of the suite, and what they need.
pub(crate) fn unpack(root: &Path, packages: &str) -> Result<()> {
    if run(Command::new("mmdebstrap").arg("--version")).is_err() {
        apt(&["mmdebstrap"])?;
    }
    run(Command::new("mmdebstrap")
        .args(["--quiet", "--variant=extract", SUITE])
        .arg(format!("--include={packages}"))
        .arg(root)
        .arg(mirror::configured()?))
    .with_context(|| format!("{packages} cannot be unpacked; it takes root's rights to do so"))?;
    Ok(())
}

fn check(root: &Path) -> Result<()> {
    let version = run(Command::new(root.join("usr/lib64/ld-linux-x86-64.so.2"))
        .arg("--library-path")
        .arg(root.join("usr/lib/x86_64-linux-gnu"))
        .arg(root.join("usr/bin/nvim"))
        .arg("--version"))?;
    if !version.starts_with(VERSION) {
        bail!(
            "{SUITE} has another Neovim now than {VERSION}*: {}",
            version.lines().next().unwrap_or_default()
        );
    }
    Ok(())
}

fn luacheck() -> Result<()> {
    if run(Command::new("luacheck").arg("--version")).is_ok() {
        return Ok(());
    }
    apt(&["lua-check"])
}
