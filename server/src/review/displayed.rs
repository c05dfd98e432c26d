//! What somebody was shown of the agent's changes: they can accept or reject that, and nothing else.
//!
//! Between a look and a verdict the sandbox lives on. A process in the background can write other content into a file that
//! the user has just read, and another reader can list the changes meanwhile. So each verdict carries the digests of what
//! its own reader was shown.

use super::change::Change;
use super::door::Listing;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The digests of what one reader was shown. By default nothing was.
#[derive(Clone, Debug, Default)]
pub struct Displayed {
    /// The digest of a whole list.
    pub list: Option<String>,
    /// The digest of each change, by its path.
    pub changes: HashMap<String, String>,
}

impl Displayed {
    /// Somebody was shown all of this.
    pub fn all_of(listing: &Listing) -> Self {
        let mut displayed = Self { list: Some(listing.digest()), changes: HashMap::new() };
        listing.changes.iter().for_each(|change| displayed.add(change));
        displayed
    }

    /// Somebody was shown this, too.
    pub fn add(&mut self, change: &Change) {
        self.changes.insert(change.path.as_str().to_owned(), change.digest.clone());
    }

    /// Whether this change was shown as it is now.
    pub fn has(&self, change: &Change) -> bool {
        self.changes.get(change.path.as_str()) == Some(&change.digest)
    }

    /// Whether exactly this list was shown.
    pub(super) fn is_of(&self, listing: &Listing) -> bool {
        self.list.as_ref().is_some_and(|list| *list == listing.digest())
    }
}

impl Listing {
    /// Differs whenever a change that is listed does.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for change in &self.changes {
            hasher.update(&change.digest);
            hasher.update("\n");
        }
        hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::WorkspacePath;
    use crate::view::{Agreed, Entry};

    fn listing(agents: &[(&str, Entry)]) -> Listing {
        let change = |(path, agent): &(&str, Entry)| {
            let path = WorkspacePath::parse(path).unwrap();
            Change::between(&path, &Agreed::On(Entry::Missing), Entry::Missing, agent.clone()).unwrap()
        };
        Listing { changes: agents.iter().map(change).collect(), ..Listing::default() }
    }

    #[test]
    fn other_content_another_mode_another_kind_and_another_path_were_not_shown() {
        let shown = listing(&[("a", Entry::file(b"text", 0o644))]);
        let displayed = Displayed::all_of(&shown);
        assert!(displayed.has(&shown.changes[0]) && displayed.is_of(&shown));
        for other in [
            ("a", Entry::file(b"texT", 0o644)),
            ("a", Entry::file(b"text", 0o755)),
            ("a", Entry::Link("text".into())),
            ("b", Entry::file(b"text", 0o644)),
        ] {
            let other = listing(&[other]);
            assert!(!displayed.has(&other.changes[0]) && !displayed.is_of(&other), "{other:?}");
        }
        assert!(!displayed.is_of(&listing(&[])));
        assert!(!Displayed::default().is_of(&listing(&[])) && !Displayed::default().has(&shown.changes[0]));
    }
}
