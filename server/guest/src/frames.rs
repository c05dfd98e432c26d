//! Frames on a stream of the link: a kind, a length, the bytes.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufStream};

/// A frame may be this large. Larger things are sent in several.
pub const FRAME_MAX_BYTES: usize = 256 << 10;

const LINK_BUFFER_BYTES: usize = 16 << 10;

/// Holds back what is written until it is flushed: the multiplexer writes heads and bodies apart, and every write wakes
/// each of the processes between the two ends.
pub(crate) fn whole<T: AsyncRead + AsyncWrite>(link: T) -> BufStream<T> {
    BufStream::with_capacity(LINK_BUFFER_BYTES, LINK_BUFFER_BYTES, link)
}

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// A [`crate::Call`], from the caller, first.
    Call = 1,
    /// A piece of content, from either side.
    Data = 2,
    /// The content is complete.
    DataEnd = 3,
    /// Stop what was called.
    Cancel = 4,
    /// A piece of stdout.
    Stdout = 5,
    /// A piece of stderr.
    Stderr = 6,
    /// A [`crate::Answer`], last.
    Answer = 7,
    /// A [`crate::CallError`], last.
    Error = 8,
}

impl FrameKind {
    fn of(byte: u8) -> io::Result<Self> {
        const ALL: [FrameKind; 8] = [
            FrameKind::Call,
            FrameKind::Data,
            FrameKind::DataEnd,
            FrameKind::Cancel,
            FrameKind::Stdout,
            FrameKind::Stderr,
            FrameKind::Answer,
            FrameKind::Error,
        ];
        ALL.into_iter()
            .find(|kind| *kind as u8 == byte)
            .ok_or_else(|| invalid(format!("no frame is of kind {byte}")))
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it holds.
    pub kind: FrameKind,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// Reads the next frame; `None` when the other side is done.
pub async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Frame>> {
    let mut header = [0; 5];
    let mut filled = 0;
    while filled < header.len() {
        match stream.read(&mut header[filled..]).await? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => filled += read,
        }
    }
    let kind = FrameKind::of(header[0])?;
    let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
    if length > FRAME_MAX_BYTES {
        return Err(invalid(format!("a frame of {length} bytes is too large")));
    }
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await?;
    Ok(Some(Frame { kind, payload }))
}

/// Writes a frame. The caller flushes.
pub async fn write_frame(
    stream: &mut (impl AsyncWrite + Unpin),
    kind: FrameKind,
    payload: &[u8],
) -> io::Result<()> {
    if payload.len() > FRAME_MAX_BYTES {
        return Err(invalid(format!("a frame of {} bytes is too large", payload.len())));
    }
    let mut bytes = Vec::with_capacity(payload.len() + 5);
    bytes.push(kind as u8);
    bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    bytes.extend_from_slice(payload);
    stream.write_all(&bytes).await
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_survive_any_split_and_a_cut_one_is_an_error() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, FrameKind::Stdout, b"one").await.unwrap();
        write_frame(&mut bytes, FrameKind::Answer, b"").await.unwrap();
        for cut in 0..bytes.len() {
            let (mut here, there) = tokio::io::duplex(1);
            let part = bytes[..cut].to_vec();
            tokio::spawn(async move { here.write_all(&part).await });
            let mut there = there;
            let mut frames = Vec::new();
            let end = loop {
                match read_frame(&mut there).await {
                    Ok(Some(frame)) => frames.push(frame.payload),
                    end => break end,
                }
            };
            let whole = usize::from(cut >= 8) + usize::from(cut >= 13);
            assert_eq!(frames.len(), whole, "cut at {cut}");
            assert_eq!(end.is_ok(), [0, 8].contains(&cut), "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn an_absurd_length_or_kind_is_refused_before_it_is_kept() {
        for bytes in [[7, 0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0, 0], [99, 0, 0, 0, 1]] {
            assert!(read_frame(&mut &bytes[..]).await.is_err());
        }
    }
}
