//! The real `airlock` binary, built from this tree once a test process. `AIRLOCK_BIN` names another one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where it is; builds it first if need be.
pub fn airlock_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os("AIRLOCK_BIN").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    // We are `target/PROFILE/deps/suite-HASH`, or `target/PROFILE/NAME` when we are a binary ourselves.
    let ourselves = std::env::current_exe().expect("the path of this program");
    let mut profile = ourselves.parent().expect("a program is in a directory");
    if profile.ends_with("deps") {
        profile = profile.parent().expect("deps is in a directory");
    }
    let target = profile.parent().expect("a profile is in the target directory");
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        Some(name) => name,
        None => panic!("{} is no place that cargo builds to", profile.display()),
    };
    let output = cargo()
        .args([
            "build",
            "--quiet",
            "--workspace",
            "--bin",
            "airlock",
            "--profile",
            name,
            "--features",
            "airlock-tests/as-tested",
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "airlock does not build:\n{stderr}");
    profile.join(format!("airlock{}", std::env::consts::EXE_SUFFIX))
}

/// The cargo that runs us, as a developer calls it.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What `cargo test` tells of our own package. Build scripts of dependencies look at it, and with another value than
    // the last time they and all that needs them are built again.
    let ours = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
        cargo.env_remove(name);
    }
    cargo
}
