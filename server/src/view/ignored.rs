//! What git ignores: build output that the agent made is not worth a look, nor worth being watched.
//!
//! The files with the rules are of whoever wrote the repository, and are read before anybody trusts it. So none is read
//! through a link, nothing that is no plain file, and only so much: a pipe would block for ever, and a device never end.

use crate::limits::{
    GIT_RULES_FILE_MAX_BYTES, GIT_RULES_LIST_MAX_BYTES, GIT_RULES_MAX_BYTES, VIEW_FOLDERS_MAX_DEPTH,
};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::{Folder, Node, read_bounded};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The rules that hold in a workspace, read as they are needed.
pub struct Ignored {
    root: PathBuf,
    /// Also the rules that are in no `.gitignore` of the workspace.
    all_rules: bool,
    /// Of the folders around the workspace, the outermost first.
    around: Vec<Rules>,
    /// Of the folders on the way to what was asked for last, the workspace first. The others are dropped: there may be
    /// any number of them.
    way: Vec<Step>,
    /// What may still be read. Understanding rules takes its time, and a repository may have the same file in any number
    /// of folders.
    bytes_left: usize,
    /// The user's own, for all repositories.
    global: Gitignore,
    folders: HashMap<PathBuf, bool>,
}

struct Step {
    path: PathBuf,
    /// `None`: it cannot be looked into.
    folder: Option<Folder>,
    rules: Rules,
}

#[derive(Default)]
struct Rules {
    gitignore: Option<Box<Gitignore>>,
    exclude: Option<Box<Gitignore>>,
    bytes: usize,
    /// Rules of what is around it do not hold in it.
    is_repository: bool,
}

impl Ignored {
    /// The rules of the `.gitignore` files that the user has. The agent's would let it hide things.
    pub fn of(root: &WorkspaceRoot) -> Self {
        Self::at(root.as_host(), false)
    }

    /// All rules that git has there: also those of the repository around the workspace, and the user's own.
    pub(super) fn as_git(root: &Path) -> Self {
        Self::at(root, true)
    }

    fn at(root: &Path, all_rules: bool) -> Self {
        let mut ignored = Self {
            root: root.to_owned(),
            all_rules,
            around: Vec::new(),
            way: Vec::new(),
            // Who waits for a list waits for this. The watch has a thread of its own.
            bytes_left: if all_rules { usize::MAX } else { GIT_RULES_LIST_MAX_BYTES },
            global: Gitignore::empty(),
            folders: HashMap::new(),
        };
        if all_rules {
            ignored.around = ignored.rules_around();
            // The user wrote that one; nothing of a repository leads to it.
            ignored.global = GitignoreBuilder::new(root).build_global().0;
        }
        ignored
    }

    /// Whether git ignores a file.
    pub fn is_ignored(&mut self, path: &WorkspacePath) -> bool {
        let folder = path.as_path().parent().unwrap_or(Path::new("")).to_owned();
        self.is_ignored_folder(&folder) || self.has_rule_against(path.as_path(), false)
    }

    /// Whether git ignores a folder, or one that it is in.
    pub(super) fn is_ignored_folder(&mut self, path: &Path) -> bool {
        if path.as_os_str().is_empty() {
            return false;
        }
        if let Some(known) = self.folders.get(path) {
            return *known;
        }
        let above = path.parent().unwrap_or(Path::new("")).to_owned();
        let ignored = self.is_ignored_folder(&above) || self.has_rule_against(path, true);
        self.folders.insert(path.to_owned(), ignored);
        ignored
    }

