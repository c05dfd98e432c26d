//! What the tests need and a new machine lacks. Each component goes to a cache outside the repository
//! and is used again where it is there already.

use crate::{cargo, lab, neovim, other_editors, supply_chain, vscode};
use anyhow::{Context, Result, bail};
use etcetera::BaseStrategy;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The official SDK that referees the scripted Claude. Pinned, so that a run today and one next year agree.
const ANTHROPIC_SDK: &str = "anthropic==2.8.0";

/// What makes components of Python; `airlock plugin build` names the same version.
const COMPONENTIZE_PY: &str = "componentize-py==0.25.1";

/// Podman's packages.
const PODMAN: [&str; 8] =
    ["podman", "crun", "runc", "conmon", "uidmap", "passwd", "fuse-overlayfs", "slirp4netns"];

/// Where components are kept. The tests look in the same place.
pub(crate) fn cache() -> Result<PathBuf> {
    let directories = etcetera::choose_base_strategy().context("no home directory")?;
    Ok(directories.cache_dir().join("airlock-tests"))
}

/// Installs everything that is missing.
pub(crate) fn set_up() -> Result<()> {
    rust_targets()?;
    virtual_environment("python", ANTHROPIC_SDK)?;
    virtual_environment("componentize-py", COMPONENTIZE_PY)?;
    tmux()?;
    git()?;
    podman()?;
    supply_chain::set_up()?;
    neovim::set_up()?;
    other_editors::set_up()?;
    vscode::set_up()?;
    lab::set_up()
}

/// Installs what is missing of the little that the demo needs: any podman that can start containers, and the terminal
/// that it uses where there is none.
pub(crate) fn set_up_for_demo() -> Result<()> {
    rust_targets()?;
    tmux()?;
    let (runs, root) = (is_there("runc") || is_there("crun"), is_root());
    if is_there("podman") && runs && (root || maps_ids()) { Ok(()) } else { apt(&PODMAN) }
}

/// Installs what is missing to run programs of the tests that need a sandbox and plugins.
pub(crate) fn set_up_for_sandboxes() -> Result<()> {
    rust_targets()?;
    podman()
}

/// Installs what is missing of what a release is made with.
pub(crate) fn set_up_for_dist() -> Result<()> {
    rust_targets()?;
    git()?;
    if !is_there("objdump") {
        apt(&["binutils"])?;
    }
    vscode::set_up_to_package()
}

/// What the guest and plugins are compiled for. `rust-toolchain.toml` names them too, but rustup may be told not to
/// install anything by itself.
fn rust_targets() -> Result<()> {
    for target in ["x86_64-unknown-linux-musl", "wasm32-wasip2"] {
        let found = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output()?;
        let folder = String::from_utf8(found.stdout)?;
        if !PathBuf::from(folder.trim()).exists() {
            run(Command::new("rustup").args(["target", "add", target]))?;
        }
    }
    Ok(())
}

/// The user's git, with its server for HTTP.
fn git() -> Result<()> {
    if run(Command::new("git").arg("--version")).is_ok() {
        return Ok(());
    }
    apt(&["git"])
}

/// Podman, the runtimes that it starts containers with, and what a user without root needs.
fn podman() -> Result<()> {
    if ["podman", "runc", "crun", "fuse-overlayfs"].into_iter().all(is_there) && maps_ids() {
        return Ok(());
    }
    apt(&PODMAN)
}

fn is_there(program: &str) -> bool {
    run(Command::new(program).arg("--version").stderr(Stdio::null())).is_ok()
}

/// Whether a user without root can have ids beneath theirs, as their podman needs.
fn maps_ids() -> bool {
    PathBuf::from("/usr/bin/newuidmap").exists()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|ourselves| ourselves.uid() == 0)
}

/// The terminal that `airlock chat` is tried in.
fn tmux() -> Result<()> {
    if run(Command::new("tmux").arg("-V")).is_ok() {
        return Ok(());
    }
    apt(&["tmux"])
}

/// A virtual environment of Python in a folder of the cache, with this package.
fn virtual_environment(folder: &str, package: &str) -> Result<()> {
    let home = cache()?.join(folder);
    let marker = home.join(".ready");
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == package) {
        return Ok(());
    }
    eprintln!("setting up {package} in {}", home.display());
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    if run(Command::new("python3").args(["-m", "venv"]).arg(&home)).is_err() {
        apt(&["python3", "python3-venv"])?;
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    }
    run(Command::new(home.join("bin/pip")).args(["install", "--quiet", package]))?;
    std::fs::write(marker, package)?;
    Ok(())
}

/// A subcommand of cargo, compiled into the cache once.
pub(crate) fn cargo_program(name: &str, version: &str) -> Result<PathBuf> {
    let home = cache()?.join(name);
    let (marker, program) = (home.join(".ready"), home.join("bin").join(name));
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == version) {
        return Ok(program);
    }
    eprintln!("setting up {name} {version} in {}, once: this takes two minutes", home.display());
    // Used for seconds and compiled for minutes: so as fast to compile as it gets, whatever its own profile says.
    let profile = [("OPT_LEVEL", "0"), ("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")];
    run(cargo()
        .envs(profile.map(|(key, value)| (format!("CARGO_PROFILE_RELEASE_{key}"), value)))
        .args(["install", "--quiet", "--locked", "--force", "--root"])
        .arg(&home)
        .arg(format!("{name}@{version}")))
    .with_context(|| format!("{name} cannot be installed"))?;
    std::fs::write(marker, version)?;
    Ok(program)
}

/// Installs Debian packages, with sudo where we are not root; a machine without apt is told what to install instead.
pub(crate) fn apt(packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    eprintln!("installing {list}");
    let as_root = |words: &[&str]| {
        let mut words: Vec<&str> = words.to_vec();
        if !is_root() {
            words.insert(0, "--preserve-env=DEBIAN_FRONTEND");
            words.insert(0, "sudo");
        }
        let mut command = Command::new(words[0]);
        command.env("DEBIAN_FRONTEND", "noninteractive").args(&words[1..]);
        command
    };
    let install = || -> Result<()> {
        run(&mut as_root(&["apt-get", "update", "-qq"]))?;
        let install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"];
        run(as_root(&install).args(packages))
    };
    install().with_context(|| format!("these packages are needed, please install them: {list}"))
}

/// Runs a command to its end; it fails when the command does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("{program} failed: {status}");
    }
    Ok(())
}
