//! The release build, and what it asks of the machine that it runs on.

use crate::{cargo, target_folder};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The documents name this one; a build that needs a newer one is not released.
pub(super) const OLDEST_GLIBC: &str = "2.34";

/// All that it may be linked with: what every system with glibc has.
const LIBRARIES: [&str; 5] =
    ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];

/// Builds it, and gives where it is.
pub(super) fn build() -> Result<PathBuf> {
    let build = ["build", "--release", "--workspace", "--bin", "airlock"];
    if !cargo().args(build).status().context("cannot start cargo")?.success() {
        bail!("Airlock does not build: what the compiler says above is why");
    }
    Ok(target_folder()?.join("release/airlock"))
}

/// Fails if it asks for more than is promised.
pub(super) fn check(airlock: &Path) -> Result<()> {
    let output = Command::new("objdump")
        .arg("-p")
        .arg(airlock)
        .output()
        .context("cannot start objdump, of binutils")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let strange: Vec<&str> = libraries(&text).filter(|name| !LIBRARIES.contains(name)).collect();
    if !strange.is_empty() {
        bail!("the binary is linked with {strange:?}, which not every machine has");
    }
    match newest_glibc(&text) {
        None => bail!("{} tells no version of glibc", airlock.display()),
        Some(newest) if newest > version(OLDEST_GLIBC) => {
            bail!(
                "the binary needs glibc {}.{}, and {OLDEST_GLIBC} is promised: build it on an older system",
                newest.0,
                newest.1
            )
        }
        Some(_) => Ok(()),
    }
}

/// The libraries that it is linked with, as `objdump -p` tells them.
fn libraries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")).map(str::trim)
}

/// The newest version of glibc that a symbol of it asks for.
fn newest_glibc(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().filter_map(|word| word.strip_prefix("GLIBC_")).map(version).max()
}

fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "  NEEDED               libgcc_s.so.1\n  NEEDED               libc.so.6\n\n\
                        Version References:\n  required from libc.so.6:\n    0x06969194 0x00 04 GLIBC_2.9\n    \
                        0x09691a75 0x00 03 GLIBC_2.2.5\n    0x069691b4 0x00 02 GLIBC_2.34\n";

    #[test]
    fn what_a_binary_needs_is_read_as_objdump_tells_it() {
        assert_eq!(libraries(TOLD).collect::<Vec<_>>(), ["libgcc_s.so.1", "libc.so.6"]);
        assert_eq!(newest_glibc(TOLD), Some((2, 34)), "34 is newer than 9");
        assert_eq!(newest_glibc(""), None);
    }
}
