//! `log`: lines for the plugin's log.

use super::{HostState, wit};
use crate::limits::{PLUGIN_LOG_LINE_MAX_BYTES, PLUGIN_LOG_LINES_MAX};

impl wit::log::Host for HostState {
    async fn write(&mut self, level: String, line: String) -> wasmtime::Result<()> {
        if self.used.log_lines < PLUGIN_LOG_LINES_MAX {
            self.used.log_lines += 1;
            let level = match level.as_str() {
                "error" | "warn" | "debug" => level.as_str(),
                _ => "info",
            };
            (self.context.log)(level, cut(&line));
        }
        Ok(())
    }
}

/// As much of a line as is kept.
pub(super) fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(PLUGIN_LOG_LINE_MAX_BYTES.min(line.len()))]
}
