//! The documents with the answers of a session, for editors that know nothing of the extension.
//!
//! Nothing that stands in one is lost: a full one, or one that cannot be read, is followed by another.

use crate::limits::ANSWERS_FILE_MAX_BYTES;
use crate::storage;
use std::io;
use std::path::{Path, PathBuf};

/// Appends an answer to the session's last document; gives the one that it stands in.
pub(super) fn keep(folder: &Path, session_id: &str, answer: &str) -> io::Result<PathBuf> {
    let named = |number: usize| match number {
        1 => folder.join(format!("{session_id}.md")),
        // A dot: with a dash it could be the name of another session.
        _ => folder.join(format!("{session_id}.{number}.md")),
    };
    let last = (1..).take_while(|number| named(*number).exists()).last();
    let text = last.and_then(|number| appended(&named(number), answer));
    let (number, text) = match (last, text) {
        (Some(last), Some(text)) => (last, text),
        (last, _) => (last.unwrap_or(0) + 1, format!("{answer}\n")),
    };
    storage::replace(&named(number), text.as_bytes())?;
    Ok(named(number))
}

/// The document with the answer in it; `None` when it has no room.
fn appended(path: &Path, answer: &str) -> Option<String> {
    let before = storage::read_text(path, ANSWERS_FILE_MAX_BYTES).ok()??;
    let separator = if before.is_empty() { "" } else { "\n---\n\n" };
    let text = format!("{before}{separator}{answer}\n");
    (text.len() <= ANSWERS_FILE_MAX_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        storage::read_text(path, 4 * ANSWERS_FILE_MAX_BYTES).unwrap().unwrap()
    }

    #[test]
    fn answers_stand_one_below_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let first = keep(folder.path(), "s", "one").unwrap();
        assert_eq!(keep(folder.path(), "s", "two").unwrap(), first);
        assert_eq!(text(&first), "one\n\n---\n\ntwo\n");
    }

    #[test]
    fn no_answer_is_lost_when_a_document_is_full_or_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(ANSWERS_FILE_MAX_BYTES - 10);
        let too_long = "y".repeat(ANSWERS_FILE_MAX_BYTES + 10);
        let files: Vec<PathBuf> = [long.as_str(), "after it", &too_long, "after that"]
            .iter()
            .map(|answer| keep(folder.path(), "s", answer).unwrap())
            .collect();
        let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["s.md", "s.2.md", "s.3.md", "s.4.md"]);
        assert_eq!(text(&files[0]), format!("{long}\n"));
        assert_eq!(text(&files[1]), "after it\n");
        assert_eq!(text(&files[2]), format!("{too_long}\n"));
        storage::replace(&files[3], b"\xff").unwrap();
        assert!(keep(folder.path(), "s", "the last").unwrap().ends_with("s.5.md"));
        assert_eq!(storage::read_bytes(&files[3], 10).unwrap().unwrap(), b"\xff");
    }

    #[test]
    fn another_sessions_document_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let other = keep(folder.path(), "s-2", "of another").unwrap();
        keep(folder.path(), "s", &"x".repeat(ANSWERS_FILE_MAX_BYTES)).unwrap();
        keep(folder.path(), "s", "more").unwrap();
        assert_eq!(text(&other), "of another\n");
    }
}
