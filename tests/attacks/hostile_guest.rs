//! The guest lives among what the agent runs. If somebody takes it over, or stops it, the server must not follow: its memory
//! and its time are its own.

use airlock_guest::{CALL_SAID_MAX_BYTES, Call, Exec, FrameKind, Link, LinkError, Said, write_frame};
use airlock_tests::deadline::within;
use std::future::poll_fn;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt, TokioAsyncReadCompatExt};

type Stream = Compat<yamux::Stream>;
type Connection = yamux::Connection<Compat<DuplexStream>>;

/// A guest that behaves like this on every stream that the server opens.
fn taken_over<F>(behave: impl Fn(Stream) -> F + Send + 'static) -> Link
where
    F: Future<Output = ()> + Send + 'static,
{
    taken_over_wholly(move |mut connection: Connection| async move {
        while let Some(Ok(stream)) = poll_fn(|context| connection.poll_next_inbound(context)).await {
            tokio::spawn(behave(stream.compat()));
        }
    })
}

/// A guest that does this with the whole link.
fn taken_over_wholly<F>(behave: impl FnOnce(Connection) -> F + Send + 'static) -> Link
where
    F: Future<Output = ()> + Send + 'static,
{
    let (here, there) = tokio::io::duplex(64 << 10);
    let connection = yamux::Connection::new(there.compat(), yamux::Config::default(), yamux::Mode::Server);
    tokio::spawn(behave(connection));
    Link::new(here)
}

/// Of a clock that stands still while anybody works.
const HOUR: Duration = Duration::from_secs(3600);

fn command() -> Call {
    Call::Exec(Exec { command: "true".into(), timeout_ms: 1000, background: false })
}

fn is_broken<T>(result: &Result<T, LinkError>) -> bool {
    matches!(result, Err(LinkError::Broken(_)))
}

/// It is given up: whoever needs a sandbox next gets another one.
async fn is_given_up(link: &Link) {
    within(link.closed(), || "the guest is not given up".into()).await;
    assert!(is_broken(&link.ask(&command(), None).await));
}

/// Bug class: a reader that collects what an untrusted writer sends until that is done.
#[tokio::test]
async fn a_guest_that_never_stops_talking_is_given_up_before_it_fills_the_memory() {
    for (kind, piece) in
        [(FrameKind::Stdout, 200 << 10), (FrameKind::Data, 200 << 10), (FrameKind::Stderr, 1 << 10)]
    {
        let link = taken_over(move |mut stream| async move {
            let bytes = vec![b'x'; piece];
            while write_frame(&mut stream, kind, &bytes).await.is_ok() && stream.flush().await.is_ok() {}
        });
        let mut stream = link.call(&command()).await.unwrap();
        let mut heard = 0;
        let listening = async {
            loop {
                match stream.next().await {
                    Ok(Said::Stdout(bytes) | Said::Data(bytes) | Said::Stderr(bytes)) => heard += bytes.len(),
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => return Err::<(), _>(error),
                }
                assert!(heard <= 2 * CALL_SAID_MAX_BYTES, "it is listened to for ever");
            }
        };
        let end = within(listening, || "it is listened to for ever".into()).await;
        assert!(is_broken(&end) && heard <= CALL_SAID_MAX_BYTES, "{end:?} after {heard} bytes");
        is_given_up(&link).await;
    }
}

/// A property of this design: in a microVM the guest is no first process, so a command of the same user can stop it.
#[tokio::test(start_paused = true)]
async fn a_guest_that_answers_no_more_is_given_up_when_its_time_is_up() {
    let silent = || {
        taken_over(|stream| async move {
            std::future::pending::<()>().await;
            drop(stream);
        })
    };
    for call in [command(), Call::Hello, Call::Stale { expected: Vec::new() }, Call::Jobs] {
        let link = silent();
        let asked = tokio::time::timeout(HOUR, link.ask(&call, None)).await.expect("an end");
        assert!(is_broken(&asked), "{call:?}");
        is_given_up(&link).await;
    }
    // More than it has room for, which it never reads.
    let link = silent();
    let put = Call::Put { path: "a".into(), mode: 0o644, modified_ns: None };
    let content = vec![0; 8 << 20];
    let asked = tokio::time::timeout(HOUR, link.ask(&put, Some(&content))).await.expect("an end");
    assert!(is_broken(&asked));
    is_given_up(&link).await;
}

/// Bug class: lengths, kinds and texts of a peer that are believed.
#[tokio::test]
async fn what_no_guest_says_is_an_error_and_nothing_more() {
    let deep = [b"\x07\0\x03\0\0".to_vec(), vec![b'['; 3 << 16]].concat();
    let said: [&[u8]; 11] = [
        b"\x05\xff\xff\xff\xff",             // four gigabytes
        b"\x05\0\x04\0\x01",                 // a byte too many
        b"\0\0\0\0\0",                       // of no kind
        b"\xff\0\0\0\0",                     // of another kind
        b"\x01\0\0\0\0",                     // a call
        b"\x04\0\0\0\0",                     // a cancel
        b"\x07\0\0\0\x04oops",               // no answer
        b"\x07\0\0\0\x02\xff\xfe",           // no text
        b"\x08\0\0\0\x02{}",                 // an error without words
        b"\x07\0\0\0\x0e{\"answer\":\"x\"}", // an unknown answer
        &deep,
    ];
    for bytes in said {
        let bytes = bytes.to_vec();
        let shown = bytes[..bytes.len().min(12)].to_vec();
        let link = taken_over(move |mut stream| {
            let bytes = bytes.clone();
            async move {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.flush().await;
                let _ = stream.shutdown().await;
            }
        });
        let asked = within(link.ask(&command(), None), || format!("{shown:?} hangs")).await;
        assert!(asked.is_err(), "{shown:?}: {asked:?}");
    }
}

/// A property of this design: only the server opens streams.
#[tokio::test]
async fn a_guest_that_opens_streams_itself_is_given_up() {
    let link = taken_over_wholly(|mut connection: Connection| async move {
        let mut open = Vec::new();
        while let Ok(stream) = poll_fn(|context| connection.poll_new_outbound(context)).await {
            let mut stream = stream.compat();
            let _ = stream.write_all(b"hello").await;
            open.push(stream);
            if open.len() == 3 {
                break;
            }
        }
        while let Some(Ok(_)) = poll_fn(|context| connection.poll_next_inbound(context)).await {}
    });
    is_given_up(&link).await;
}

/// Bug class: the multiplexer's own frames, whose lengths and stream numbers are the peer's to choose.
#[tokio::test]
async fn bytes_that_are_no_link_at_all_end_it_and_hang_nobody() {
    // Version, kind, flags, stream, length.
    let data = |stream: u32, length: u32| {
        [&[0, 0, 0, 0][..], &stream.to_be_bytes(), &length.to_be_bytes(), &[b'x'; 64]].concat()
    };
    let window = [&[0, 1, 0, 0][..], &1u32.to_be_bytes(), &u32::MAX.to_be_bytes()].concat();
    let floods = [
        vec![0xff; 4096],
        b"HTTP/1.1 200 OK\r\n\r\n".repeat(100),
        data(1, u32::MAX),
        data(1, 1 << 30),
        data(u32::MAX, 64),
        [window.clone(), window].concat(),
    ];
    for bytes in floods {
        let shown = bytes[..12].to_vec();
        let (here, mut there) = tokio::io::duplex(64 << 10);
        let link = Link::new(here);
        let asked = tokio::spawn(async move {
            let asked = link.ask(&Call::Hello, None).await;
            (asked, link)
        });
        let _ = there.write_all(&bytes).await;
        drop(there);
        let (asked, link) = within(asked, || format!("{shown:?} hangs")).await.expect("no panic");
        assert!(is_broken(&asked), "{shown:?}: {asked:?}");
        is_given_up(&link).await;
    }
}
