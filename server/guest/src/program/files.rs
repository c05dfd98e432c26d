//! Files: read and written.

use super::text_file::{self, Content};
use crate::words::{Answer, READ_MAX_BYTES, Read, Text};
use std::io;
use std::path::Path;

/// What a read gives: an answer, and an image's bytes to send before it.
pub(super) fn read(path: &Path, wanted: &Read) -> io::Result<(Answer, Vec<u8>)> {
    match text_file::read(path)? {
        Content::Text(text) => Ok((Answer::Text(lines(&text, wanted)), Vec::new())),
        Content::Binary(bytes) => {
            let media_type = image_type(&bytes).map(str::to_owned);
            let answer = Answer::Binary { bytes: bytes.len() as u64, media_type: media_type.clone() };
            Ok((answer, if media_type.is_some() { bytes } else { Vec::new() }))
        }
    }
}

fn lines(text: &str, wanted: &Read) -> Text {
    let all = text.split_inclusive('\n');
    let total_lines = all.clone().count() as u64;
    let first_line = wanted.first_line.max(1);
    let mut part = String::new();
    let mut cut = false;
    for line in all.skip(first_line as usize - 1).take(wanted.lines as usize) {
        if part.len() + line.len() > READ_MAX_BYTES {
            cut = true;
            if part.is_empty() {
                part.push_str(&line[..line.floor_char_boundary(READ_MAX_BYTES)]);
            }
            break;
        }
        part.push_str(line);
    }
    Text { text: part, first_line, total_lines, cut }
}

/// The kinds of image that a model can see, by their first bytes.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<Answer> {
    let existed = path.exists();
    text_file::replace(path, content)?;
    let note = if existed { "replaced" } else { "created" };
    Ok(Answer::Done { note: format!("{note}, {} bytes", content.len()) })
}
