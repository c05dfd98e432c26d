//! The server's end of the link, with a guest that says anything at all.

use crate::input::pieces;
use crate::link_frames::frames;
use airlock_guest::{Call, CallStream, FrameKind, Link, LinkError, Said};
use futures::AsyncWriteExt as _;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, DuplexStream};
use tokio::runtime::Runtime;
use tokio_util::compat::TokioAsyncReadCompatExt;
use yamux::{Config, Connection, Mode};

const HANGS: &str = "a call neither ended nor failed";
const ANSWER_MAX: Duration = Duration::from_secs(10);
const PIPE_BYTES: usize = 64 << 10;

thread_local! {
    static RUNTIME: Runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
}

/// A guest that does not even keep to the multiplexer's rules: a call still ends.
pub(crate) fn raw(said: &[u8], seed: u8) {
    in_time(call_raw(said, seed));
}

/// A guest whose streams hold anything: a call brings what the frames say.
pub(crate) fn in_streams(said: &[u8], seed: u8) {
    in_time(call_in_streams(said, seed));
}

fn in_time(call: impl Future<Output = ()>) {
    RUNTIME.with(|runtime| {
        runtime.block_on(async { tokio::time::timeout(ANSWER_MAX, call).await }).expect(HANGS);
    });
}

async fn call_raw(said: &[u8], seed: u8) {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let link = Link::new(near);
    let (mut heard, mut says) = tokio::io::split(far);
    let listening = tokio::spawn(async move { tokio::io::copy(&mut heard, &mut tokio::io::sink()).await });
    let talking = async {
        for piece in pieces(said, seed) {
            if says.write_all(piece).await.is_err() {
                break;
            }
        }
        // Nobody may be listening any more.
        let _ = says.shutdown().await;
    };
    let calling = async {
        if let Ok(mut stream) = link.call(&Call::Hello).await {
            hear(&mut stream).await;
        }
    };
    futures::join!(talking, calling);
    link.closed().await;
    assert!(link.call(&Call::Hello).await.is_err(), "a call over a link that is gone");
    drop(link);
    listening.abort();
}

async fn call_in_streams(said: &[u8], seed: u8) {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let guest = tokio::spawn(guest(far, said.to_vec(), seed));
    let link = Link::new(near);
    let mut stream = link.call(&Call::Hello).await.expect("the guest lives");
    assert_eq!(hear(&mut stream).await, expected(said), "something else than what the guest said");
    drop(stream);
    drop(link);
    guest.await.unwrap();
}

async fn guest(io: DuplexStream, said: Vec<u8>, seed: u8) {
    let mut connection = Connection::new(io.compat(), Config::default(), Mode::Server);
    while let Some(Ok(mut stream)) =
        std::future::poll_fn(|context| connection.poll_next_inbound(context)).await
    {
        let said = said.clone();
        tokio::spawn(async move {
            for piece in pieces(&said, seed) {
                if stream.write_all(piece).await.is_err() {
                    return;
                }
            }
            // The caller may have had enough.
            let _ = stream.close().await;
        });
    }
}

/// All that comes of a call, and whether it ended with a refusal.
async fn hear(stream: &mut CallStream) -> (Vec<Said>, bool) {
    let mut heard = Vec::new();
    loop {
        match stream.next().await {
            Ok(said) => {
                let is_last = matches!(said, Said::Answer(_));
                heard.push(said);
                if is_last {
                    return (heard, false);
                }
            }
            Err(error) => return (heard, matches!(error, LinkError::Refused(_))),
        }
    }
}

fn expected(bytes: &[u8]) -> (Vec<Said>, bool) {
    let mut heard = Vec::new();
    for frame in frames(&[bytes]).0 {
        heard.push(match frame.kind {
            FrameKind::Stdout => Said::Stdout(frame.payload),
            FrameKind::Stderr => Said::Stderr(frame.payload),
            FrameKind::Data => Said::Data(frame.payload),
            FrameKind::Answer => {
                heard.extend(serde_json::from_slice(&frame.payload).ok().map(Said::Answer));
                return (heard, false);
            }
            FrameKind::Error => {
                return (heard, serde_json::from_slice::<airlock_guest::CallError>(&frame.payload).is_ok());
            }
            FrameKind::Call | FrameKind::DataEnd | FrameKind::Cancel => return (heard, false),
        });
    }
    (heard, false)
}
