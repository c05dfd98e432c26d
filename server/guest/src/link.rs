//! The server's end of the link: calls out, what is said about them in.
//!
//! The guest lives among what the agent runs, so it is not believed: somebody may have taken it over, or stopped it. What
//! it says is bounded, in bytes and in time, and a guest that passes a bound is given up, with all that it serves.

use crate::frames::{FRAME_MAX_BYTES, FrameKind, read_frame, whole, write_frame};
use crate::words::{Answer, CALL_SAID_MAX_BYTES, Call, CallError};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt, TokioAsyncReadCompatExt};
use yamux::{Config, Connection, Mode};

/// Streams that wait to be opened.
const OPENING_MAX: usize = 16;
/// Calls that may be on their way at once.
const STREAMS_MAX: usize = 128;
/// What the guest may have sent and nobody has read yet, of all calls together.
const UNREAD_MAX_BYTES: usize = 64 << 20;
/// What stands before the bytes of a frame.
const FRAME_HEADER_BYTES: usize = 5;

/// The link to a guest. Dropping it closes it, and so does a guest that passes a bound.
pub struct Link {
    opening: mpsc::Sender<oneshot::Sender<yamux::Stream>>,
    closed: Closed,
}

/// Whether the link is closed. Who gives the guest up says so here, and everybody knows at once.
type Closed = Arc<watch::Sender<bool>>;

/// Says so when it is dropped, also by a panic: of what is read from the stream not all is our own code.
struct Closes(Closed);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Why a call got no good answer.
#[derive(Debug)]
pub enum LinkError {
    /// The guest said no.
    Refused(String),
    /// The link is broken, and the guest with it.
    Broken(io::Error),
}

/// What the guest says about a call.
#[derive(Debug, PartialEq)]
pub enum Said {
    /// A piece of stdout.
    Stdout(Vec<u8>),
    /// A piece of stderr.
    Stderr(Vec<u8>),
    /// A piece of content.
    Data(Vec<u8>),
    /// The answer. Nothing follows it.
    Answer(Answer),
}

impl Link {
    /// Speaks to a guest over a stream of bytes.
    pub fn new(io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        let (opening, requests) = mpsc::channel(OPENING_MAX);
        let closed = Arc::new(watch::channel(false).0);
        let (closes, mut given_up) = (Closes(Arc::clone(&closed)), closed.subscribe());
        let mut config = Config::default();
        config.set_max_num_streams(STREAMS_MAX).set_max_connection_receive_window(Some(UNREAD_MAX_BYTES));
        let connection = Connection::new(whole(io).compat(), config, Mode::Client);
        tokio::spawn(async move {
            let _closes = closes;
            let mut driver = Driver { connection, requests, waiting: None };
            tokio::select! {
                () = poll_fn(|context| driver.poll(context)) => {}
                _ = given_up.wait_for(|closed| *closed) => {}
            }
        });
        Self { opening, closed }
    }

    /// Makes a call. What comes of it arrives through the stream.
    pub async fn call(&self, call: &Call) -> Result<CallStream, LinkError> {
        let broken = || io::Error::new(io::ErrorKind::BrokenPipe, "the sandbox is gone");
        let payload = serde_json::to_vec(call).map_err(io::Error::from)?;
        if payload.len() > FRAME_MAX_BYTES {
            return Err(LinkError::Refused(format!(
                "it is too long: {} bytes, and {FRAME_MAX_BYTES} is the most. Put what is large into a file first",
                payload.len()
            )));
        }
        let mut bounds = Bounds {
            left_time: Duration::from_millis(call.answer_max_ms()),
            left_bytes: CALL_SAID_MAX_BYTES,
            closed: Arc::clone(&self.closed),
        };
        let opened = async {
            let (sender, opened) = oneshot::channel();
            self.opening.send(sender).await.map_err(|_| broken())?;
            let mut stream = opened.await.map_err(|_| broken())?.compat();
            write_frame(&mut stream, FrameKind::Call, &payload).await?;
            stream.flush().await?;
            Ok(stream)
        };
        let stream = bounds.within(opened).await?;
        Ok(CallStream { stream, bounds })
    }

    /// Makes a call that sends `content` along, and waits for its answer alone.
    pub async fn ask(&self, call: &Call, content: Option<&[u8]>) -> Result<Answer, LinkError> {
        let mut stream = self.call(call).await?;
        if let Some(content) = content {
            stream.send(content).await?;
        }
        loop {
            if let Said::Answer(answer) = stream.next().await? {
                return Ok(answer);
            }
        }
    }

    /// Whether the guest is gone.
    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Waits until the guest is gone.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut closed = self.closed.subscribe();
        async move {
            // An error means that the driver is gone, which is as closed as can be.
            let _ = closed.wait_for(|closed| *closed).await;
        }
    }
}

