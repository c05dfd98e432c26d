//! Both sides, what must never be touched around them, and the host's operations.

use super::agent::{Action, Agent, text};
use super::merged::{Node, Tree, merged, tree};
use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::patterns::Patterns;
use airlock::review::{self, Checkpoints, Displayed, Outcome, Selection, Steps};
use airlock::sandbox::{SandboxError, SandboxSlot, session_folder};
use airlock::storage::beneath::disturbed;
use airlock::view::{HeldView, NoEditor, SessionView, WorkspaceWatches};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// What the user has at first.
const FILES: [(&str, &str); 6] = [
    ("a", "line one\nline two\nline three\n"),
    ("d/a", "line one\nd a\nline three\n"),
    ("d/b", "line one\nd b\nline three\n"),
    ("d/e/a", "line one\nd e a\nline three\n"),
    ("e/b", "line one\ne b\nline three\n"),
    (".gitignore", "*.ignored\n"),
];

/// What nobody may touch: around the workspace, in the user's home, in Airlock's own folders.
const CANARIES: [&str; 7] = [
    "outside/a",
    "outside/d/a",
    "outside/d/e/b",
    "home/a",
    "state/a",
    "state/sandboxes/other/upper/a",
    "state/homes/other/a",
];

pub(super) struct World {
    view: Arc<SessionView>,
    watches: WorkspaceWatches,
    runtime: tokio::runtime::Runtime,
    agent: Agent,
    /// Last, so that it is there until nobody watches it any more.
    top: TempDir,
    /// What the view was when the last checkpoint was kept, while nothing but the agent changed anything since.
    checkpoint: Option<Tree>,
    has_checkpoint: bool,
    was_disturbed: bool,
    /// All that the user had at any time.
    users_had: BTreeSet<(PathBuf, Node)>,
}

