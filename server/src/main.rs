//! The `airlock` binary.

use airlock::environment::Environment;
use airlock::lsp::transport::Ended;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let ended = airlock::lsp::run(Environment::of_process()?).await;
    std::process::exit(i32::from(matches!(ended, Ended::Exit { after_shutdown: false })));
}