    /// Whether git ignores what is at a path, in a folder that it does not ignore. The nearest file with a rule for it
    /// decides, and a `.gitignore` before all others.
    pub(super) fn has_rule_against(&mut self, path: &Path, is_folder: bool) -> bool {
        self.go_to(path.parent().unwrap_or(Path::new("")));
        let place = self.root.join(path);
        let kinds: [fn(&Rules) -> Option<&Gitignore>; 2] =
            [|rules| rules.gitignore.as_deref(), |rules| rules.exclude.as_deref()];
        for kind in kinds {
            for rules in self.way.iter().map(|step| &step.rules).rev().chain(self.around.iter().rev()) {
                match kind(rules).map_or(Match::None, |rules| rules.matched(&place, is_folder)) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None if rules.is_repository => break,
                    Match::None => {}
                }
            }
        }
        self.global.matched(&place, is_folder).is_ignore()
    }

    /// Makes `way` the way to this folder.
    fn go_to(&mut self, folder: &Path) {
        self.way.truncate(self.way.iter().take_while(|step| folder.starts_with(&step.path)).count());
        if self.way.is_empty() {
            self.step(PathBuf::new(), Folder::open(&self.root).ok());
        }
        let known = self.way.len() - 1;
        let mut path: PathBuf = folder.iter().take(known).collect();
        for name in folder.iter().skip(known) {
            // Each keeps a handle open. Further down there are no rules of its own.
            if self.way.len() > VIEW_FOLDERS_MAX_DEPTH {
                return;
            }
            path.push(name);
            let above = self.way.last().and_then(|step| step.folder.as_ref());
            let inner = match above.map(|above| above.node(name)) {
                Some(Ok(Node::Folder(inner))) => Some(inner),
                _ => None,
            };
            self.step(path.clone(), inner);
        }
    }

    fn step(&mut self, path: PathBuf, folder: Option<Folder>) {
        let used: usize = self.way.iter().map(|step| step.rules.bytes).sum();
        let place = self.root.join(&path);
        let rules = folder.as_ref().map(|folder| self.rules_in(folder, &place, used)).unwrap_or_default();
        self.bytes_left = self.bytes_left.saturating_sub(rules.bytes);
        self.way.push(Step { path, folder, rules });
    }

    /// The rules of the folders around the workspace, up to the one that is the repository. If none is, none holds.
    fn rules_around(&self) -> Vec<Rules> {
        let is_repository = |path: &Path| Folder::open(path).is_ok_and(|folder| has_repository(&folder));
        let mut around = Vec::new();
        if is_repository(&self.root) {
            return around;
        }
        let mut used = 0;
        for path in self.root.ancestors().skip(1).take(VIEW_FOLDERS_MAX_DEPTH) {
            let Ok(folder) = Folder::open(path) else {
                break;
            };
            let rules = self.rules_in(&folder, path, used);
            used += rules.bytes;
            let is_last = rules.is_repository;
            around.insert(0, rules);
            if is_last {
                return around;
            }
        }
        Vec::new()
    }

    fn rules_in(&self, folder: &Folder, place: &Path, used_bytes: usize) -> Rules {
        let mut rules = Rules { is_repository: has_repository(folder), ..Rules::default() };
        let mut read = |path: &str| {
            let file = match folder.node_at(Path::new(path)) {
                Ok(Node::File(file)) => file,
                _ => return None,
            };
            let left = GIT_RULES_MAX_BYTES.saturating_sub(used_bytes + rules.bytes).min(self.bytes_left);
            let text = read_bounded(file, left.min(GIT_RULES_FILE_MAX_BYTES));
            let text = text.inspect_err(|error| {
                tracing::warn!(%error, folder = %place.display(), path, "rules of git are not read");
            });
            let text = text.ok()?;
            rules.bytes += text.len();
            Some(Box::new(parse(place, &text)))
        };
        rules.gitignore = read(".gitignore");
        rules.exclude = if self.all_rules { read(".git/info/exclude") } else { None };
        rules
    }
}

fn has_repository(folder: &Folder) -> bool {
    folder.facts(OsStr::new(".git")).is_ok_and(|facts| facts.is_some())
}

