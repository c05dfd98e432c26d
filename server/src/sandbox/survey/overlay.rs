//! Whether a copy-on-write view of the workspace can be: the kernel must know overlays, and what is written must lie on a
//! disk that can be the upper layer of one.

use super::nearest_existing;
use crate::sandbox::error::SandboxError;
use crate::storage;
use std::path::Path;

/// Kinds of disk that cannot, by the number that the kernel gives them.
const CANNOT: [(u32, &str); 8] = [
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x5346_544e, "ntfs"),
];

/// Looks at the disk that this folder is on, or would be.
pub(super) fn below(folder: &Path) -> Result<String, SandboxError> {
    let nearest = nearest_existing(folder);
    let kind = storage::disk_kind(&nearest).map_err(|error| {
        let what = format!("the disk of {} cannot be looked at: {error}", nearest.display());
        SandboxError::new(what, "make that folder readable")
    })?;
    if let Some(name) = cannot(kind) {
        return Err(SandboxError::new(
            format!(
                "{} is on a disk of the kind {name}, which cannot be an overlay's upper layer",
                folder.display()
            ),
            "set XDG_STATE_HOME to a folder on another one, such as ext4, xfs or btrfs",
        ));
    }
    let known = storage::read_text(Path::new("/proc/filesystems"), 64 << 10).ok().flatten();
    let is_loaded = known.is_some_and(|known| known.split_whitespace().any(|name| name == "overlay"));
    let loads = if is_loaded { "" } else { "; the kernel loads its overlay module when it is first used" };
    Ok(format!("{} can hold it{loads}", folder.display()))
}

fn cannot(kind: u32) -> Option<&'static str> {
    CANNOT.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_judged_by_the_disk_that_it_would_be_on() {
        let folder = tempfile::tempdir().unwrap();
        let (there, not_there) = (below(folder.path()), below(&folder.path().join("a/b")));
        assert_eq!(there.is_ok(), not_there.is_ok());
        assert!(!folder.path().join("a").exists());
    }

    #[test]
    fn network_disks_cannot() {
        assert_eq!(cannot(0x6969), Some("nfs"));
        assert_eq!(cannot(0xef53), None);
    }
}
