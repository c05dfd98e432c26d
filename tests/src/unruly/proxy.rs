//! The connections through a proxy: each is one call.

use super::Trouble;
use super::connection::Connection;
use crate::deadline::within;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

pub(super) struct Proxy<C> {
    connect: Box<dyn Fn() -> io::Result<C> + Send + Sync>,
    /// Asks for the end of the connection with each answer: some clients would use it for another call.
    closes: bool,
    state: Mutex<State<C>>,
    behaves: Condvar,
    silent: watch::Sender<usize>,
    /// Something was said through a frozen connection.
    unheard: watch::Sender<bool>,
    over: AtomicBool,
}

struct State<C> {
    troubles: Vec<(String, Trouble, usize)>,
    calls: Vec<String>,
    attached: Vec<Attached<C>>,
}

/// A connection to a container.
struct Attached<C> {
    client: C,
    frozen: Arc<AtomicBool>,
}

/// Between two bytes of an answer that drips.
const DRIP: Duration = Duration::from_millis(100);

impl<C: Connection> Proxy<C> {
    pub(super) fn new(connect: impl Fn() -> io::Result<C> + Send + Sync + 'static) -> Arc<Self> {
        Self::with(connect, false)
    }

    pub(super) fn closing(connect: impl Fn() -> io::Result<C> + Send + Sync + 'static) -> Arc<Self> {
        Self::with(connect, true)
    }

    fn with(connect: impl Fn() -> io::Result<C> + Send + Sync + 'static, closes: bool) -> Arc<Self> {
        let (silent, unheard) = (watch::channel(0).0, watch::channel(false).0);
        let state = Mutex::new(State { troubles: Vec::new(), calls: Vec::new(), attached: Vec::new() });
        let (connect, behaves, over) = (Box::new(connect), Condvar::new(), AtomicBool::new(false));
        Arc::new(Self { connect, closes, state, behaves, silent, unheard, over })
    }

    /// Serves connections, each in a thread of its own, until it is over.
    pub(super) fn serve_all(self: &Arc<Self>, incoming: impl Iterator<Item = io::Result<C>>) {
        for client in incoming.flatten().take_while(|_| !self.over.load(Ordering::SeqCst)) {
            let proxy = Arc::clone(self);
            std::thread::spawn(move || proxy.serve(client));
        }
    }

