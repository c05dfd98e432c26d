//! The header block of an LSP frame: where it ends, and the length that it tells.
//!
//! Lines may end in a bare line feed. Names are compared without case; headers that we do not know are passed over.

/// The name that every frame must carry, with its colon.
pub(super) const LENGTH_NAME: &[u8] = b"content-length:";

/// Where the block's blank line ends, if it is there.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').find_map(|(at, _)| match &bytes[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// Where the name of the length header begins, if it is there.
pub(super) fn find_length_name(bytes: &[u8]) -> Option<usize> {
    bytes.windows(LENGTH_NAME.len()).position(|window| window.eq_ignore_ascii_case(LENGTH_NAME))
}

/// The body's length, from a whole block.
pub(super) fn content_length(block: &[u8]) -> Result<u64, String> {
    let mut length = None;
    for line in block.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return Err(format!("{} is no header", shown(line)));
        };
        let (name, value) = (&line[..=colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(LENGTH_NAME) {
            if length.is_some() {
                return Err("a header tells Content-Length twice".to_owned());
            }
            length = Some(number(value)?);
        } else if name.eq_ignore_ascii_case(b"content-type:") {
            check_charset(value)?;
        }
    }
    length.ok_or_else(|| "a header tells no Content-Length".to_owned())
}

/// `u64::from_str` would take a plus sign.
fn number(value: &[u8]) -> Result<u64, String> {
    Some(value)
        .filter(|value| value.iter().all(u8::is_ascii_digit))
        .and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
        .ok_or_else(|| format!("{} is no Content-Length", shown(value)))
}

/// LSP knows `utf-8`, and `utf8` for the sake of old clients.
fn check_charset(content_type: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(content_type).to_ascii_lowercase();
    let charset = text
        .split(';')
        .filter_map(|parameter| parameter.trim().strip_prefix("charset="))
        .map(|value| value.trim_matches('"'))
        .find(|value| !matches!(*value, "utf-8" | "utf8"));
    match charset {
        Some(charset) => Err(format!("the charset {} is not utf-8", shown(charset.as_bytes()))),
        None => Ok(()),
    }
}

/// Bytes of somebody else's, short enough for a message.
fn shown(bytes: &[u8]) -> String {
    const SHOWN_MAX_BYTES: usize = 40;
    let cut = &bytes[..bytes.len().min(SHOWN_MAX_BYTES)];
    format!("{:?}", String::from_utf8_lossy(cut))
}
