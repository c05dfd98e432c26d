//! The signals that end a program, taken as events instead.

use futures::FutureExt;
use std::io;
use tokio::signal::unix::{self, SignalKind};

/// A signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// Somebody asks the program to end.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

impl Signal {
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// What arrives. From its making on, none of these signals ends the process.
pub(super) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    /// The next one. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            Some(()) = self.hang_up.recv() => Signal::HangUp,
            else => std::future::pending().await,
        }
    }

    /// The next one that is no Ctrl-C.
    pub(super) async fn next_that_ends(&mut self) -> Signal {
        loop {
            match self.next().await {
                Signal::Interrupt => {}
                signal => return signal,
            }
        }
    }

    /// Forgets a Ctrl-C that nothing was there to be stopped by.
    pub(super) fn forget_interrupt(&mut self) {
        self.interrupt.recv().now_or_never();
    }
}