/// A line that is no rule says nothing.
fn parse(place: &Path, text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(place);
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;

    fn write(folder: &Path, path: &str, text: &str) {
        crate::storage::replace(&folder.join(path), text.as_bytes()).unwrap();
    }

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    #[test]
    fn the_nearest_rule_decides_and_an_ignored_folder_hides_all_in_it() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".gitignore", "\u{feff}target/\r\n*.log\n");
        write(folder.path(), "keep/.gitignore", "!*.log\n");
        let mut ignored = Ignored::of(&WorkspaceRoot::open(folder.path()).unwrap());
        let mut is = |text: &str| ignored.is_ignored(&path(text));
        assert!(is("target/debug/deep/x"));
        assert!(is("a.log") && is("sub/a.log"));
        assert!(!is("keep/a.log") && !is("src/main.rs") && !is("target"));
        assert!(is("sub/deep/a.log") && !is("keep/deep/a.log") && is("a.log"), "in any order");
    }

    #[test]
    fn rules_that_are_no_plain_small_file_are_not_read_and_the_others_hold() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), "rules", "*\n");
        pipe(&outside.path().join("pipe"));
        write(folder.path(), ".gitignore", "*.log\n");
        for name in ["pipe", "to-pipe", "zero", "linked", "large", "folder/.gitignore"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        pipe(&folder.path().join("pipe/.gitignore"));
        symlink(outside.path().join("pipe"), folder.path().join("to-pipe/.gitignore")).unwrap();
        symlink("/dev/zero", folder.path().join("zero/.gitignore")).unwrap();
        symlink(outside.path().join("rules"), folder.path().join("linked/.gitignore")).unwrap();
        write(folder.path(), "large/.gitignore", &"*\n".repeat(GIT_RULES_FILE_MAX_BYTES / 2 + 1));
        let root = WorkspaceRoot::open(folder.path()).unwrap();
        for mut ignored in [Ignored::of(&root), Ignored::as_git(root.as_host())] {
            for name in ["pipe", "to-pipe", "zero", "linked", "large", "folder"] {
                assert!(!ignored.is_ignored(&path(&format!("{name}/a.txt"))), "{name}");
                assert!(ignored.is_ignored(&path(&format!("{name}/a.log"))), "{name}");
            }
        }
    }

    #[test]
    fn rules_in_any_number_of_folders_are_bounded_all_together() {
        let folder = tempfile::tempdir().unwrap();
        let text = "#\n".repeat(GIT_RULES_FILE_MAX_BYTES / 2);
        let folders = 2 * GIT_RULES_LIST_MAX_BYTES / text.len();
        for number in 0..folders {
            write(folder.path(), &format!("{number}/.gitignore"), &text);
        }
        let mut ignored = Ignored::of(&WorkspaceRoot::open(folder.path()).unwrap());
        let mut read = 0;
        for number in 0..folders {
            ignored.go_to(Path::new(&number.to_string()));
            read += ignored.way.iter().map(|step| step.rules.bytes).sum::<usize>();
        }
        assert_eq!(read, GIT_RULES_LIST_MAX_BYTES);
    }

    #[test]
    fn rules_on_one_way_are_bounded_all_together() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("last-*\n{}", "#\n".repeat((GIT_RULES_FILE_MAX_BYTES - 7) / 2));
        let mut place = PathBuf::new();
        for _ in 0..=GIT_RULES_MAX_BYTES / GIT_RULES_FILE_MAX_BYTES {
            write(folder.path(), place.join(".gitignore").to_str().unwrap(), &text);
            place.push("d");
        }
        let mut ignored = Ignored::of(&WorkspaceRoot::open(folder.path()).unwrap());
        ignored.go_to(&place);
        let read = ignored.way.iter().filter(|step| step.rules.gitignore.is_some()).count();
        assert!(read * text.len() <= GIT_RULES_MAX_BYTES && read > 1, "{read}");
        assert!(ignored.is_ignored(&path("last-1")));
    }

    #[test]
    fn rules_of_the_repository_around_a_workspace_and_its_exclude_hold_where_git_has_them() {
        let outer = tempfile::tempdir().unwrap();
        write(outer.path(), ".gitignore", "*.beyond\n");
        write(outer.path(), "repo/.git/info/exclude", "mine/\n*.both\n");
        write(outer.path(), "repo/.gitignore", "build/\n!a.both\n");
        write(outer.path(), "repo/sub/inner/.git/HEAD", "");
        let root = WorkspaceRoot::open(&outer.path().join("repo/sub")).unwrap();
        let mut ignored = Ignored::as_git(root.as_host());
        let mut is = |text: &str| ignored.is_ignored(&path(text));
        assert!(is("build/x") && is("mine/x") && is("b.both"));
        assert!(!is("a.both"), "a .gitignore goes before the exclude");
        assert!(!is("a.beyond"), "what is outside the repository says nothing");
        assert!(!is("inner/build/x"), "nor what is around another repository");
        let mut ignored = Ignored::of(&root);
        assert!(!ignored.is_ignored(&path("build/x")), "a review goes by the workspace alone");
    }
}
