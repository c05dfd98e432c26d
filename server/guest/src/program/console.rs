//! The guest's own stdin and stdout, as the link uses them.
//!
//! Tokio's own would hand every read and write to another thread, which a quick command pays for twice. Nor are these
//! tokio's pipes: a port gives one buffer a read, however much waits, and a pipe would take that for all there is.

use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Stdin to read from, stdout to write to. Both are pipes or ports of a microVM.
pub struct Console {
    input: AsyncFd<OwnedFd>,
    output: AsyncFd<OwnedFd>,
}

impl Console {
    /// Takes over stdin and stdout. Must be called within the runtime.
    pub fn open() -> io::Result<Self> {
        // Not `dup`: what every command inherits, every command can read and write, and this is the way to the server.
        let apart = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 0);
        Self::of(apart(std::io::stdin().as_fd())?, apart(std::io::stdout().as_fd())?)
    }

    fn of(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        Ok(Self { input: waited_for(input)?, output: waited_for(output)? })
    }
}

#[expect(unsafe_code, reason = "tokio leaves it to us to say that the file stays the one it was")]
fn waited_for(file: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags | rustix::fs::OFlags::NONBLOCK)?;
    // SAFETY: an `OwnedFd` is open and the same file until it is dropped.
    unsafe { AsyncFd::register(file) }.map_err(io::Error::from)
}

impl AsyncRead for Console {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.input.poll_read_ready(context))?;
            let into = buffer.initialize_unfilled();
            match rustix::io::read(guard.get_inner().as_fd(), into) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }
}

impl AsyncWrite for Console {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.output.poll_write_ready(context))?;
            match rustix::io::write(guard.get_inner().as_fd(), bytes) {
                Ok(written) => return Poll::Ready(Ok(written)),
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn what_is_larger_than_a_pipe_goes_through_and_its_end_is_seen() {
        let (input, far_output) = std::io::pipe().unwrap();
        let (far_input, output) = std::io::pipe().unwrap();
        let mut near = Console::of(input.into(), output.into()).unwrap();
        let mut far = Console::of(far_input.into(), far_output.into()).unwrap();
        let sent: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
        let to_send = sent.clone();
        let sender = tokio::spawn(async move { far.write_all(&to_send).await.map(|()| drop(far)) });
        let mut got = Vec::new();
        near.read_to_end(&mut got).await.unwrap();
        sender.await.unwrap().unwrap();
        assert!(got == sent);
        assert!(near.write_all(b"nobody reads this").await.is_err());
    }
}
