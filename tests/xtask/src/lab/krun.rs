//! The runtime that starts microVMs: Debian has no package of it. `krun` is crun with its handler for libkrun, which it
//! loads when it runs; libkrun comes from its crates, and the kernel that it boots from Debian.

use super::step::{download, run};
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Another text than the one that a part was made from makes it anew.
pub(super) const RECIPE: &str = include_str!("krun.rs");

const LIBKRUN_VERSION: &str = "1.19.7";
const KERNEL: &str = "pool/main/libk/libkrunfw/libkrunfw5_5.5.0+ds-1_amd64.deb";
const KERNEL_SHA256: &str = "20c37f213b618690422dd6c16e7c0a605e568c1e89447e2c7e9e6e44563f1fde";
const CRUN: &str = "pool/main/c/crun/crun_1.21.orig.tar.gz";
const CRUN_SHA256: &str = "4bfb700e764a4804a4de3ecf07753f4c391005356d60356df65d80ae0914c486";

/// The files that a machine needs, and where it wants them.
pub(super) const FILES: [(&str, &str); 3] = [
    ("krun", "usr/bin"),
    ("libkrun.so.1", "usr/lib/x86_64-linux-gnu"),
    ("libkrunfw.so.5", "usr/lib/x86_64-linux-gnu"),
];

/// Makes the files.
pub(super) fn build(folder: &Path, mirror: &str) -> Result<()> {
    let work = folder.join("work");
    std::fs::create_dir(&work)?;
    kernel(folder, &work, mirror)?;
    crun(folder, &work, mirror)?;
    libkrun(folder, &work)?;
    std::fs::remove_dir_all(work)?;
    Ok(())
}

fn kernel(folder: &Path, work: &Path, mirror: &str) -> Result<()> {
    let (package, files) = (work.join("kernel.deb"), work.join("kernel"));
    download(mirror, KERNEL, KERNEL_SHA256, &package)?;
    run(Command::new("dpkg-deb").arg("-x").args([&package, &files]))?;
    let library = files.join("usr/lib/x86_64-linux-gnu/libkrunfw.so.5.5.0");
    std::fs::copy(&library, folder.join("libkrunfw.so.5"))
        .with_context(|| format!("{}", library.display()))?;
    Ok(())
}

/// It is built without optimisation: what it does takes no time, and building it so takes half as long.
fn crun(folder: &Path, work: &Path, mirror: &str) -> Result<()> {
    let archive = work.join("crun.tar.gz");
    download(mirror, CRUN, CRUN_SHA256, &archive)?;
    run(Command::new("tar").current_dir(work).arg("xf").arg(&archive))?;
    let source = work.join("crun-1.21");
    // Its handler looks every function up in the library, and takes no more from the header than these types.
    std::fs::write(source.join("libkrun.h"), "#include <stdint.h>\n")?;
    run(Command::new("./configure").current_dir(&source).env("CFLAGS", "-O0").env("CPPFLAGS", "-I.").args(
        [
            "--quiet",
            "--with-libkrun",
            "--disable-criu",
            "--disable-systemd",
            "--disable-dependency-tracking",
            "--enable-embedded-yajl",
        ],
    ))?;
    run(Command::new("make").current_dir(&source).args(["--silent", "--jobs=2"]))?;
    run(Command::new("strip").arg("-o").arg(folder.join("krun")).arg(source.join("crun")))?;
    Ok(())
}

/// Built with the versions that its authors locked. Only what moves the microVM's bytes is optimised.
fn libkrun(folder: &Path, work: &Path) -> Result<()> {
    let source = libkrun_source(work)?;
    let optimised = ["krun-devices", "krun-vmm", "vm-memory"];
    let profile = |package: &str| format!("profile.release.package.{package}.opt-level=1");
    run(crate::cargo()
        .current_dir(&source)
        .args(["build", "--quiet", "--release", "--locked", "--config", "profile.release.opt-level=0"])
        .args(optimised.iter().flat_map(|package| ["--config".to_owned(), profile(package)]))
        .arg("--target-dir")
        .arg(work.join("target")))?;
    run(Command::new("strip")
        .arg("-o")
        .arg(folder.join("libkrun.so.1"))
        .arg(work.join("target/release/libkrun.so")))?;
    Ok(())
}

/// A package that is downloaded cannot be built where it is, so it is copied from there.
fn libkrun_source(work: &Path) -> Result<PathBuf> {
    let wanting = work.join("wanting");
    std::fs::create_dir_all(&wanting)?;
    std::fs::write(wanting.join("lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"wanting\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\nlibkrun = \"={LIBKRUN_VERSION}\"\n[workspace]\n"
    );
    std::fs::write(wanting.join("Cargo.toml"), manifest)?;
    let metadata =
        run(crate::cargo().current_dir(&wanting).args(["metadata", "--quiet", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names packages")?;
    let libkrun =
        packages.iter().find(|package| package["name"] == "libkrun").context("libkrun is a package")?;
    let manifest = Path::new(libkrun["manifest_path"].as_str().context("a package has a manifest")?);
    let downloaded = manifest.parent().context("a manifest is in a folder")?;
    let source = work.join("libkrun");
    run(Command::new("cp").args(["--recursive", "--no-preserve=mode"]).args([downloaded, &source]))?;
    Ok(source)
}
