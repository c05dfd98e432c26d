//! The program's log: stderr, never stdout, which belongs to the editor or to the answer.

use crate::environment::Environment;
use crate::neutral::neutral;
use std::io::{self, Write};
use tracing_subscriber::filter::{EnvFilter, FilterFn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

const DEFAULT: &str = "warn";

/// Begins to log as `AIRLOCK_LOG` says.
pub(super) fn set_up(environment: &Environment) {
    let wish = environment.variable("AIRLOCK_LOG").unwrap_or(DEFAULT);
    let (filter, complaint) = match EnvFilter::try_new(wish) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new(DEFAULT), Some(error)),
    };
    // What the libraries below us log may hold headers, and with them the API key.
    let ours = FilterFn::new(|metadata| metadata.target().starts_with(env!("CARGO_PKG_NAME")));
    let lines = fmt::layer().with_ansi(false).with_writer(|| NeutralStderr).with_filter(ours);
    if tracing_subscriber::registry().with(filter).with(lines).try_init().is_err() {
        // A test has set up another one.
        return;
    }
    if let Some(error) = complaint {
        tracing::warn!("AIRLOCK_LOG is not understood ({error}): give error, warn, info, debug or trace");
    }
}

/// Log lines hold what servers and files said.
struct NeutralStderr;

impl Write for NeutralStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(neutral(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
