//! The histories of one workspace.

use super::entry::{Entry, Line};
use super::{History, HistoryError, Loaded};
use crate::environment::Environment;
use crate::limits::{HISTORY_FILE_MAX_BYTES, HISTORY_LIST_MAX, HISTORY_NAME_SUFFIX_MAX};
use crate::paths::WorkspaceRoot;
use crate::storage;
use jiff::{Timestamp, Zoned};
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const SUFFIX: &str = ".jsonl";
/// How often a history may have been continued in another.
const CONTINUED_MAX: usize = 8;
/// More than the lines take that only name other histories.
const POINTER_MAX_BYTES: u64 = 16 << 10;

/// A folder with the histories of one workspace.
#[derive(Clone, Debug)]
pub struct HistoryFolder {
    path: PathBuf,
}

/// A history as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The session's id.
    pub id: String,
    /// The beginning of its first prompt.
    pub title: String,
    /// When it was last written to.
    pub updated_at: Timestamp,
    /// How many messages it holds.
    pub messages: usize,
}

impl HistoryFolder {
    /// The folder for a workspace. Two workspaces of the same name have two folders.
    pub fn of(environment: &Environment, workspace: Option<&WorkspaceRoot>) -> Self {
        let name = workspace.map_or_else(|| "no-workspace".to_owned(), WorkspaceRoot::kept_name);
        Self { path: environment.state_dir.join("history").join(name) }
    }

    /// Begins a history named after the time, with a suffix when that name is taken, here or by the caller's word.
    pub fn create(&self, now: &Zoned, is_taken: &dyn Fn(&str) -> bool) -> Result<History, HistoryError> {
        let fail =
            |path: &Path, source| HistoryError::Disk { doing: "create", path: path.to_owned(), source };
        storage::make_private_folder(&self.path).map_err(|error| fail(&self.path, error))?;
        let stem = now.strftime("%Y%m%d-%H%M%S").to_string();
        for number in 0..=HISTORY_NAME_SUFFIX_MAX {
            let id = if number == 0 { stem.clone() } else { format!("{stem}-{number}") };
            if is_taken(&id) {
                continue;
            }
            let path = self.file(&id);
            match storage::open_private(&path, true) {
                Ok(file) => {
                    lock(&file, &id, &path)?;
                    return History::new(id, path, file, &Loaded::default());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fail(&path, error)),
            }
        }
        Err(fail(&self.path, io::Error::new(io::ErrorKind::AlreadyExists, "every name is taken")))
    }