/// One call on its way. Dropping it ends the call.
pub struct CallStream {
    stream: Compat<yamux::Stream>,
    bounds: Bounds,
}

/// What the guest may still take for a call.
struct Bounds {
    /// Of waiting for it. Who listens slowly takes none of that.
    left_time: Duration,
    left_bytes: usize,
    closed: Closed,
}

impl CallStream {
    /// What the guest says next.
    pub async fn next(&mut self) -> Result<Said, LinkError> {
        let cut =
            || io::Error::new(io::ErrorKind::UnexpectedEof, "the sandbox ended in the middle of a call");
        let frame = self.bounds.within(read_frame(&mut self.stream)).await?.ok_or_else(cut)?;
        self.bounds.take(frame.payload.len() + FRAME_HEADER_BYTES)?;
        match frame.kind {
            FrameKind::Stdout => Ok(Said::Stdout(frame.payload)),
            FrameKind::Stderr => Ok(Said::Stderr(frame.payload)),
            FrameKind::Data => Ok(Said::Data(frame.payload)),
            FrameKind::Answer => {
                Ok(Said::Answer(serde_json::from_slice(&frame.payload).map_err(io::Error::from)?))
            }
            FrameKind::Error => {
                let error: CallError = serde_json::from_slice(&frame.payload).map_err(io::Error::from)?;
                Err(LinkError::Refused(error.message))
            }
            FrameKind::Call | FrameKind::DataEnd | FrameKind::Cancel => {
                Err(LinkError::Broken(io::Error::other("the guest sent a frame that only callers send")))
            }
        }
    }

    /// Sends content, whole.
    pub async fn send(&mut self, content: &[u8]) -> io::Result<()> {
        let stream = &mut self.stream;
        let sent = async {
            for piece in content.chunks(FRAME_MAX_BYTES) {
                write_frame(stream, FrameKind::Data, piece).await?;
            }
            write_frame(stream, FrameKind::DataEnd, &[]).await?;
            stream.flush().await
        };
        self.bounds.within(sent).await
    }

    /// Stops what was called. Its answer still comes.
    pub async fn cancel(&mut self) -> io::Result<()> {
        let stream = &mut self.stream;
        let sent = async {
            write_frame(stream, FrameKind::Cancel, &[]).await?;
            stream.flush().await
        };
        self.bounds.within(sent).await
    }
}

impl Bounds {
    /// Waits for the guest, as long as it has time.
    async fn within<T>(&mut self, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let begun = Instant::now();
        let done = tokio::time::timeout(self.left_time, work).await;
        self.left_time = self.left_time.saturating_sub(begun.elapsed());
        done.unwrap_or_else(|_| {
            self.closed.send_replace(true);
            Err(io::Error::new(io::ErrorKind::TimedOut, "the sandbox does not answer any more"))
        })
    }

    /// Counts what it said.
    fn take(&mut self, bytes: usize) -> io::Result<()> {
        self.left_bytes = self.left_bytes.saturating_sub(bytes);
        if self.left_bytes == 0 {
            self.closed.send_replace(true);
            return Err(io::Error::other("the sandbox said more than any call may say"));
        }
        Ok(())
    }
}

/// Keeps the connection going: nothing is sent or received unless it is polled.
struct Driver<T> {
    connection: Connection<Compat<T>>,
    requests: mpsc::Receiver<oneshot::Sender<yamux::Stream>>,
    waiting: Option<oneshot::Sender<yamux::Stream>>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Driver<T> {
    /// Ready when the connection is over.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.waiting.is_none() {
                match self.requests.poll_recv(context) {
                    Poll::Ready(Some(request)) => self.waiting = Some(request),
                    // Nobody can call any more.
                    Poll::Ready(None) => return self.connection.poll_close(context).map(drop),
                    Poll::Pending => {}
                }
            }
            if self.waiting.is_some() {
                match self.connection.poll_new_outbound(context) {
                    Poll::Ready(Ok(stream)) => {
                        if let Some(waiting) = self.waiting.take() {
                            // A caller that is gone drops the stream, which closes it.
                            let _ = waiting.send(stream);
                        }
                        continue;
                    }
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Pending => {}
                }
            }
            match self.connection.poll_next_inbound(context) {
                // The guest opens no streams; one that does is not our guest any more.
                Poll::Ready(Some(Ok(_) | Err(_)) | None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl std::fmt::Display for LinkError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) => formatter.write_str(why),
            Self::Broken(error) => write!(formatter, "the sandbox broke off: {error}"),
        }
    }
}

impl std::error::Error for LinkError {}
