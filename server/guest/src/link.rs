//! The server's end of the link: calls out, what is said about them in.

use crate::frames::{FRAME_MAX_BYTES, FrameKind, read_frame, whole, write_frame};
use crate::words::{Answer, Call, CallError};
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

/// How long a guest may take for a call that has no time of its own.
const CALL_MAX: Duration = Duration::from_secs(120);

/// How long a guest may be silent once the time of a call is over. Then it is taken for dead.
const GRACE_MAX: Duration = Duration::from_secs(15);

/// The link to a guest. Dropping it closes it, and so does a guest that does not answer.
pub struct Link {
    opening: mpsc::Sender<oneshot::Sender<yamux::Stream>>,
    closed: Closed,
}

/// Whether the link is closed. Who finds that the guest is dead says so here, and everybody knows at once.
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
        let connection = Connection::new(whole(io).compat(), Config::default(), Mode::Client);
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
        let begun = async {
            let (sender, opened) = oneshot::channel();
            self.opening.send(sender).await.map_err(|_| broken())?;
            let mut stream = opened.await.map_err(|_| broken())?.compat();
            write_frame(&mut stream, FrameKind::Call, &payload).await?;
            stream.flush().await?;
            Ok::<_, io::Error>(stream)
        };
        let (deadline, closed) = (Instant::now() + time_of(call), Arc::clone(&self.closed));
        let stream = until(Instant::now() + CALL_MAX, &closed, begun).await?;
        Ok(CallStream { stream, deadline, closed })
    }

    /// Makes a call that sends `content` along, and waits for its answer alone.
    pub async fn ask(&self, call: &Call, content: Option<&[u8]>) -> Result<Answer, LinkError> {
        let mut stream = self.call(call).await?;
        if let Some(content) = content {
            let closed = Arc::clone(&stream.closed);
            until(stream.deadline, &closed, stream.send(content)).await?;
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

/// How long the guest may take for it.
fn time_of(call: &Call) -> Duration {
    match call {
        Call::Exec(exec) if !exec.background => Duration::from_millis(exec.timeout_ms),
        _ => CALL_MAX,
    }
}

/// Waits for the guest until then. One that keeps silent is taken for dead: the link closes for everybody.
async fn until<T>(
    deadline: Instant,
    closed: &Closed,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match tokio::time::timeout_at(deadline, work).await {
        Ok(done) => done,
        Err(_) => {
            closed.send_replace(true);
            Err(io::Error::new(io::ErrorKind::TimedOut, "the sandbox does not answer any more"))
        }
    }
}

/// One call on its way. Dropping it ends the call.
pub struct CallStream {
    stream: Compat<yamux::Stream>,
    /// When the guest should have answered.
    deadline: Instant,
    closed: Closed,
}

impl CallStream {
    /// What the guest says next.
    pub async fn next(&mut self) -> Result<Said, LinkError> {
        let cut =
            || io::Error::new(io::ErrorKind::UnexpectedEof, "the sandbox ended in the middle of a call");
        // Who listens slowly is given the time that is left, and a grace for what is still on its way.
        let deadline = self.deadline.max(Instant::now()) + GRACE_MAX;
        let frame = until(deadline, &self.closed, read_frame(&mut self.stream)).await?.ok_or_else(cut)?;
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
        for piece in content.chunks(FRAME_MAX_BYTES) {
            write_frame(&mut self.stream, FrameKind::Data, piece).await?;
        }
        write_frame(&mut self.stream, FrameKind::DataEnd, &[]).await?;
        self.stream.flush().await
    }

    /// Stops what was called. Its answer still comes.
    pub async fn cancel(&mut self) -> io::Result<()> {
        write_frame(&mut self.stream, FrameKind::Cancel, &[]).await?;
        self.stream.flush().await
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
                // The guest opens no streams; one that does is not listened to.
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
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
