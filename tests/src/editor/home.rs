//! A user's home, empty and temporary, with a workspace in it. Clones are the same home, so that a second editor
//! can find what the first one left.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Gone with its last clone.
#[derive(Clone)]
pub struct Home(Arc<TempDir>);

impl Home {
    /// A fresh one.
    #[allow(clippy::new_without_default, reason = "it makes directories")]
    pub fn new() -> Self {
        let home = Self(Arc::new(TempDir::with_prefix("airlock-home-").expect("a temporary directory")));
        for directory in
            [home.workspace(), home.config(), home.state(), home.data(), home.cache(), home.runtime()]
        {
            std::fs::create_dir_all(directory).expect("a directory in the temporary one");
        }
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(home.runtime(), private).expect("our own directory");
        home
    }

    /// `HOME`.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The folder that is open in the editor.
    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// The workspace's URI.
    pub fn workspace_uri(&self) -> String {
        uri(&self.workspace())
    }

    /// The URI of a file in the workspace.
    pub fn file_uri(&self, path: &str) -> String {
        uri(&self.workspace().join(path))
    }

    /// Writes a file of the workspace.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.workspace().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// The variables that lead a program here.
    pub fn variables(&self) -> [(&'static str, PathBuf); 6] {
        [
            ("HOME", self.path().to_owned()),
            ("XDG_CONFIG_HOME", self.config()),
            ("XDG_STATE_HOME", self.state()),
            ("XDG_DATA_HOME", self.data()),
            ("XDG_CACHE_HOME", self.cache()),
            ("XDG_RUNTIME_DIR", self.runtime()),
        ]
    }

    /// `XDG_CONFIG_HOME`.
    pub fn config(&self) -> PathBuf {
        self.path().join(".config")
    }

    /// `XDG_STATE_HOME`.
    pub fn state(&self) -> PathBuf {
        self.path().join(".local/state")
    }

    /// `XDG_DATA_HOME`.
    pub fn data(&self) -> PathBuf {
        self.path().join(".local/share")
    }

    /// `XDG_CACHE_HOME`.
    pub fn cache(&self) -> PathBuf {
        self.path().join(".cache")
    }

    /// `XDG_RUNTIME_DIR`.
    pub fn runtime(&self) -> PathBuf {
        self.path().join("run")
    }
}

/// Temporary paths hold nothing that a URI must escape.
fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