    /// Opens a history to go on with it.
    pub fn open(&self, id: &str) -> Result<(History, Loaded), HistoryError> {
        let path = self.checked_file(id)?;
        let fail = |doing| {
            let path = path.clone();
            move |source| HistoryError::Disk { doing, path, source }
        };
        let mut file = storage::open_private(&path, false).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => HistoryError::Unknown(id.to_owned()),
            _ => fail("open")(error),
        })?;
        // Before it is read: its writer may add a line until then, and what is not read is cut off.
        lock(&file, id, &path)?;
        let mut bytes = Vec::new();
        let limit = HISTORY_FILE_MAX_BYTES as u64;
        Read::by_ref(&mut file).take(limit + 1).read_to_end(&mut bytes).map_err(fail("read"))?;
        if bytes.len() as u64 > limit {
            return Err(fail("read")(io::Error::new(io::ErrorKind::FileTooLarge, "too large to go on with")));
        }
        let loaded = Loaded::from_bytes(&bytes);
        if loaded.lost_lines > 0 && loaded.header.is_none() && loaded.transcript.is_empty() {
            return Err(HistoryError::Unreadable(path));
        }
        Ok((History::new(id.to_owned(), path, file, &loaded)?, loaded))
    }

    /// Whether it can be an id.
    pub fn check(&self, id: &str) -> Result<(), HistoryError> {
        self.checked_file(id).map(drop)
    }

    /// Opens a history, or the one that it was continued in.
    pub fn open_latest(&self, id: &str) -> Result<(History, Loaded), HistoryError> {
        let mut opened = self.open(id)?;
        for _ in 0..CONTINUED_MAX {
            match &opened.1.continued_in {
                // One that is gone or in use: what was asked for is better than nothing.
                Some(next) => match self.open(next) {
                    Ok(continued) => opened = continued,
                    Err(_) => break,
                },
                None => break,
            }
        }
        Ok(opened)
    }

    /// The newest histories in which something was said, newest first.
    pub fn list(&self) -> Result<Vec<Summary>, HistoryError> {
        let mut summaries: Vec<Summary> = self
            .names()?
            .iter()
            .rev()
            .filter_map(|name| self.summary(name.strip_suffix(SUFFIX)?))
            .take(HISTORY_LIST_MAX)
            .collect();
        summaries.sort_by_key(|summary| std::cmp::Reverse(summary.updated_at));
        Ok(summaries)
    }

    /// The ids of all sessions, the one in whose conversation something was last written first. One that only went on
    /// with another's conversation is as new as that, and comes before it.
    pub fn sessions(&self) -> Result<Vec<String>, HistoryError> {
        let names = self.names()?;
        let mut sessions: Vec<(SystemTime, &str)> = names
            .iter()
            .filter_map(|name| {
                let id = name.strip_suffix(SUFFIX)?;
                let went_on = self.went_on_with(id).and_then(|next| self.written_at(&next));
                Some((self.written_at(id)?.max(went_on.unwrap_or(SystemTime::UNIX_EPOCH)), id))
            })
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(*session));
        Ok(sessions.into_iter().map(|(_, id)| id.to_owned()).collect())
    }

    fn names(&self) -> Result<Vec<String>, HistoryError> {
        let fail = |source| HistoryError::Disk { doing: "list", path: self.path.clone(), source };
        storage::names_with_suffix(&self.path, SUFFIX).map_err(fail)
    }

    fn written_at(&self, id: &str) -> Option<SystemTime> {
        self.checked_file(id).ok()?.metadata().ok()?.modified().ok()
    }

    /// The conversation that a session went on with before anything was said in it.
    fn went_on_with(&self, id: &str) -> Option<String> {
        let file = storage::open_private(&self.file(id), false).ok()?;
        let mut bytes = Vec::new();
        file.take(POINTER_MAX_BYTES).read_to_end(&mut bytes).ok()?;
        // It may have gone on with several, one after the other.
        let pointers = bytes.split(|byte| *byte == b'\n').map_while(|line| {
            match serde_json::from_slice::<Line>(line).ok()?.entry {
                Entry::ContinuedIn { id } => Some(id),
                _ => None,
            }
        });
        pointers.last()
    }

    fn summary(&self, id: &str) -> Option<Summary> {
        let file = storage::open_private(&self.file(id), false).ok()?;
        let updated_at = file.metadata().ok()?.modified().ok()?.try_into().ok()?;
        let mut bytes = Vec::new();
        file.take(HISTORY_FILE_MAX_BYTES as u64).read_to_end(&mut bytes).ok()?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let header = loop {
            match serde_json::from_slice::<Line>(lines.next()?).ok()?.entry {
                Entry::Session(header) => break header,
                // What it went on with is gone, and the user began here after all.
                Entry::ContinuedIn { .. } => {}
                _ => return None,
            }
        };
        // The key order is our own writer's, so a message is known by its beginning; its content is not parsed.
        let is_message =
            |line: &&[u8]| line.windows(TYPE_MESSAGE.len()).take(80).any(|window| window == TYPE_MESSAGE);
        Some(Summary {
            id: id.to_owned(),
            title: header.title,
            updated_at,
            messages: lines.filter(is_message).count(),
        })
    }

    fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}{SUFFIX}"))
    }

    /// An id comes from outside: it must not be a path.
    fn checked_file(&self, id: &str) -> Result<PathBuf, HistoryError> {
        let plain =
            !id.is_empty() && id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if plain { Ok(self.file(id)) } else { Err(HistoryError::Unknown(id.to_owned())) }
    }
}

/// Whoever holds the lock is the only writer.
fn lock(file: &File, id: &str, path: &Path) -> Result<(), HistoryError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(HistoryError::InUse(id.to_owned())),
        Err(TryLockError::Error(source)) => {
            Err(HistoryError::Disk { doing: "lock", path: path.to_owned(), source })
        }
    }
}

