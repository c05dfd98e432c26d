//! The language-server front end: translates between the editor and the agent, and decides nothing.
//!
//! | what | where |
//! |---|---|
//! | frames in and out, one response a request | [`transport`] |
//! | the mirror of open buffers | [`documents`] |
//! | one file a method | `methods` |
//! | the extension's messages | [`protocol`] |

mod answers;
mod asker;
mod buffers;
mod client_traits;
pub mod documents;
mod folders;
mod methods;
mod plain;
mod plain_review;
mod progress;
pub mod protocol;
#[cfg(test)]
mod protocol_doc;
mod pump;
mod question;
mod server;
mod translate;
pub mod transport;

use crate::environment::Environment;
use crate::limits::EXIT_MAX_MS;
use server::Server;
use std::time::Duration;
use transport::Ended;

/// Serves the editor on stdin and stdout until it is gone, or something tells to end. Then every session is closed, in
/// bounded time.
pub async fn run<T>(environment: Environment, told_to_end: impl Future<Output = T>) -> Result<Ended, T> {
    let (service, socket, shared) = Server::service(environment);
    let ended = tokio::select! {
        ended = transport::serve(tokio::io::stdin(), tokio::io::stdout(), service, socket) => Ok(ended),
        told = told_to_end => Err(told),
    };
    let closed = tokio::time::timeout(Duration::from_millis(EXIT_MAX_MS), shared.agent.close()).await;
    if closed.is_err() {
        tracing::warn!("a sandbox takes long to end; what is left of it is removed at the next start");
    }
    ended
}
