//! `cargo xtask dist`: a release archive in `target/dist`, for machines without Rust.
//!
//! | file | holds |
//! |---|---|
//! | `binary` | the release build, and the oldest glibc that it runs with |
//! | `documents` | what is packed as it is: documents, the Neovim client, plugins in source |
//! | `notices` | the licences of all that is compiled in |
//! | `archive` | packing, the same bytes for the same files |
//!
//! The binary is linked with glibc, not with musl: musl's allocator is several times slower when threads share it, and a
//! machine with a podman that can do what Airlock needs has a glibc that is new enough anyway.

mod archive;
mod binary;
mod documents;
mod notices;

use crate::{components, target_folder, vscode};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the archive, and tries what is in it.
pub(crate) fn run(built: Option<&Path>) -> Result<bool> {
    components::set_up_for_dist()?;
    let dist = target_folder()?.join("dist");
    let name = archive_name();
    let folder = dist.join(&name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(folder.join("bin"))?;
    let airlock = built.map_or_else(binary::build, |built| Ok(built.canonicalize()?))?;
    binary::check(&airlock)?;
    std::fs::copy(&airlock, folder.join("bin/airlock")).context("the binary cannot be copied")?;
    vscode::package(&airlock, &folder.join("airlock.vsix"))?;
    documents::copy(&folder)?;
    std::fs::write(folder.join("THIRD-PARTY-NOTICES.txt"), notices::text()?)?;
    std::fs::write(folder.join("INSTALL.md"), install_notes())?;
    let archive = archive::pack(&dist, &name)?;
    try_out(&archive)?;
    let size = archive.metadata()?.len() as f64 / 1e6;
    println!("{} ({size:.1} MB)", archive.display());
    Ok(true)
}

/// Such as `airlock-0.1.0-x86_64-linux-gnu`.
fn archive_name() -> String {
    format!("airlock-{}-{}-linux-gnu", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}

fn install_notes() -> String {
    format!(
        "# Airlock {version}\n\n\
         A program for Linux on {arch} with glibc {glibc} or later (Debian 12, Ubuntu 22.04, Fedora 35, RHEL 9 and newer), and\n\
         podman 4.3 or later with crun or runc. `bin/airlock doctor` says what is missing, and how to get it.\n\n\
         - Put `bin/airlock` somewhere on your PATH. It is all there is to install.\n\
         - VS Code: `code --install-extension airlock.vsix`. The program is in it, too.\n\
         - Neovim 0.10 or later: `vim.opt.runtimepath:prepend(\"…/editors/nvim\")` and `require(\"airlock\").setup({{}})`.\n\
         - Other editors: server/docs/editors.md.\n\n\
         README.md tells the rest. `sha256sum --check SHA256SUMS` says whether all of this is whole.\n",
        version = env!("CARGO_PKG_VERSION"),
        arch = std::env::consts::ARCH,
        glibc = binary::OLDEST_GLIBC,
    )
}

/// Unpacks the archive elsewhere: its sums are right, and the program in it starts with nothing around it.
fn try_out(archive: &Path) -> Result<()> {
    let place = archive.with_extension("tried");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    std::fs::create_dir(&place)?;
    components::run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&place))?;
    let unpacked: PathBuf = place.join(archive_name());
    components::run(
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&unpacked),
    )?;
    let said = Command::new(unpacked.join("bin/airlock")).arg("--version").env_clear().output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    ensure!(
        said.trim() == concat!("airlock ", env!("CARGO_PKG_VERSION")),
        "the unpacked program says {said:?}"
    );
    std::fs::remove_dir_all(place)?;
    Ok(())
}