const TYPE_MESSAGE: &[u8] = b"\"type\":\"message\"";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::history::Header;
    use crate::conversation::Message;
    use pretty_assertions::assert_eq;

    fn folder(home: &Path) -> HistoryFolder {
        HistoryFolder::of(&Environment::for_test(home, &[]), None)
    }

    async fn say(history: &History, text: &str) {
        history.append(Entry::Message(Message::user(text))).await.await.unwrap().unwrap();
    }

    fn header() -> Entry {
        let (title, model, system) = ("title".into(), "m".into(), "s".into());
        Entry::Session(Header { version: Header::VERSION, title, model, system, tools: vec![] })
    }

    #[tokio::test]
    async fn what_was_appended_is_there_after_a_restart_and_goes_on() {
        let home = tempfile::tempdir().unwrap();
        let history = folder(home.path()).create(&Zoned::now(), &|_| false).unwrap();
        let id = history.id().to_owned();
        let _ = history.append(header()).await.await;
        say(&history, "one").await;
        history.close().await;
        // What a kill leaves: a line without its end.
        let path = folder(home.path()).file(&id);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"{\"at\":\"19");
        std::fs::write(&path, bytes).unwrap();
        let (history, loaded) = folder(home.path()).open(&id).unwrap();
        assert_eq!(loaded.conversation, [Message::user("one")]);
        say(&history, "two").await;
        history.close().await;
        let (_, loaded) = folder(home.path()).open(&id).unwrap();
        assert_eq!(loaded.conversation, [Message::user("one"), Message::user("two")]);
        assert_eq!(loaded.lost_lines, 0);
    }

    #[tokio::test]
    async fn two_writers_of_one_history_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let history = folder(home.path()).create(&Zoned::now(), &|_| false).unwrap();
        assert!(matches!(folder(home.path()).open(history.id()), Err(HistoryError::InUse(_))));
        // Not even read: a line that its writer adds after that would be taken for a torn one and cut off.
        std::fs::write(history.path(), "nonsense\n").unwrap();
        assert!(matches!(folder(home.path()).open(history.id()), Err(HistoryError::InUse(_))));
    }

    #[tokio::test]
    async fn names_never_clash_and_a_path_is_no_id() {
        let home = tempfile::tempdir().unwrap();
        let (folder, now) = (folder(home.path()), Zoned::now());
        let first = folder.create(&now, &|_| false).unwrap();
        let second = folder.create(&now, &|_| false).unwrap();
        assert_eq!(second.id(), format!("{}-1", first.id()));
        for id in ["../../etc/passwd", "/etc/passwd", "", "a/b", "."] {
            assert!(matches!(folder.open(id), Err(HistoryError::Unknown(_))), "{id}");
        }
    }

    #[tokio::test]
    async fn a_session_that_went_on_with_another_is_found_and_is_as_new_as_that() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(home.path());
        let old = folder.create(&Zoned::now(), &|_| false).unwrap();
        let between = folder.create(&Zoned::now(), &|_| false).unwrap();
        let pointer = folder.create(&Zoned::now(), &|_| false).unwrap();
        for history in [&old, &between] {
            let _ = history.append(header()).await.await;
        }
        let _ = pointer.append(Entry::ContinuedIn { id: old.id().to_owned() }).await.await;
        let now = SystemTime::now();
        for (history, minutes_ago) in [(&pointer, 2), (&between, 1), (&old, 0)] {
            let file = File::options().append(true).open(history.path()).unwrap();
            file.set_modified(now - std::time::Duration::from_secs(60 * minutes_ago)).unwrap();
        }
        assert_eq!(folder.sessions().unwrap(), [pointer.id(), old.id(), between.id()]);
    }

    #[tokio::test]
    async fn beginning_anew_loses_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(home.path());
        let history = folder.create(&Zoned::now(), &|_| false).unwrap();
        let _ = history.append(header()).await.await;
        say(&history, "old").await;
        history.begin_anew().await.unwrap();
        let _ = history.append(header()).await.await;
        say(&history, "new").await;
        let listed: Vec<(String, usize)> =
            folder.list().unwrap().into_iter().map(|summary| (summary.id, summary.messages)).collect();
        assert_eq!(listed.len(), 2);
        assert!(listed.iter().all(|(_, messages)| *messages == 1));
        let (_, old) = folder.open(&format!("{}-1", history.id())).unwrap();
        assert_eq!(old.conversation, [Message::user("old")]);
    }
}
