//! Lines for the plugin's log. Always there.

use crate::host;
use std::fmt::Display;

/// Something is wrong.
pub fn error(line: impl Display) {
    host::log_write("error", &line.to_string());
}

/// Something may be wrong.
pub fn warn(line: impl Display) {
    host::log_write("warn", &line.to_string());
}

/// Something happened.
pub fn info(line: impl Display) {
    host::log_write("info", &line.to_string());
}

/// What only the author wants to know.
pub fn debug(line: impl Display) {
    host::log_write("debug", &line.to_string());
}
