//! Builds the guest as a static program, to be embedded: one file is the whole installation.
#![expect(clippy::disallowed_methods, reason = "a build script runs cargo and touches the disk")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    for path in ["guest/src", "guest/Cargo.toml", "../Cargo.lock", "build.rs"] {
        println!("cargo::rerun-if-changed={}", manifest.join(path).display());
    }
    let target = format!("{}-unknown-linux-musl", variable("CARGO_CFG_TARGET_ARCH")?);
    let built = build_guest(&manifest, &target, &shared_target_dir(&out))?;
    // A new file: whoever linked to the old one keeps it as it was.
    let embedded = out.join("airlock-guest");
    let _ = std::fs::remove_file(&embedded);
    std::fs::copy(&built, &embedded).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(())
}

/// Beside the folders of the profiles, so that each of them finds the guest that another has built.
fn shared_target_dir(out: &Path) -> PathBuf {
    // OUT_DIR is TARGET/PROFILE/build/PACKAGE/out.
    out.ancestors().nth(4).unwrap_or(out).join("guest")
}

fn build_guest(manifest: &Path, target: &str, target_dir: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(manifest)
        .args(["build", "--quiet", "--package", "airlock-guest", "--bin", "airlock-guest"])
        .args(["--profile", "guest", "--target", target, "--target-dir"])
        .arg(target_dir)
        // Not for the guest: clippy in the place of the compiler, and flags of the outer build.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("RUSTFLAGS")
        // At a fixed address and without tables for unwinding it is a tenth smaller.
        .env("CARGO_ENCODED_RUSTFLAGS", "-Crelocation-model=static\u{1f}-Cforce-unwind-tables=no")
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err(format!(
            "the guest could not be built for {target}; if that target is missing: rustup target add {target}"
        ));
    }
    Ok(target_dir.join(target).join("guest/airlock-guest"))
}
