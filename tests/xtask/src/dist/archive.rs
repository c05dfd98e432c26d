//! Packing: the same files give the same bytes, whoever packs them and when.

use crate::components::run;
use crate::repository;
use anyhow::{Context, Result, bail, ensure};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packs the folder `name` of `dist`, with the sums of its files in it, and gives the archive. The archive's own sum
/// is beside it.
pub(super) fn pack(dist: &Path, name: &str) -> Result<PathBuf> {
    let folder = dist.join(name);
    let mut files = Vec::new();
    collect(&folder, Path::new(""), &mut files)?;
    files.sort();
    for file in &files {
        let mode = if file.starts_with("bin") { 0o755 } else { 0o644 };
        std::fs::set_permissions(folder.join(file), PermissionsExt::from_mode(mode))?;
    }
    std::fs::write(folder.join("SHA256SUMS"), sums(&folder, &files)?)?;
    let archive = dist.join(format!("{name}.tar.gz"));
    let tar = dist.join(format!("{name}.tar"));
    let same = [
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--format=ustar",
        "--mode=u+rw,go+r,go-w",
    ];
    run(Command::new("tar")
        .args(same)
        .arg(format!("--mtime=@{}", time()?))
        .arg("-cf")
        .arg(&tar)
        .arg("-C")
        .arg(dist)
        .arg(name))?;
    // Without the name and the time that it would put in.
    run(Command::new("gzip").args(["--no-name", "--best", "--force"]).arg(&tar))?;
    ensure!(archive.exists(), "gzip made no {}", archive.display());
    let packed = [PathBuf::from(format!("{name}.tar.gz"))];
    std::fs::write(dist.join("SHA256SUMS"), sums(dist, &packed)?)?;
    Ok(archive)
}

fn collect(folder: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(folder, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn sums(folder: &Path, files: &[PathBuf]) -> Result<Vec<u8>> {
    let output = Command::new("sha256sum")
        .current_dir(folder)
        .arg("--")
        .args(files)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("sha256sum failed: {}", output.status);
    }
    Ok(output.stdout)
}

/// The time of the last commit, which is the same for everybody.
fn time() -> Result<String> {
    if let Ok(told) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(told);
    }
    let output =
        Command::new("git").current_dir(repository()).args(["log", "-1", "--format=%ct"]).output()?;
    ensure!(output.status.success(), "git log: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout).context("a number")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let dist = tempfile::tempdir().expect("a folder");
        for (path, text) in [("x/b.txt", "b"), ("x/bin/a", "a"), ("x/c/d.txt", "d")] {
            let path = dist.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        dist
    }

    #[test]
    fn the_same_files_give_the_same_archive() {
        let (one, other) = (folder(), folder());
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100);
        let file = std::fs::File::options().write(true).open(other.path().join("x/b.txt")).expect("a file");
        file.set_modified(later).expect("our own file");
        let bytes = |dist: &Path| std::fs::read(pack(dist, "x").expect("it packs")).expect("an archive");
        assert_eq!(bytes(one.path()), bytes(other.path()));
        let sums = std::fs::read_to_string(one.path().join("x/SHA256SUMS")).expect("sums");
        assert_eq!(sums.lines().map(|line| &line[66..]).collect::<Vec<_>>(), ["b.txt", "bin/a", "c/d.txt"]);
        assert!(one.path().join("SHA256SUMS").exists());
    }
}
