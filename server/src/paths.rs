//! Paths as types, so that a path inside the workspace and one on the host cannot be mixed up.

use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The root folder of a workspace on the host: absolute, its links resolved once when it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceRoot(PathBuf);

impl WorkspaceRoot {
    /// Opens a workspace. It must be a folder that exists.
    pub fn open(untrusted_path: &Path) -> Result<Self, PathError> {
        let resolved = untrusted_path
            .canonicalize()
            .map_err(|source| PathError::NoWorkspace { path: untrusted_path.to_owned(), source })?;
        if !resolved.is_dir() {
            return Err(PathError::NotAFolder(resolved));
        }
        Ok(Self(resolved))
    }

    /// The root as a host path.
    pub fn as_host(&self) -> &Path {
        &self.0
    }

    /// The folder's own name, for people.
    pub fn name(&self) -> String {
        self.0.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// A name for what is kept about it: its own, and a digest, for two folders may be called the same.
    pub fn kept_name(&self) -> String {
        let digest = Sha256::digest(self.0.as_os_str().as_encoded_bytes());
        let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        format!("{}-{digest}", self.name().chars().map(plain).collect::<String>())
    }

    /// The host path of something inside. It says nothing about links on the way.
    pub fn host_path(&self, path: &WorkspacePath) -> PathBuf {
        self.0.join(&path.0)
    }

    /// The inside path of a host path, if it is inside by its name.
    pub fn relative(&self, host_path: &Path) -> Option<WorkspacePath> {
        WorkspacePath::parse(host_path.strip_prefix(&self.0).ok()?.to_str()?).ok()
    }
}

/// A path inside the workspace: relative, normal, without `..`. It may not exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspacePath(PathBuf);

impl WorkspacePath {
    /// Takes a path that somebody wrote. `.` and doubled slashes are dropped; whatever could lead outside is refused.
    pub fn parse(untrusted_path: &str) -> Result<Self, PathError> {
        if untrusted_path.contains('\0') {
            return Err(PathError::Nul);
        }
        let mut normal = PathBuf::new();
        for component in Path::new(untrusted_path).components() {
            match component {
                Component::Normal(name) => normal.push(name),
                Component::CurDir => {}
                Component::ParentDir => return Err(PathError::Parent(untrusted_path.to_owned())),
                Component::RootDir | Component::Prefix(_) => {
                    return Err(PathError::Absolute(untrusted_path.to_owned()));
                }
            }
        }
        if normal.starts_with("~") {
            return Err(PathError::Home(untrusted_path.to_owned()));
        }
        Ok(Self(normal))
    }

    /// A path that was found by looking into the workspace; `None` when its name is no UTF-8.
    pub fn found(path: &Path) -> Option<Self> {
        Self::parse(path.to_str()?).ok()
    }

    /// The path, relative to the workspace.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The folders above it, the nearest first, without the workspace itself.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let above = self.0.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        above.map(|path| Self(path.to_owned()))
    }

    /// The path as it is shown, with `/` between its parts.
    pub fn as_str(&self) -> &str {
        // `parse` took a `str` apart, so its pieces are UTF-8.
        self.0.to_str().unwrap_or_default()
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why a path was refused.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The workspace folder cannot be opened.
    #[error("cannot open the workspace {}: {source}", path.display())]
    NoWorkspace {
        /// What was asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder by something that is no `file:` URI of this machine.
    #[error("{0:?} is no folder of this machine; give a file: URI")]
    NotAFile(String),
    /// The workspace is a file.
    #[error("{} is not a folder; open the folder that holds it", .0.display())]
    NotAFolder(PathBuf),
    /// An absolute path where one inside the workspace is wanted.
    #[error("{0:?} is absolute; give a path relative to the workspace")]
    Absolute(String),
    /// A path that climbs.
    #[error("{0:?} contains \"..\"; give a path inside the workspace")]
    Parent(String),
    /// A path that a shell would take to the user's home.
    #[error("{0:?} begins with \"~\"; give a path inside the workspace")]
    Home(String),
    /// A path with a zero byte.
    #[error("a path cannot contain a zero byte")]
    Nul,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whatever_could_lead_outside_is_refused() {
        for path in ["..", "a/../b", "/etc/passwd", "~", "~/x", "a\0b", "./../x", "a/.."] {
            assert!(WorkspacePath::parse(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_sibling_with_the_roots_prefix_is_not_inside() {
        let folder = tempfile::tempdir().unwrap();
        let (app, evil) = (folder.path().join("app"), folder.path().join("app-evil"));
        for path in [&app, &evil] {
            std::fs::create_dir(path).unwrap();
        }
        let root = WorkspaceRoot::open(&app).unwrap();
        assert_eq!(root.relative(&evil.join("x")), None);
        assert!(root.relative(&root.as_host().join("x")).is_some());
    }

    proptest! {
        #[test]
        fn a_parsed_path_never_leaves_the_root(text in "[a~./\\\\ ]{0,12}") {
            if let Ok(path) = WorkspacePath::parse(&text) {
                let joined = Path::new("/root").join(&path.0);
                prop_assert!(joined.starts_with("/root"));
                prop_assert!(!joined.components().any(|part| part == Component::ParentDir));
                prop_assert_eq!(WorkspacePath::parse(path.as_str()).unwrap(), path);
            }
        }
    }
}
