//! The `airlock` binary: reads the command line, and hands over.

use airlock::cli::{self, Arguments};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::start(Arguments::parse()).into()
}
