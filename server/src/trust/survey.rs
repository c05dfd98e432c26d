//! Looking over a workspace: everything in it that trust would make effective.
//!
//! The walk is bounded and follows no link: a link counts as what it says. Where something cannot be looked at
//! as a whole, the workspace cannot be trusted, and the reason says which file it is.

use super::{Digest, TrustError};
use crate::limits::{
    TRUST_FILE_MAX_BYTES, TRUST_FILES_MAX, TRUST_FILES_TOTAL_MAX_BYTES, TRUST_FOLDERS_MAX_DEPTH,
};
use crate::paths::WorkspaceRoot;
use crate::storage::beneath::{Folder, Node, read_bounded};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What trust makes effective, whole folders and single files.
const EFFECTIVE: [&str; 4] = [".airlock", ".claude/commands", "AGENTS.md", "CLAUDE.md"];

/// What is there to be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The files and links, in the order of their paths.
    pub files: Vec<SurveyedFile>,
    /// One digest of all of it.
    pub digest: Digest,
}

/// One file or link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedFile {
    /// Its path in the workspace.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Where it leads, when it is a link. Airlock does not follow it.
    pub link_target: Option<String>,
    /// The digest of its content, or of the link itself.
    pub digest: Digest,
}

/// Looks over a workspace. One that has nothing to trust gives an empty survey.
pub fn survey(root: &WorkspaceRoot) -> Result<Survey, TrustError> {
    survey_within(root, TRUST_FILES_TOTAL_MAX_BYTES)
}

pub(super) fn survey_within(root: &WorkspaceRoot, total_max_bytes: usize) -> Result<Survey, TrustError> {
    let mut walk = Walk { root: root.as_host(), files: Vec::new(), bytes: 0, total_max_bytes };
    let top = Folder::open(root.as_host()).map_err(|error| walk.untrustable(Path::new(""), &error))?;
    for path in EFFECTIVE.map(Path::new) {
        let node = top.node_at(path).map_err(|error| walk.untrustable(path, &error))?;
        walk.visit(path, node, 0)?;
    }
    walk.files.sort_by(|one, other| one.path.cmp(&other.path));
    let parts = walk.files.iter().flat_map(|file| [&file.path, file.digest.as_str()]);
    Ok(Survey { digest: Digest::of(parts.map(str::as_bytes)), files: walk.files })
}

impl Survey {
    /// The digests by path: what the store keeps.
    pub(super) fn digests(&self) -> BTreeMap<String, Digest> {
        self.files.iter().map(|file| (file.path.clone(), file.digest.clone())).collect()
    }
}

struct Walk<'r> {
    root: &'r Path,
    files: Vec<SurveyedFile>,
    bytes: usize,
    total_max_bytes: usize,
}

impl Walk<'_> {
    fn visit(&mut self, path: &Path, node: Node, depth: usize) -> Result<(), TrustError> {
        match node {
            Node::Missing => Ok(()),
            Node::Other => Err(self.untrustable(path, "it is neither a file nor a folder; remove it")),
            Node::Link(target) => {
                let digest = Digest::of_link(target.as_bytes());
                self.add(path, 0, Some(target.to_string_lossy().into_owned()), digest)
            }
            Node::File(file) => {
                let content = read_bounded(file, TRUST_FILE_MAX_BYTES)
                    .map_err(|error| self.untrustable(path, &error))?;
                self.bytes += content.len();
                if self.bytes > self.total_max_bytes {
                    let max = self.total_max_bytes;
                    let reason = format!("with it there are more than {max} bytes to trust; make it smaller");
                    return Err(self.untrustable(path, reason));
                }
                self.add(path, content.len() as u64, None, Digest::of_file(&content))
            }
            Node::Folder(_) if depth == TRUST_FOLDERS_MAX_DEPTH => {
                let reason = format!("it is deeper than {TRUST_FOLDERS_MAX_DEPTH} folders; move it up");
                Err(self.untrustable(path, reason))
            }
            Node::Folder(folder) => self.visit_folder(path, &folder, depth),
        }
    }

    fn visit_folder(&mut self, path: &Path, folder: &Folder, depth: usize) -> Result<(), TrustError> {
        let names = folder.names(TRUST_FILES_MAX).map_err(|error| self.untrustable(path, &error))?;
        for name in names {
            let inner = path.join(&name);
            let node = folder.node(&name).map_err(|error| self.untrustable(&inner, &error))?;
            self.visit(&inner, node, depth + 1)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: &Path,
        size_bytes: u64,
        link_target: Option<String>,
        digest: Digest,
    ) -> Result<(), TrustError> {
        // The user must be able to read what is to be trusted.
        let Some(name) = path.to_str().filter(|name| !name.chars().any(char::is_control)) else {
            return Err(self.untrustable(path, "its name cannot be shown; rename it"));
        };
        if self.files.len() == TRUST_FILES_MAX {
            let reason = format!("with it there are more than {TRUST_FILES_MAX} files to trust; remove some");
            return Err(self.untrustable(path, reason));
        }
        self.files.push(SurveyedFile { path: name.to_owned(), size_bytes, link_target, digest });
        Ok(())
    }

    fn untrustable(&self, path: &Path, reason: impl ToString) -> TrustError {
        let shown = match path.as_os_str() == OsStr::new("") {
            true => self.root.to_owned(),
            // Not the raw name, which may hold what confuses a terminal.
            false => {
                PathBuf::from(self.root.join(path).to_string_lossy().replace(char::is_control, "\u{fffd}"))
            }
        };
        TrustError::Untrustable { path: shown, reason: reason.to_string() }
    }
}
