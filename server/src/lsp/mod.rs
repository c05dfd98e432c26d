//! The language-server front end: translates between the editor and the agent, and decides nothing.

pub mod documents;
pub mod transport;

use crate::environment::Environment;
use transport::Ended;

/// Serves the editor on stdin and stdout until it is gone.
pub async fn run(_environment: Environment) -> Ended {
    Ended::InputClosed
}
