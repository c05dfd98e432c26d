//! What `cargo xtask demo` starts, after it has set up and built what is needed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "it talks to a person; the walls are the server's"
)]

use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let unattended = std::env::args().any(|word| word == "--unattended");
    let is_attended = !unattended && stdin().is_terminal() && stdout().is_terminal();
    match airlock_tests::demo::run(is_attended, &mut stdout()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nThe demo failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}
