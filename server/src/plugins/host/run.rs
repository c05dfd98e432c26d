//! `run`: the call that is running.

use super::{HostState, wit};
use crate::limits::PLUGIN_PROGRESS_MAX;
use crate::neutral::neutral_line;

impl wit::run::Host for HostState {
    async fn cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.context.cancel.is_cancelled())
    }

    async fn progress(&mut self, text: String) -> wasmtime::Result<()> {
        if self.used.progress < PLUGIN_PROGRESS_MAX {
            self.used.progress += 1;
            let line = neutral_line(super::log::cut(&text));
            self.context.progress.show(format!("{line}\n")).await;
        }
        Ok(())
    }

    async fn config(&mut self) -> wasmtime::Result<String> {
        Ok(self.context.config.to_string())
    }
}
