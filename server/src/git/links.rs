//! Keeps git within the repository. Whoever packed it chose what is in its `.git`: a link there would have git write
//! somewhere else, or take the objects and branches of another repository for this one's.

use super::GitError;
use crate::limits::{GIT_FOLDERS_MAX_DEPTH, GIT_NAMES_MAX, GIT_SETTINGS_MAX_BYTES};
use crate::neutral::neutral_line;
use crate::storage::beneath::{Folder, Kind, Node, read_bounded};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Where git is told of other folders with objects.
const ALTERNATES: &str = "objects/info/alternates";

/// Refuses a repository in which one of these names, or something below it, leads elsewhere.
pub(super) fn refuse_links(common_dir: &Path, names: &[&str]) -> Result<(), GitError> {
    let unreadable =
        |error: io::Error| GitError::disk(format!("{} cannot be read", common_dir.display()), &error);
    let folder = Folder::open(common_dir).map_err(unreadable)?;
    let mut search = Search { left: GIT_NAMES_MAX };
    for name in names {
        if let Some(found) = search.look(&folder, Path::new(name), 0).map_err(unreadable)? {
            let place = neutral_line(&common_dir.join(found).to_string_lossy());
            return Err(GitError::new(
                format!("{place} is a link or no file, so git could write or read elsewhere"),
                "put a folder or file of its own there, or commit and push it yourself",
            ));
        }
    }
    if names_others(&folder).map_err(unreadable)? {
        return Err(GitError::new(
            format!("{} names objects of another repository", common_dir.join(ALTERNATES).display()),
            "`git repack -a -d` copies them, then remove that file; or commit and push it yourself",
        ));
    }
    Ok(())
}

/// A look at everything below some names.
struct Search {
    /// How many names may still be looked at.
    left: usize,
}

impl Search {
    /// The first thing at a path or below it that is neither file nor folder. `folder` holds the path's last name.
    fn look(&mut self, folder: &Folder, path: &Path, depth: usize) -> io::Result<Option<PathBuf>> {
        let name = path.file_name().unwrap_or(OsStr::new(""));
        match folder.facts(name)?.map(|facts| facts.kind) {
            None | Some(Kind::File) => return Ok(None),
            Some(Kind::Folder) => {}
            Some(Kind::Link | Kind::Whiteout | Kind::Other) => return Ok(Some(path.to_owned())),
        }
        if depth == GIT_FOLDERS_MAX_DEPTH {
            return Err(io::Error::other(format!("more than {depth} folders in each other")));
        }
        let inner = match folder.node(name)? {
            Node::Folder(inner) => inner,
            // Git tidied it up meanwhile.
            Node::Missing => return Ok(None),
            _ => return Ok(Some(path.to_owned())),
        };
        for name in inner.names(self.left)? {
            self.left = self.left.saturating_sub(1);
            if let Some(found) = self.look(&inner, &path.join(name), depth + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Whether objects of others count as this repository's. The name of a commit is no secret, so whoever knows one could have
/// it pushed from there.
fn names_others(folder: &Folder) -> io::Result<bool> {
    let Node::File(file) = folder.node_at(Path::new(ALTERNATES))? else {
        return Ok(false);
    };
    let text = read_bounded(file, GIT_SETTINGS_MAX_BYTES)?;
    let mut lines = text.split(|byte| *byte == b'\n');
    Ok(lines.any(|line| !line.is_empty() && !line.starts_with(b"#")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const NAMES: [&str; 3] = ["objects", "refs", "packed-refs"];

    /// A repository with what `change` does to it.
    fn looked_at(change: impl FnOnce(&Path)) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["objects/info", "objects/pack", "refs/heads/a/b"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("refs/heads/main"), "0\n").unwrap();
        change(folder.path());
        refuse_links(folder.path(), &NAMES).map_err(|error| error.to_string())
    }

    #[test]
    fn a_link_anywhere_in_what_git_uses_is_refused_by_its_name() {
        assert_eq!(looked_at(|_| {}), Ok(()));
        assert_eq!(looked_at(|folder| symlink("/tmp", folder.join("hooks")).unwrap()), Ok(()), "not used");
        for place in ["packed-refs", "refs/heads/a/b/c", "refs/remotes", "objects/ab", "objects/pack/x.pack"]
        {
            let error = looked_at(|folder| symlink("nowhere", folder.join(place)).unwrap()).unwrap_err();
            assert!(error.contains(&format!("/{place} is a link")), "{error}");
        }
        let whole = |folder: &Path| {
            std::fs::rename(folder.join("objects"), folder.join("elsewhere")).unwrap();
            symlink("elsewhere", folder.join("objects")).unwrap();
        };
        assert!(looked_at(whole).unwrap_err().contains("/objects is a link"));
    }

    #[test]
    fn objects_of_another_repository_are_refused() {
        let with = |text: &str| looked_at(|folder| std::fs::write(folder.join(ALTERNATES), text).unwrap());
        assert!(with("/elsewhere/objects\n").unwrap_err().contains("git repack"));
        assert!(with("# x\n../../more").is_err());
        assert_eq!(with("# x\n\n"), Ok(()));
    }
}
