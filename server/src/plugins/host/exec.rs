//! `exec`: commands in the sandbox, and nowhere else.

use super::{HostState, apart, error, passing, wit};
use crate::limits::PLUGIN_EXECS_MAX;
use crate::tools::run_in_sandbox;
use wit::exec::Outcome;
use wit::types::ToolError;

impl wit::exec::Host for HostState {
    async fn run(
        &mut self,
        command: String,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<Outcome, ToolError>> {
        Ok(self.execute(command, timeout_ms).await)
    }
}

impl HostState {
    async fn execute(&mut self, command: String, timeout_ms: u32) -> Result<Outcome, ToolError> {
        if self.used.execs == PLUGIN_EXECS_MAX {
            return Err(error("too-large", format!("a call may run {PLUGIN_EXECS_MAX} commands")));
        }
        self.used.execs += 1;
        let (view, cancel) = (self.view()?, self.context.cancel.clone());
        let timeout_ms = u64::from(timeout_ms).max(1);
        let ran = apart(async move {
            let ran = run_in_sandbox(&view, &cancel, command, timeout_ms).await;
            ran.map_err(|why| passing("unavailable", why))
        })
        .await?;
        if ran.timed_out {
            return Err(passing(
                "timeout",
                format!("the command was ended after {timeout_ms} ms; it had said:\n{}", ran.output),
            ));
        }
        Ok(Outcome { exit_code: ran.exit_code, output: ran.output, cut: ran.cut })
    }
}
