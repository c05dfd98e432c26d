//! LSP's frames, read strictly: a server writes frames to its output and nothing else.

use serde_json::Value;
use std::io::{self, BufRead};

/// More than any message of a test; a length beyond it is nonsense.
const LONGEST_BODY_BYTES: usize = 256 << 20;

/// A message with its header.
pub(super) fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The next message; `None` where the output ends between two of them. An end inside one is `UnexpectedEof`.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        if line.is_empty() && length.is_none() {
            return Ok(None);
        }
        if !line.ends_with(b"\n") {
            let torn = format!("the output ends within a header: {:?}", String::from_utf8_lossy(&line));
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, torn));
        }
        let header = std::str::from_utf8(&line)
            .ok()
            .and_then(|line| line.strip_suffix("\r\n"))
            .ok_or_else(|| wrong("a header line", &line))?;
        match header.split_once(": ") {
            Some(("Content-Length", value)) => {
                length = Some(value.parse().map_err(|_| wrong("a length", value.as_bytes()))?);
            }
            Some(("Content-Type", _)) => {}
            None if header.is_empty() => break,
            _ => return Err(wrong("a header line", &line)),
        }
    }
    let length: usize = length.ok_or_else(|| wrong("a Content-Length", b""))?;
    if length > LONGEST_BODY_BYTES {
        return Err(wrong("a sensible length", length.to_string().as_bytes()));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    match serde_json::from_slice::<Value>(&body) {
        Ok(message) if message["jsonrpc"] == "2.0" => Ok(Some(message)),
        _ => Err(wrong("a JSON-RPC message", &body)),
    }
}

fn wrong(expected: &str, found: &[u8]) -> io::Error {
    let found = String::from_utf8_lossy(found);
    io::Error::new(io::ErrorKind::InvalidData, format!("expected {expected}, found {found:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_encoded_is_read_again() {
        let messages = [json!({"jsonrpc": "2.0", "method": "ä"}), json!({"jsonrpc": "2.0", "id": 1})];
        let bytes: Vec<u8> = messages.iter().flat_map(encode).collect();
        let mut input = bytes.as_slice();
        for message in &messages {
            assert_eq!(read(&mut input).expect("a frame").as_ref(), Some(message));
        }
        assert_eq!(read(&mut input).expect("the end"), None);
    }

    #[test]
    fn anything_but_a_frame_is_an_error() {
        let faults: [&[u8]; 8] = [
            b"hello\n",
            b"hello",
            b"Content-Length: 2\n\n{}",
            b"Content-Length: two\r\n\r\n{}",
            b"Content-Length: 99999999999\r\n\r\n",
            b"\r\n{}",
            b"Content-Length: 20\r\n\r\n{}",
            b"Content-Length: 2\r\n\r\n[]",
        ];
        for mut fault in faults {
            let shown = String::from_utf8_lossy(fault).into_owned();
            assert!(read(&mut fault).is_err(), "{shown:?}");
        }
    }
}
