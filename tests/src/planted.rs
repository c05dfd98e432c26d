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
    /// The turns are undone while no sandbox runs. An undo puts a folder back before anything in it, so even a careless
    /// removal does no harm here.
    Undo,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Restart, Self::CloseAndLoad, Self::Review, Self::Reject, Self::Undo];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::CloseAndLoad => "close-and-load",
            Self::Review => "review",
            Self::Reject => "reject",
            Self::Undo => "undo",
        }
    }
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

/// Has the agent plant its link, and pulls the trigger. `end_guests` ends every sandbox of the home. Returns the id of the
/// boot in which the agent's commands ran.
pub async fn attack(
    trigger: Trigger,
    home: &Home,
    options: impl FnOnce(EditorOptions) -> EditorOptions,
    end_guests: impl Fn(),
    review: impl AsyncFnOnce(&Workbench),
) -> String {
    let victim = home.path().join("victim");
    let bench = Workbench::with(|given| options(given.home(home))).await;
    let changes = "touch d/new; echo more >> d/own; mkdir -p d/deep; touch d/deep/er";
    let boot_id = bench.bash(&format!("cat /proc/sys/kernel/random/boot_id; {changes}")).await;
    let planted = bench.bash(&format!("rm -rf d; ln -s {} d; readlink d", victim.display())).await;
    assert_eq!(Path::new(planted.trim()), victim);
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
    boot_id.trim().to_owned()
}
