//! A command in the sandbox for somebody else than the model: its output as it came, and how it ended.

use super::utf8_stream::Utf8Stream;
use crate::view::SessionView;
use airlock_guest::{Answer, Call, Exec, LinkError, Said};
use tokio_util::sync::CancellationToken;

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// None when a signal ended it.
    pub exit_code: Option<i32>,
    /// Stdout and stderr as they came.
    pub output: String,
    /// The middle of the output is missing.
    pub cut: bool,
    /// It was ended because its time was up.
    pub timed_out: bool,
}

/// Runs a command line in the sandbox; a cancel ends it there.
pub async fn run_in_sandbox(
    view: &SessionView,
    cancel: &CancellationToken,
    command: String,
    timeout_ms: u64,
) -> Result<Ran, String> {
    let sandbox =
        view.ready().await.map_err(|error| format!("there is no sandbox, so nothing can run: {error}"))?;
    let broken = |error: &dyn std::fmt::Display| format!("the sandbox broke off: {error}");
    let call = Call::Exec(Exec { command, timeout_ms, background: false });
    let mut stream = sandbox.link().call(&call).await.map_err(|error| broken(&error))?;
    let (mut stdout, mut stderr) = (Utf8Stream::default(), Utf8Stream::default());
    let mut output = String::new();
    let mut stopped = false;
    loop {
        let said = tokio::select! {
            biased;
            () = cancel.cancelled(), if !stopped => {
                stopped = true;
                stream.cancel().await.map_err(|error| broken(&error))?;
                continue;
            }
            said = stream.next() => said,
        };
        match said {
            Ok(Said::Stdout(bytes)) => output.push_str(&stdout.take(&bytes)),
            Ok(Said::Stderr(bytes)) => output.push_str(&stderr.take(&bytes)),
            Ok(Said::Data(_)) => {}
            Ok(Said::Answer(Answer::Exited(exited))) => {
                output.push_str(&stdout.finish());
                output.push_str(&stderr.finish());
                return Ok(Ran {
                    exit_code: exited.code,
                    output,
                    cut: exited.stdout_left_out + exited.stderr_left_out > 0,
                    timed_out: exited.timed_out,
                });
            }
            Ok(Said::Answer(other)) => {
                return Err(format!("the sandbox gave an answer that does not fit: {other:?}"));
            }
            Err(LinkError::Refused(why)) => return Err(why),
            Err(LinkError::Broken(error)) => return Err(broken(&error)),
        }
    }
}
