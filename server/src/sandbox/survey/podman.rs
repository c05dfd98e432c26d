//! The installed podman, and whether it is new enough.

use crate::environment::Environment;
use crate::sandbox::error::SandboxError;
use crate::sandbox::podman_program::PodmanProgram;

/// The first that can make the agent an ordinary user of the sandbox and the workspace's owner outside of it.
const OLDEST: (u32, u32) = (4, 3);

pub(super) async fn version(environment: &Environment) -> Result<String, SandboxError> {
    let podman = PodmanProgram::find(environment)?;
    let said = podman.ask("tell its version", &["--version"]).await?;
    let path = podman.path().display();
    let Some(version) = number(&said) else {
        let what = format!("{path} tells no version: {said:?}");
        return Err(SandboxError::new(what, "see that it is podman, and install it again"));
    };
    if version < OLDEST {
        let (major, minor) = OLDEST;
        return Err(SandboxError::new(
            format!("{said} is too old: Airlock needs {major}.{minor} or later"),
            "upgrade your system, or see https://podman.io/docs/installation for a newer one",
        ));
    }
    Ok(format!("{} ({path})", said.trim_start_matches("podman version ")))
}

/// The first two numbers of what `podman --version` says.
fn number(said: &str) -> Option<(u32, u32)> {
    let version = said.split_whitespace().next_back()?;
    let mut numbers = version.split(['.', '-']).map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(number("podman version 4.3.1"), Some((4, 3)));
        assert_eq!(number("podman version 5.10.0-rc1"), Some((5, 10)));
        assert_eq!(number("podman version 6.0-dev"), Some((6, 0)));
        assert_eq!(number("nonsense"), None);
        assert!(number("podman version 3.4.4").unwrap() < OLDEST && (10, 0) > OLDEST);
    }
}