impl World {
    pub(super) fn new() -> Self {
        let prefix = "airlock-two-sides-";
        // In memory, where there is such a place: a disk is asked to sync too often.
        let top =
            TempDir::with_prefix_in(prefix, "/dev/shm").or_else(|_| TempDir::with_prefix(prefix)).unwrap();
        let put = |path: &Path, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for (path, text) in FILES {
            put(&top.path().join("ws").join(path), text);
        }
        for path in CANARIES {
            put(&top.path().join(path), path);
        }
        let upper = folder(top.path()).join("upper");
        std::fs::create_dir_all(&upper).unwrap();
        let mut targets: Vec<PathBuf> =
            ["outside", "outside/d", "home", "state", "ws", "ws/d", "state/sandboxes"]
                .map(|place| top.path().join(place))
                .into();
        targets.extend(
            ["../../../../outside", "../../../../../outside", "../d", "e", "..", "/proc/self/cwd"]
                .map(PathBuf::from),
        );
        let agent = Agent { upper, lower: top.path().join("ws"), targets, forged: Arc::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let watches = WorkspaceWatches::default();
        let view = runtime.block_on(async { view(top.path(), &watches) });
        Self {
            top,
            runtime,
            agent,
            watches,
            view,
            checkpoint: None,
            has_checkpoint: false,
            was_disturbed: false,
            users_had: BTreeSet::new(),
        }
    }

    pub(super) fn agent(&self) -> &Agent {
        &self.agent
    }

    fn users(&self) -> Tree {
        tree(&self.agent.lower)
    }

    fn agents(&self) -> Tree {
        merged(&self.agent.upper, &self.agent.lower)
    }

    /// One operation of the host's, with the agent's turns between its system calls; whether what came of it was compared
    /// with the model.
    pub(super) fn operate(&mut self, operation: Operation, turns: Vec<Action>) -> bool {
        let (users, agents) = (self.users(), self.agents());
        let (agent, undisturbed) = (self.agent.clone(), turns.is_empty());
        // The last one first.
        let mut turns = turns;
        let by = move || {
            if let Some(action) = turns.pop() {
                agent.act(action);
            }
        };
        let done = disturbed(by, || self.do_one(operation));
        self.check_canaries();
        let (users_now, agents_now) = (self.users(), self.agents());
        let known = |tree: &Tree| -> Tree {
            let mut tree = tree.clone();
            tree.retain(|path, _| !self.agent.has_forged(path));
            tree
        };
        // An operation that was disturbed may leave the view older than what the user has. A look may bring it up to date:
        // where the agent has nothing, or what the user had before.
        let was_disturbed = self.was_disturbed;
        self.was_disturbed |= !undisturbed;
        self.users_had.extend(users.iter().map(|(path, node)| (path.clone(), node.clone())));
        let refreshed = |mut tree: Tree| -> Tree {
            if was_disturbed {
                tree.retain(|path, node| {
                    agents_now.get(path) != users_now.get(path)
                        || !self.users_had.contains(&(path.clone(), node.clone()))
                });
                for (path, node) in &users_now {
                    if !tree.contains_key(path) && agents_now.get(path) == Some(node) {
                        tree.insert(path.clone(), node.clone());
                    }
                }
            }
            tree
        };
        match &done {
            Done::Accepted(outcome) => {
                self.check_accepted(&users, &users_now, undisturbed.then_some((&agents, outcome)));
            }
            _ => assert_eq!(users, users_now, "the user's files changed: {done:?}"),
        }
        if !matches!(done, Done::Looked) || !undisturbed {
            self.checkpoint = None;
        }
        match done {
            _ if !undisturbed => return false,
            Done::Looked => {
                assert_eq!(
                    known(&refreshed(agents.clone())),
                    known(&agents_now),
                    "a look changed the agent's view"
                )
            }
            Done::Kept => {
                assert_eq!(known(&agents), known(&agents_now), "a checkpoint changed the agent's view");
                self.checkpoint = Some(agents);
            }
            Done::Accepted(outcome) => {
                for path in outcome.done.iter().map(|path| path.as_path()) {
                    let same = users_now.get(path) == agents_now.get(path);
                    assert!(same || self.agent.has_forged(path), "{}: accepted", path.display());
                }
            }
            Done::Rejected(outcome) => {
                for path in outcome.done.iter().map(|path| path.as_path()) {
                    let same = users_now.get(path) == agents_now.get(path);
                    assert!(same || self.agent.has_forged(path), "{}: rejected", path.display());
                }
            }
            Done::Undone(Some(before)) => {
                let files = |tree: &Tree| {
                    let mut tree = known(tree);
                    tree.retain(|_, node| *node != Node::Other);
                    tree
                };
                assert_eq!(files(&agents_now), files(&refreshed(before)), "undone");
            }
            Done::Undone(None) | Done::Failed => return false,
        }
        true
    }

    /// Each of the user's files is as it was, or the agent's; where nobody disturbed, only what was accepted changed.
    fn check_accepted(&self, before: &Tree, now: &Tree, undisturbed: Option<(&Tree, &Outcome)>) {
        let done: BTreeSet<&Path> =
            undisturbed.iter().flat_map(|(_, outcome)| &outcome.done).map(|path| path.as_path()).collect();
        let ours: BTreeSet<String> = (0..=u8::MAX).map(text).collect();
        for path in before.keys().chain(now.keys()) {
            let (old, new) = (before.get(path), now.get(path));
            if old == new || self.agent.has_forged(path) {
                continue;
            }
            match (undisturbed, new) {
                (Some((agents, _)), new) => {
                    assert!(done.contains(path.as_path()), "{} changed and was not accepted", path.display());
                    assert_eq!(new, agents.get(path), "{}", path.display());
                }
                (None, Some(Node::File(text))) => {
                    let known = ours.contains(text) || FILES.iter().any(|(_, file)| file == text);
                    assert!(known, "{}: {text}", path.display());
                }
                (None, _) => {}
            }
        }
    }

    fn do_one(&mut self, operation: Operation) -> Done {
        let session = folder(self.top.path());
        let view = Arc::clone(&self.view);
        let checkpoints = Checkpoints::of(&session);
        self.runtime.block_on(async {
            match operation {
                Operation::Settle => {
                    view.hold().await.unwrap().settle().await;
                    Done::Looked
                }
                Operation::Capture => {
                    view.capture().await;
                    Done::Looked
                }
                Operation::List => review::list(&view.hold().await.unwrap(), &Patterns::default())
                    .await
                    .map_or(Done::Failed, |_| Done::Looked),
                Operation::Accept => {
                    let held = view.hold().await.unwrap();
                    let accepted = review::accept(
                        &held,
                        &NoEditor,
                        &everything(&held).await,
                        &Patterns::default(),
                        &Steps::default(),
                    )
                    .await;
                    accepted.map_or(Done::Failed, Done::Accepted)
                }
                Operation::Reject => {
                    let held = view.hold().await.unwrap();
                    let rejected = review::reject(&held, &everything(&held).await, &Steps::default()).await;
                    rejected.map_or(Done::Failed, Done::Rejected)
                }
                Operation::Keep => {
                    let kept = checkpoints.keep(&view.hold().await.unwrap()).await;
                    self.has_checkpoint |= kept.is_ok();
                    kept.map_or(Done::Failed, |()| Done::Kept)
                }
                Operation::Undo if !self.has_checkpoint => Done::Looked,
                Operation::Undo => {
                    let undone = checkpoints.undo(&view.hold().await.unwrap(), 1).await;
                    undone.map_or(Done::Failed, |_| Done::Undone(self.checkpoint.clone()))
                }
                Operation::Load => {
                    // Closed, listed as what it is then, and loaded.
                    let root = WorkspaceRoot::open(&self.agent.lower).unwrap();
                    let listed = review::list_closed(&root, &session).is_ok();
                    let again = crate::two_sides::world::view(self.top.path(), &self.watches);
                    let held = again.hold().await;
                    held.unwrap_or_else(|| panic!("not loaded: {:?}", again.why_nothing())).settle().await;
                    self.view = again;
                    if listed { Done::Looked } else { Done::Failed }
                }
            }
        })
    }

    pub(super) fn check_canaries(&self) {
        let mut expected: Vec<PathBuf> = CANARIES.map(PathBuf::from).into();
        expected.sort();
        let mut found = Vec::new();
        for place in ["outside", "home", "state/a", "state/sandboxes/other", "state/homes"] {
            let place = self.top.path().join(place);
            let below = if place.is_file() { vec![place] } else { files(&place) };
            for path in below {
                let relative = path.strip_prefix(self.top.path()).unwrap().to_owned();
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                assert_eq!(text, relative.to_str().unwrap(), "a canary was changed");
                found.push(relative);
            }
        }
        found.sort();
        assert_eq!(found, expected, "a canary was touched");
    }
}

/// All that waits, as somebody selects it who has just looked.
async fn everything(held: &HeldView<'_>) -> Selection {
    Selection::all(
        review::list(held, &Patterns::default())
            .await
            .map(|listing| Displayed::all_of(&listing))
            .unwrap_or_default(),
    )
}

/// What the host does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Settle,
    Capture,
    List,
    Accept,
    Reject,
    /// A checkpoint.
    Keep,
    Undo,
    /// Closed, listed from outside, and loaded.
    Load,
}

impl Operation {
    pub(super) fn read(byte: u8) -> Self {
        use Operation::*;
        [Settle, Capture, List, Accept, Reject, Keep, Undo, Load][usize::from(byte % 8)]
    }
}

/// What came of an operation.
#[derive(Debug)]
enum Done {
    /// Neither side changed.
    Looked,
    Kept,
    Accepted(Outcome),
    Rejected(Outcome),
    /// And what the view was before.
    Undone(Option<Tree>),
    Failed,
}

fn folder(top: &Path) -> PathBuf {
    session_folder(&Environment::for_test(top, &[]), "session")
}

fn view(top: &Path, watches: &WorkspaceWatches) -> Arc<SessionView> {
    let environment = Environment::for_test(top, &[]);
    let root = WorkspaceRoot::open(&top.join("ws")).unwrap();
    let slot = SandboxSlot::none(environment, SandboxError::new("there is none", "nothing"));
    SessionView::new(slot, &root, Arc::new(NoEditor), watches, &folder(top), |_| ())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files(&entry.path()),
        _ => vec![entry.path()],
    };
    entries.flat_map(below).collect()
}
