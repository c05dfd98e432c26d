//! A trusted workspace: the only way to its own configuration.

use super::{Digest, Survey};
use crate::paths::WorkspaceRoot;
use crate::problem::Problem;
use crate::storage::beneath::{Folder, Node, read_bounded};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The proof that a workspace is trusted, and what of it was.
///
/// A file that changed after the proof was made is refused, so there is no moment between looking and reading.
#[derive(Clone, Debug)]
pub struct TrustedWorkspace {
    root: WorkspaceRoot,
    files: BTreeMap<String, Digest>,
    links: BTreeSet<String>,
}

impl TrustedWorkspace {
    /// Only the store makes one.
    pub(super) fn new(root: &WorkspaceRoot, trusted: &Survey) -> Self {
        let links = trusted.files.iter().filter(|file| file.link_target.is_some());
        Self {
            root: root.clone(),
            files: trusted.digests(),
            links: links.map(|file| file.path.clone()).collect(),
        }
    }

    /// The workspace.
    pub fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    /// The trusted files and links below a folder of the workspace, in order.
    pub fn paths_below(&self, folder: &str) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str).filter(move |path| Path::new(path).starts_with(folder))
    }

    /// The digest that a path was trusted with.
    pub fn digest(&self, path: &str) -> Option<&Digest> {
        self.files.get(path)
    }

    /// Whether this is a link. Links are not followed.
    pub fn is_link(&self, path: &str) -> bool {
        self.links.contains(path)
    }

    /// Reads a trusted text file; `None` when there was none to trust.
    pub fn read_text(&self, path: &str, limit_bytes: usize) -> Result<Option<String>, Problem> {
        let Some(content) = self.read_bytes(path, limit_bytes)? else {
            return Ok(None);
        };
        String::from_utf8(content).map(Some).map_err(|_| {
            Problem::in_file(&self.root.as_host().join(path), "is not UTF-8 text", "save it as UTF-8")
        })
    }

    /// Reads a trusted file; `None` when there was none to trust.
    pub fn read_bytes(&self, path: &str, limit_bytes: usize) -> Result<Option<Vec<u8>>, Problem> {
        let Some(digest) = self.files.get(path) else {
            return Ok(None);
        };
        let host_path = self.root.as_host().join(path);
        let problem = |what: &str, advice: &str| Problem::in_file(&host_path, what, advice);
        let changed = || problem("changed since the workspace was trusted", "look at it and trust it again");
        let unreadable = |error: &io::Error| problem(&format!("cannot be read: {error}"), "make it readable");

        let node = Folder::open(self.root.as_host()).and_then(|root| root.node_at(Path::new(path)));
        let content = match node.map_err(|error| unreadable(&error))? {
            Node::File(file) => read_bounded(file, limit_bytes).map_err(|error| unreadable(&error))?,
            Node::Link(_) => {
                return Err(problem(
                    "is a link, and links in a workspace are not followed",
                    "put a file in its place",
                ));
            }
            _ => return Err(changed()),
        };
        if Digest::of_file(&content) != *digest {
            return Err(changed());
        }
        Ok(Some(content))
    }
}
