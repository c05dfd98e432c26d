//! An attack on the host's own side: the agent plants a link where Airlock will remove something, and ends its sandbox.

use crate::editor::{EditorOptions, Home};
use crate::workbench::Workbench;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What makes Airlock remove something from what the agent arranged.
#[derive(Clone, Copy, Debug)]
pub enum Trigger {
    /// The guest is killed, and the next command gets a new one.
    Restart,
    /// The session is closed and loaded again.
    CloseAndLoad,
    /// Only what waits for review is listed, by `airlock review`.
    Review,
    /// A change is rejected while no sandbox runs.
    Reject,
    /// The turns are undone while no sandbox runs.
    Undo,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Restart, Self::CloseAndLoad, Self::Review, Self::Reject, Self::Undo];
}

/// A folder of the user's that no agent may touch.
pub struct Victim(PathBuf);

impl Victim {
    /// In a home.
    pub fn of(home: &Home) -> Self {
        let victim = Self(home.path().join("victim"));
        for name in ["new", "own", "deep/er"] {
            std::fs::create_dir_all(victim.0.join(name)).expect("a folder");
            std::fs::write(victim.0.join(name).join("key"), name).expect("a file");
        }
        victim
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What of it is gone or changed.
    pub fn harm(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for name in ["new", "own", "deep/er"] {
            match std::fs::read_to_string(self.0.join(name).join("key")) {
                Ok(text) if text == name => {}
                other => found.push(format!("{name}: {other:?}")),
            }
        }
        let names = std::fs::read_dir(&self.0).map(Iterator::count).unwrap_or_default();
        if names != 3 {
            found.push(format!("{names} names"));
        }
        found
    }
}

/// Has the agent plant its link, and pulls the trigger. `end_guests` ends every sandbox of the home.
pub async fn attack(
    trigger: Trigger,
    home: &Home,
    options: impl FnOnce(EditorOptions) -> EditorOptions,
    end_guests: impl Fn(),
    review: impl AsyncFnOnce(&Workbench),
) {
    let victim = home.path().join("victim");
    let bench = Workbench::with(|given| options(given.home(home))).await;
    bench.bash("touch d/new; echo more >> d/own; mkdir -p d/deep; touch d/deep/er").await;
    bench.bash(&format!("rm -rf d; ln -s {} d", victim.display())).await;
    match trigger {
        Trigger::Restart => {
            end_guests();
            bench.bash("true").await;
        }
        Trigger::CloseAndLoad => {
            let session = json!({"sessionId": bench.session});
            bench.editor.expect("airlock/session/close", session.clone()).await;
            bench.editor.expect("airlock/session/load", session).await;
            bench.bash("true").await;
        }
        Trigger::Review => {
            bench.editor.expect("airlock/session/close", json!({"sessionId": bench.session})).await;
            review(&bench).await;
        }
        Trigger::Reject => {
            end_guests();
            bench.editor.turn(&bench.session, "/changes").await;
            bench.editor.turn(&bench.session, "/reject d/own").await;
        }
        Trigger::Undo => {
            end_guests();
            bench.editor.turn(&bench.session, "/undo 2").await;
        }
    }
    bench.editor.ignore_unread();
    bench.editor.shutdown().await;
}
