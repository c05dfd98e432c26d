//! What the agent does to its view: what an overlay would make of its commands, and what no overlay makes.

use super::merged::is_opaque;
use crate::input::Input;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const NAMES: [&str; 5] = ["d", "a", "e", "b", "l"];
const OPAQUE: &str = "user.overlay.opaque";

/// One of its actions.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Write(PathBuf, u8),
    Delete(PathBuf),
    MakeFolder(PathBuf),
    /// To one of the places in [`Agent::targets`].
    Link(PathBuf, u8),
    Rename(PathBuf, PathBuf),
    Mode(PathBuf, u8),
    SecondName(PathBuf, PathBuf),
    Pipe(PathBuf),
    /// A mark that no command can make.
    Opaque(PathBuf),
}

impl Action {
    pub(super) fn read(kind: u8, input: &mut Input<'_>) -> Self {
        let (at, other) = (path(input.byte()), input.byte());
        match kind % 16 {
            0..=3 => Self::Write(at, other),
            4..=6 => Self::Delete(at),
            7 | 8 => Self::MakeFolder(at),
            9..=11 => Self::Link(at, other),
            12 => Self::Rename(at, path(other)),
            13 => Self::Mode(at, other),
            14 if kind & 0x10 == 0 => Self::SecondName(at, path(other)),
            14 => Self::Pipe(at),
            _ => Self::Opaque(at),
        }
    }
}

impl Action {
    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Rename(from, to) | Self::SecondName(from, to) => vec![from, to],
            Self::Write(path, _) | Self::Link(path, _) | Self::Mode(path, _) => vec![path],
            Self::Delete(path) | Self::MakeFolder(path) | Self::Pipe(path) | Self::Opaque(path) => vec![path],
        }
    }
}

/// One to three names.
fn path(byte: u8) -> PathBuf {
    let (first, rest) = (usize::from(byte) % 5, usize::from(byte) / 5);
    let mut path = PathBuf::from(NAMES[first]);
    if rest % 3 > 0 {
        path.push(NAMES[rest / 3 % 4]);
    }
    if rest % 3 == 2 {
        path.push(NAMES[rest / 12 % 4]);
    }
    path
}

/// The agent, with what it has.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) upper: PathBuf,
    /// What shows through.
    pub(super) lower: PathBuf,
    /// Where it would like to lead the host.
    pub(super) targets: Vec<PathBuf>,
    /// Folders with a mark that no command can make. What an overlay would show below them, nobody says.
    pub(super) forged: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// What it writes: each a text that nothing else has.
pub(super) fn text(number: u8) -> String {
    format!("line one\nagent {number}\nline three\n")
}

impl Agent {
    /// Does it, or nothing where that is not possible.
    pub(super) fn act(&self, action: Action) {
        let upper = |path: &Path| self.upper.join(path);
        if !action.paths().iter().all(|path| self.is_inside(path)) {
            return;
        }
        // What cannot be done is not done, as for anybody.
        let _ = match &action {
            Action::Write(path, number) => {
                self.make_room(path);
                fs::write(upper(path), text(*number))
            }
            Action::Delete(path) => {
                self.remove(path);
                Ok(())
            }
            Action::MakeFolder(path) => {
                self.make_room(path);
                let made = fs::create_dir(upper(path));
                if self.below(path).symlink_metadata().is_ok() {
                    self.mark(path);
                }
                made
            }
            Action::Link(path, target) => {
                self.make_room(path);
                symlink(&self.targets[usize::from(*target) % self.targets.len()], upper(path))
            }
            Action::Rename(from, to)
                if self.can_move(from) && !to.starts_with(from) && !from.starts_with(to) =>
            {
                self.make_room(to);
                let moved = fs::rename(upper(from), upper(to));
                if moved.is_ok() {
                    if self.below(to).symlink_metadata().is_ok() {
                        self.mark(to);
                    }
                    if self.below(from).symlink_metadata().is_ok() {
                        self.whiteout(from);
                    }
                } else {
                    self.whiteout(to);
                }
                moved
            }
            Action::Rename(..) => Ok(()),
            Action::Mode(path, mode) => {
                let mode = [0o000, 0o700, 0o500, 0o755, 0o311, 0o644][usize::from(*mode) % 6];
                match upper(path).symlink_metadata() {
                    Ok(facts) if !facts.is_symlink() => {
                        fs::set_permissions(upper(path), PermissionsExt::from_mode(mode))
                    }
                    _ => Ok(()),
                }
            }
            Action::SecondName(from, to) => fs::hard_link(upper(from), upper(to)),
            Action::Pipe(path) => {
                self.make_room(path);
                make_node(&upper(path), rustix::fs::FileType::Fifo);
                Ok(())
            }
            Action::Opaque(path) => {
                self.forged.lock().unwrap().insert(path.clone());
                self.mark(path);
                Ok(())
            }
        };
    }

    /// Whether it made a mark above this path that no command can make.
    pub(super) fn has_forged(&self, path: &Path) -> bool {
        self.forged.lock().unwrap().iter().any(|forged| path.starts_with(forged))
    }

    /// Inside the wall a link leads to nothing of the host's: what would be done through one is not done.
    fn is_inside(&self, path: &Path) -> bool {
        let is_link = |above: &Path| self.upper.join(above).is_symlink();
        !path.ancestors().skip(1).any(is_link)
    }

    /// An overlay moves no folder through which something of the workspace's shows.
    fn can_move(&self, from: &Path) -> bool {
        let at = self.upper.join(from);
        at.symlink_metadata().is_ok_and(|facts| {
            !facts.file_type().is_char_device()
                && (!facts.is_dir() || is_opaque(&at) || !self.below(from).is_dir())
        })
    }

    /// Where the workspace would have it, if nothing of the agent's is in between.
    fn below(&self, path: &Path) -> PathBuf {
        self.lower.join(path)
    }

    /// Folders above it are copied up; whatever has its place goes.
    fn make_room(&self, path: &Path) {
        let parents: Vec<&Path> =
            path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        for above in parents.into_iter().rev() {
            let at = self.upper.join(above);
            match at.symlink_metadata() {
                Ok(facts) if facts.is_dir() => {}
                Ok(_) => {
                    let _ = fs::remove_file(&at);
                    let _ = fs::create_dir(&at);
                    if self.below(above).is_dir() {
                        self.mark(above);
                    }
                }
                Err(_) => drop(fs::create_dir(&at)),
            }
        }
        let at = self.upper.join(path);
        match at.symlink_metadata() {
            Ok(facts) if facts.is_dir() => drop(fs::remove_dir_all(at)),
            Ok(_) => drop(fs::remove_file(at)),
            Err(_) => {}
        }
    }

    fn remove(&self, path: &Path) {
        let at = self.upper.join(path);
        match at.symlink_metadata() {
            Ok(facts) if facts.is_dir() => drop(fs::remove_dir_all(&at)),
            Ok(_) => drop(fs::remove_file(&at)),
            Err(_) => {}
        }
        if self.below(path).symlink_metadata().is_ok() {
            self.make_room(path);
            self.whiteout(path);
        }
    }

    fn whiteout(&self, path: &Path) {
        make_node(&self.upper.join(path), rustix::fs::FileType::CharacterDevice);
    }

    fn mark(&self, path: &Path) {
        let at = self.upper.join(path);
        if at.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
            let _ = rustix::fs::setxattr(at, OPAQUE, b"y", rustix::fs::XattrFlags::empty());
        }
    }
}

fn make_node(path: &Path, kind: rustix::fs::FileType) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let _ = rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0);
}
