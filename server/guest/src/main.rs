//! The guest: `airlock-guest WORKSPACE`.
#![expect(clippy::print_stderr, reason = "stderr is the guest's log; stdout is the link")]

use airlock_guest::program::console::Console;
use airlock_guest::program::{Guest, privileges, serve};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let workspace = PathBuf::from(arguments.next().unwrap_or_else(|| "/workspace".into()));
    if let Err(error) = privileges::become_ordinary() {
        eprintln!("airlock-guest: cannot give up its privileges: {error}");
        return ExitCode::FAILURE;
    }
    // One thread: work on the disk has its own, and a call that changes threads on its way is a slower one.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("airlock-guest: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(async { serve(Console::open()?, Guest::new(workspace)).await });
    // Work on the disk may take long, and nobody waits for it any more.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("airlock-guest: the link broke: {error}");
            ExitCode::FAILURE
        }
    }
}