    pub(super) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.behave();
        self.cut_attached();
    }

    pub(super) fn trouble(&self, words: &str, trouble: Trouble, times: usize) {
        self.state().troubles.push((words.to_owned(), trouble, times));
    }

    pub(super) fn behave(&self) {
        self.state().troubles.clear();
        self.behaves.notify_all();
    }

    pub(super) fn calls(&self, words: &str) -> usize {
        self.state().calls.iter().filter(|line| line.contains(words)).count()
    }

    pub(super) async fn silences(&self, count: usize) {
        let mut silent = self.silent.subscribe();
        let reached = silent.wait_for(|silent| *silent >= count);
        within(reached, || format!("{count} calls were never made")).await.expect("we hold the sender");
    }

    pub(super) async fn unheard(&self) {
        let mut unheard = self.unheard.subscribe();
        let reached = unheard.wait_for(|unheard| *unheard);
        within(reached, || "nothing was said".to_owned()).await.expect("we hold the sender");
    }

    pub(super) fn cut_attached(&self) {
        for attached in self.state().attached.drain(..) {
            attached.client.end(Shutdown::Both);
        }
    }

    pub(super) fn freeze_attached(&self) {
        for attached in &self.state().attached {
            attached.frozen.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn inject_into_attached(&self, bytes: &[u8]) {
        for attached in &mut self.state().attached {
            // Who listens to it may be gone.
            let _ = attached.client.write_all(bytes);
        }
    }

    fn serve(&self, mut client: C) {
        // A client that goes away meanwhile is no matter of ours.
        let Ok((line, request)) = read_request(&mut client, self.closes) else { return };
        let trouble = self.take(&line);
        let resets = matches!(trouble, Some(Trouble::ResetAfter(_)));
        let _ = self.answer(&mut client, &line, &request, trouble);
        // A reset comes when the last who has the connection drops it.
        client.end(if resets { Shutdown::Read } else { Shutdown::Both });
    }

    fn answer(&self, client: &mut C, line: &str, request: &[u8], trouble: Option<Trouble>) -> io::Result<()> {
        match trouble {
            None => self.relay(client, line, request, usize::MAX),
            Some(Trouble::CutAfter(bytes)) => self.relay(client, line, request, bytes),
            Some(Trouble::ResetAfter(bytes)) => {
                client.will_reset()?;
                self.relay(client, line, request, bytes)
            }
            Some(Trouble::HangUp) => Ok(()),
            Some(Trouble::Answer(answer)) => client.write_all(answer.as_bytes()),
            Some(Trouble::Drip(beginning)) => {
                client.write_all(beginning.as_bytes())?;
                loop {
                    client.write_all(b"x")?;
                    std::thread::sleep(DRIP);
                }
            }
            Some(Trouble::Silence) => {
                self.silent.send_modify(|silent| *silent += 1);
                io::copy(client, &mut io::sink()).map(drop)
            }
            Some(Trouble::Late) => {
                self.silent.send_modify(|silent| *silent += 1);
                let late = self.behaves.wait_while(self.state(), |state| !state.troubles.is_empty());
                drop(late);
                self.relay(client, line, request, usize::MAX)
            }
        }
    }

    /// Notes a call, and tells what goes wrong with it.
    fn take(&self, line: &str) -> Option<Trouble> {
        let mut state = self.state();
        state.calls.push(line.to_owned());
        let fits = |(words, _, times): &&mut (String, Trouble, usize)| *times > 0 && line.contains(&**words);
        let (_, trouble, times) = state.troubles.iter_mut().find(fits)?;
        *times -= 1;
        Some(trouble.clone())
    }

    /// Makes the call, and passes so many bytes of its answer on.
    fn relay(&self, client: &mut C, line: &str, request: &[u8], most: usize) -> io::Result<()> {
        let mut server = (self.connect)()?;
        server.write_all(request)?;
        let frozen = Arc::new(AtomicBool::new(false));
        if line.contains("/attach") {
            let attached = Attached { client: client.twin()?, frozen: Arc::clone(&frozen) };
            self.state().attached.push(attached);
        }
        let (mut from, mut to, holds) = (client.twin()?, server.twin()?, Arc::clone(&frozen));
        let unheard = self.unheard.clone();
        std::thread::spawn(move || {
            let lost = || {
                unheard.send_replace(true);
            };
            let _ = pass(&mut from, &mut to, &holds, usize::MAX, lost);
            // What the client says is over; what is said to it may go on.
            to.end(Shutdown::Write);
        });
        let passed = pass(&mut server, client, &frozen, most, || ());
        server.end(Shutdown::Both);
        passed
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes on what comes, up to so many bytes. What comes to a frozen connection is lost.
fn pass(
    from: &mut impl Read,
    to: &mut impl Write,
    frozen: &AtomicBool,
    most: usize,
    on_lost: impl Fn(),
) -> io::Result<()> {
    let mut buffer = [0; 16 << 10];
    let mut passed = 0;
    while passed < most {
        let length = match from.read(&mut buffer)? {
            0 => break,
            length => length.min(most - passed),
        };
        if frozen.load(Ordering::SeqCst) {
            on_lost();
        } else {
            to.write_all(&buffer[..length])?;
        }
        passed += length;
    }
    // So that a call that is cut before its answer is one that was made.
    if most == 0 {
        let _ = from.read(&mut buffer)?;
    }
    Ok(())
}

/// The first line of a request, and all of it.
fn read_request(client: &mut impl Read, closes: bool) -> io::Result<(String, Vec<u8>)> {
    let mut request = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if request.len() >= end + 4 + length.unwrap_or(0) {
                if closes {
                    request.splice(end..end, *b"\r\nConnection: close");
                }
                return Ok((head.lines().next().unwrap_or_default().to_owned(), request));
            }
        }
        match client.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => request.extend_from_slice(&buffer[..length]),
        }
    }
}
