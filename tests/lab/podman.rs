//! The podman of a home, as the server calls it.

use airlock_tests::editor::Home;
use std::process::Command;

/// What podman says to this.
pub(crate) fn podman(home: &Home, arguments: &[&str]) -> String {
    let output = Command::new("podman").args(arguments).envs(home.variables()).output().expect("podman");
    assert!(output.status.success(), "podman: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
