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
use tokio::sync::{Notify, mpsc, oneshot, watch};
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

/// The link to a guest. Dropping it closes it.
pub struct Link {
    opening: mpsc::Sender<oneshot::Sender<yamux::Stream>>,
    closed: watch::Receiver<bool>,
    /// The guest is given up.
    give_up: Arc<Notify>,
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
        let (closing, closed) = watch::channel(false);
        let mut config = Config::default();
        config.set_max_num_streams(STREAMS_MAX).set_max_connection_receive_window(Some(UNREAD_MAX_BYTES));
        let connection = Connection::new(whole(io).compat(), config, Mode::Client);
        let give_up = Arc::new(Notify::new());
        let given_up = Arc::clone(&give_up);
        tokio::spawn(async move {
            let mut driver = Driver { connection, requests, waiting: None };
            tokio::select! {
                () = poll_fn(|context| driver.poll(context)) => {}
                () = given_up.notified() => {}
            }
            drop(driver);
            // Nobody may be listening any more.
            let _ = closing.send(true);
        });
        Self { opening, closed, give_up }
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
        let answer_max = Duration::from_millis(call.answer_max_ms());
        let give_up = Arc::clone(&self.give_up);
        let opened = async {
            let (sender, opened) = oneshot::channel();
            self.opening.send(sender).await.map_err(|_| broken())?;
            let stream = opened.await.map_err(|_| broken())?.compat();
            let bounds =
                Bounds { deadline: Instant::now() + answer_max, left_bytes: CALL_SAID_MAX_BYTES, give_up };
            let mut stream = CallStream { stream, bounds };
            write_frame(&mut stream.stream, FrameKind::Call, &payload).await?;
            stream.stream.flush().await?;
            Ok::<_, io::Error>(stream)
        };
        match tokio::time::timeout(answer_max, opened).await {
            Ok(opened) => Ok(opened?),
            Err(_) => Err(silent(&self.give_up)),
        }
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
        let mut closed = self.closed.clone();
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

/// What the guest may take for a call.
struct Bounds {
    deadline: Instant,
    left_bytes: usize,
    give_up: Arc<Notify>,
}

impl CallStream {
    /// What the guest says next.
    pub async fn next(&mut self) -> Result<Said, LinkError> {
        let cut =
            || io::Error::new(io::ErrorKind::UnexpectedEof, "the sandbox ended in the middle of a call");
        let Bounds { deadline, left_bytes, give_up } = &mut self.bounds;
        let frame = match tokio::time::timeout_at(*deadline, read_frame(&mut self.stream)).await {
            Ok(frame) => frame?.ok_or_else(cut)?,
            Err(_) => return Err(silent(give_up)),
        };
        *left_bytes = left_bytes.saturating_sub(frame.payload.len() + FRAME_HEADER_BYTES);
        if *left_bytes == 0 {
            give_up.notify_one();
            return Err(LinkError::Broken(io::Error::other("the sandbox said more than any call may say")));
        }
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
    async fn within(&self, sent: impl Future<Output = io::Result<()>>) -> io::Result<()> {
        match tokio::time::timeout_at(self.deadline, sent).await {
            Ok(sent) => sent,
            Err(_) => {
                self.give_up.notify_one();
                Err(io::Error::new(io::ErrorKind::TimedOut, SILENT))
            }
        }
    }
}

const SILENT: &str = "the sandbox does not answer any more";

/// The guest is given up, for it does not answer.
fn silent(give_up: &Notify) -> LinkError {
    give_up.notify_one();
    LinkError::Broken(io::Error::new(io::ErrorKind::TimedOut, SILENT))
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
