//! A suite of Debian as a machine: its kernel, and a disk with podman and krun.
//!
//! Packages are only unpacked: nothing is configured, no script of theirs runs, and there is no initramfs, for Debian's
//! cloud kernel can mount an ext4 disk by itself. What podman needs beyond that is written here.

use super::{krun, step::run};
use anyhow::{Context, Result, bail};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// With podman 4.3, and with podman 5.4.
pub(super) const SUITES: [&str; 2] = ["bookworm", "trixie"];
/// Another text than the one that a part was made from makes it anew.
pub(super) const RECIPE: &str = concat!(include_str!("suite.rs"), include_str!("init.sh"));

const PACKAGES: &str = "base-files,bash,ca-certificates,conmon,coreutils,crun,dash,findutils,grep,iproute2,kmod,\
                        libcap-ng0,linux-image-cloud-amd64,mount,perl-base,podman,procps,sed,uidmap,util-linux";
/// Nobody reads these there.
const NEEDLESS: [&str; 7] = [
    "usr/share/doc",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/man",
    "usr/share/perl",
    "var/cache/apt",
    "var/lib/apt",
];
/// Room for what tests write; the file has holes where nothing is.
const DISK_SIZE: &str = "3G";
/// Besides root an ordinary user, for podman without root.
const FILES: [(&str, &str); 4] = [
    ("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nlab:x:1000:1000:lab:/home/lab:/bin/bash\n"),
    ("etc/group", "root:x:0:\nlab:x:1000:\n"),
    ("etc/subuid", "lab:100000:65536\n"),
    ("etc/subgid", "lab:100000:65536\n"),
];

/// Unpacks the packages.
pub(super) fn extract(folder: &Path, suite: &str, mirror: &str) -> Result<()> {
    // Packages before trixie know nothing of it, and the sandbox expects what every installed Debian has.
    let merge =
        r#"for name in bin sbin lib lib64; do mkdir -p "$1/usr/$name"; ln -s "usr/$name" "$1/$name"; done"#;
    run(Command::new("mmdebstrap")
        .args(["--quiet", "--variant=extract"])
        .arg(format!("--setup-hook={merge}"))
        .arg(format!("--include={PACKAGES}"))
        .arg(suite)
        .arg(root(folder))
        .arg(mirror))
    .with_context(|| format!("the lab's {suite} cannot be unpacked; it takes root's rights to do so"))?;
    Ok(())
}

/// Makes the disk of what was unpacked.
pub(super) fn make_disk(folder: &Path, krun: &Path) -> Result<()> {
    let root = root(folder);
    for needless in NEEDLESS.iter().map(|path| root.join(path)).filter(|path| path.exists()) {
        std::fs::remove_dir_all(needless)?;
    }
    for (path, text) in FILES {
        std::fs::write(root.join(path), text)?;
    }
    for (name, place) in krun::FILES {
        std::fs::copy(krun.join(name), root.join(place).join(name)).with_context(|| name.to_owned())?;
    }
    std::fs::set_permissions(root.join("usr/bin/krun"), PermissionsExt::from_mode(0o755))?;
    certificates(&root)?;
    std::fs::write(root.join("init"), include_str!("init.sh"))?;
    std::fs::set_permissions(root.join("init"), PermissionsExt::from_mode(0o755))?;
    for (name, mode) in [("given", 0o755), ("home/lab", 0o777)] {
        std::fs::create_dir_all(root.join(name))?;
        std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(mode))?;
    }
    run(Command::new("/usr/sbin/ldconfig").arg("-r").arg(&root))?;
    let kernel = kernel_version(&root)?;
    run(Command::new("/usr/sbin/depmod").arg("-b").arg(&root).arg(&kernel))?;
    std::fs::copy(root.join(format!("boot/vmlinuz-{kernel}")), folder.join("vmlinuz"))?;
    let disk = folder.join("disk.img");
    run(Command::new("/usr/sbin/mkfs.ext4")
        .args(["-q", "-O", "^has_journal", "-d"])
        .args([&root, &disk])
        .arg(DISK_SIZE))?;
    std::fs::remove_dir_all(root)?;
    Ok(())
}

fn root(folder: &Path) -> PathBuf {
    folder.join("root")
}

/// What a script of the package makes: without a single certificate there is no HTTPS client.
fn certificates(root: &Path) -> Result<()> {
    let mut all = String::new();
    for entry in std::fs::read_dir(root.join("usr/share/ca-certificates/mozilla"))? {
        all.push_str(&std::fs::read_to_string(entry?.path())?);
    }
    std::fs::create_dir_all(root.join("etc/ssl/certs"))?;
    std::fs::write(root.join("etc/ssl/certs/ca-certificates.crt"), all)?;
    symlink("certs/ca-certificates.crt", root.join("etc/ssl/cert.pem"))?;
    Ok(())
}

fn kernel_version(root: &Path) -> Result<String> {
    let names = std::fs::read_dir(root.join("usr/lib/modules"))?;
    let names: Vec<_> = names.map(|entry| Ok(entry?.file_name().into_string())).collect::<Result<_>>()?;
    match &names[..] {
        [Ok(version)] => Ok(version.clone()),
        _ => bail!("one kernel was expected, not {names:?}"),
    }
}
