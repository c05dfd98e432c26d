//! What changed and is not in the agent's view yet.

use super::watch::{Changed, Subscription};

/// What somebody has in hand to bring it into the view. What is left of it in the end stays due, also when the user
/// stopped the call: else it would look old until it changes again.
pub(super) struct Due<'a> {
    pub(super) changed: Changed,
    of: &'a Subscription,
}

impl<'a> Due<'a> {
    pub(super) async fn take(of: &'a Subscription) -> Self {
        Self { changed: of.take().await, of }
    }
}

impl Drop for Due<'_> {
    fn drop(&mut self) {
        self.of.put_back(std::mem::take(&mut self.changed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{WorkspacePath, WorkspaceRoot};
    use crate::view::watch::WorkspaceWatches;
    use std::time::Duration;

    #[tokio::test]
    async fn what_a_call_that_was_dropped_had_in_hand_is_still_due() {
        let folder = tempfile::tempdir().unwrap();
        let (root, bell) = (folder.path().join("root"), folder.path().join("bell"));
        std::fs::create_dir(&root).unwrap();
        let watches = WorkspaceWatches::default();
        let subscription = watches.subscribe(&WorkspaceRoot::open(&root).unwrap(), &bell).unwrap();
        assert!(subscription.stands(Duration::from_secs(20)).await);
        std::fs::write(root.join("a.txt"), "").unwrap();
        let a = WorkspacePath::parse("a.txt").unwrap();
        let (tell, taken) = tokio::sync::oneshot::channel();
        let call = async {
            let due = Due::take(&subscription).await;
            assert!(due.changed.paths.contains(&a));
            tell.send(()).unwrap();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = call => {}
            told = taken => told.unwrap(),
        }
        assert!(subscription.includes(&a));
        assert!(Due::take(&subscription).await.changed.paths.contains(&a));
        let mut due = Due::take(&subscription).await;
        due.changed = Changed { too_many: true, ..Changed::default() };
        drop(due);
        let mut due = Due::take(&subscription).await;
        assert!(due.changed.too_many);
        due.changed = Changed::default();
        drop(due);
        assert_eq!(subscription.take().await, Changed::default());
    }
}
