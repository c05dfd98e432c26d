//! The microVM lab: an emulated machine a Debian suite, in which podman starts real krun microVMs. The machine that runs
//! the tests needs no KVM for it. `tests/src/lab.rs` boots it.
//!
//! | part | made by |
//! |---|---|
//! | krun, libkrun and its kernel, shared by all suites | `krun` |
//! | a disk and a kernel for each suite | `suite`; `init.sh` is what runs there first |

pub(crate) mod kept;
mod krun;
pub(crate) mod mirror;
pub(crate) mod step;
mod suite;

use crate::components::{apt, cache};
use anyhow::{Result, anyhow};
use kept::Kept;
use std::path::Path;
use std::time::Instant;
use suite::SUITES;

/// Builds what is missing of it.
pub(crate) fn set_up() -> Result<()> {
    let folder = cache()?.join("lab");
    std::fs::create_dir_all(&folder)?;
    let _lock = kept::lock(&folder)?;
    tools(&["qemu-system-x86_64", "mkfs.ext4", "strip"], &[])?;
    let krun = Kept::new(&folder, "krun", krun::RECIPE.to_owned());
    let recipe = || format!("{}{}", krun::RECIPE, suite::RECIPE);
    let all = SUITES.map(|suite| (suite, Kept::new(&folder, suite, recipe())));
    let missing: Vec<_> = all.iter().filter(|(_, kept)| !kept.is_ready()).collect();
    if missing.is_empty() && krun.is_ready() {
        return Ok(());
    }
    build(&krun, &missing)
}

/// Downloads and compilers keep each other waiting little, so all parts are made at once.
fn build(krun: &Kept, suites: &[&(&str, Kept)]) -> Result<()> {
    eprintln!("building the microVM lab, once: this takes some minutes");
    let begun = Instant::now();
    tools(
        &["mmdebstrap", "depmod", "gcc", "make", "pkg-config", "python3"],
        &["/usr/include/sys/capability.h", "/usr/include/seccomp.h"],
    )?;
    let mirror = mirror::configured()?;
    std::thread::scope(|scope| {
        let (mirror, mut parts) = (&mirror, Vec::new());
        if !krun.is_ready() {
            parts.push(scope.spawn(move || krun.make(|folder| krun::build(folder, mirror))));
        }
        for (suite, kept) in suites {
            parts.push(scope.spawn(move || suite::extract(&kept.begin()?, suite, mirror)));
        }
        parts
            .into_iter()
            .try_for_each(|part| part.join().map_err(|_| anyhow!("a part of the lab panicked"))?)
    })?;
    for (_, kept) in suites {
        suite::make_disk(kept.unfinished(), krun.folder())?;
        kept.finish()?;
    }
    eprintln!("the microVM lab is ready after {:.0} s", begun.elapsed().as_secs_f32());
    Ok(())
}

/// Installs the lab's packages unless these programs and files are there.
fn tools(programs: &[&str], files: &[&str]) -> Result<()> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&folders).collect();
    // Debian keeps some where only root looks.
    folders.extend(["/usr/sbin".into(), "/sbin".into()]);
    let there = |program: &&str| folders.iter().any(|folder| folder.join(program).is_file());
    if programs.iter().all(there) && files.iter().all(|file| Path::new(file).exists()) {
        return Ok(());
    }
    apt(&[
        "qemu-system-x86",
        "e2fsprogs",
        "binutils",
        "mmdebstrap",
        "kmod",
        "gcc",
        "make",
        "pkg-config",
        "python3",
        "libc6-dev",
        "libcap-dev",
        "libseccomp-dev",
    ])
}
