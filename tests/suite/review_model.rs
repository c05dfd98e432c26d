//! Random trees, random work of the agent, random accepts and rejects: the workspace and what is pending are always
//! those of a model that is too simple to be wrong.
//!
//! Long because model, world and comparison are read together or not at all.

use airlock::config::IsolationWish;
use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::patterns::Patterns;
use airlock::review::{self, Change, ChangeKind, Part, Selection, Steps};
use airlock::sandbox::{Plan, SandboxSlot, session_folder};
use airlock::view::{NoEditor, SessionView, WorkspaceWatches};
use airlock_guest::{Answer, Call, Exec, Said};
use airlock_tests::shown::shown;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Paths that get in each other's way.
const PATHS: [&str; 7] = ["a", "b", "d", "d/a", "d/b", "d/e/c", "g/x"];

type Files = BTreeMap<String, (String, bool)>;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    Delete(usize),
    Chmod(usize),
    AcceptAll,
    RejectAll,
    AcceptPath(usize),
    RejectPath(usize),
    AcceptHunks(u16),
    RejectHunks(u16),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    let text = proptest::collection::vec(0_u8..6, 0..12);
    prop_oneof![
        6 => (path.clone(), text).prop_map(|(path, text)| Step::Write(path, text)),
        3 => path.clone().prop_map(Step::Delete),
        1 => path.clone().prop_map(Step::Chmod),
        1 => Just(Step::AcceptAll),
        1 => Just(Step::RejectAll),
        2 => path.clone().prop_map(Step::AcceptPath),
        2 => path.prop_map(Step::RejectPath),
        3 => any::<u16>().prop_map(Step::AcceptHunks),
        3 => any::<u16>().prop_map(Step::RejectHunks),
        1 => Just(Step::Restart),
    ]
}

/// Lines of few kinds, so that edits meet; the last may have no end.
fn text(lines: &[u8]) -> String {
    let mut text: String = lines.iter().map(|line| format!("line {line}\n")).collect();
    if lines.len() % 5 == 4 {
        text.pop();
    }
    text
}

/// A real sandbox with a view; each case works in a folder of its own.
struct World {
    home: TempDir,
    slot: Arc<SandboxSlot>,
    view: Arc<SessionView>,
    _watches: WorkspaceWatches,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("ws")).unwrap();
        let path = std::env::var("PATH").unwrap();
        let environment = Environment::for_test(home.path(), &[("PATH", &path)]);
        let workspace = WorkspaceRoot::open(&home.path().join("ws")).unwrap();
        let plan = Plan {
            session_id: "test".into(),
            workspace: workspace.clone(),
            isolation: IsolationWish::Auto,
            image: None,
        };
        let folder = session_folder(&environment, "test");
        let slot = SandboxSlot::new(environment, Ok(plan), |_| ());
        let watches = WorkspaceWatches::default();
        let view =
            SessionView::new(Arc::clone(&slot), &workspace, Arc::new(NoEditor), &watches, &folder, |_| ());
        Self { home, slot, view, _watches: watches }
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("ws")
    }

    async fn bash(&self, command: String) -> String {
        let sandbox = self.view.ready().await.unwrap();
        let command = format!("cd /workspace && {command}");
        let exec = Exec { command, timeout_ms: 20_000, background: false };
        let mut stream = sandbox.link().call(&Call::Exec(exec)).await.unwrap();
        let mut output = Vec::new();
        loop {
            match stream.next().await.unwrap() {
                Said::Stdout(bytes) | Said::Stderr(bytes) => output.extend(bytes),
                Said::Answer(Answer::Exited(exited)) => {
                    let output = String::from_utf8(output).unwrap();
                    assert_eq!(exited.code, Some(0), "{output}");
                    self.view.capture().await;
                    return output;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    async fn list(&self) -> Vec<Change> {
        review::list(&self.view.hold().await.unwrap(), &Patterns::default()).await.unwrap().changes
    }

    async fn accept(&self, selection: Selection) -> review::Outcome {
        let held = self.view.hold().await.unwrap();
        let selection = shown(&held, selection).await;
        review::accept(&held, &NoEditor, &selection, &Patterns::default(), &Steps::default()).await.unwrap()
    }

    async fn reject(&self, selection: Selection) -> review::Outcome {
        let held = self.view.hold().await.unwrap();
        let selection = shown(&held, selection).await;
        review::reject(&held, &selection, &Steps::default()).await.unwrap()
    }
}

/// Both sides as they should be.
struct Model {
    user: Files,
    agent: Files,
}

fn below(path: &str, other: &str) -> bool {
    other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

/// Puts a file and takes away whatever is in its way.
fn place(files: &mut Files, path: &str, file: (String, bool)) {
    files.retain(|other, _| other == path || !(below(path, other) || below(other, path)));
    files.insert(path.to_owned(), file);
}

/// Something else stands in the way of a file.
fn is_blocked(files: &Files, path: &str) -> bool {
    files.keys().any(|other| below(path, other) || below(other, path))
}

impl Model {
    fn pending(&self) -> BTreeSet<String> {
        let paths = self.user.keys().chain(self.agent.keys());
        paths.filter(|path| self.user.get(*path) != self.agent.get(*path)).cloned().collect()
    }

    /// Moves one path of one side to the other; `false` when something is in its way.
    fn copy(from: &Files, to: &mut Files, path: &str) -> bool {
        match from.get(path) {
            Some(_) if is_blocked(to, path) => return false,
            Some(file) => drop(to.insert(path.to_owned(), file.clone())),
            None => drop(to.remove(path)),
        }
        true
    }
}

/// A text with some of its hunks, by the numbers that the list tells.
fn with_hunks<'a>(text: &str, hunks: impl Iterator<Item = &'a review::LineHunk>) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut result, mut next) = (String::new(), 0);
    for hunk in hunks {
        result.push_str(&lines[next..hunk.old_start].concat());
        result.push_str(std::str::from_utf8(&hunk.new).unwrap());
        next = hunk.old_start + hunk.old_lines;
    }
    result + &lines[next..].concat()
}

struct Case<'a> {
    world: &'a World,
    folder: String,
    model: Model,
}

impl<'a> Case<'a> {
    fn begin(world: &'a World, folder: String, tree: BTreeMap<usize, Vec<u8>>) -> Self {
        let mut user = Files::new();
        for (path, lines) in tree {
            place(&mut user, PATHS[path], (text(&lines), false));
        }
        for (path, (text, _)) in &user {
            let path = world.workspace().join(&folder).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { world, folder, model: Model { agent: user.clone(), user } }
    }

    async fn follow(&mut self, steps: &[Step]) {
        self.check().await;
        for step in steps {
            self.take(step).await;
            self.check().await;
        }
    }

    fn inner(&self, path: &str) -> String {
        format!("{}/{path}", self.folder)
    }

    async fn take(&mut self, step: &Step) {
        match step {
            Step::Write(path, lines) => {
                let (path, text) = (PATHS[*path], text(lines));
                let mut script = format!("mkdir -p {0} && cd {0} && ", self.folder);
                for above in Path::new(path).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty())
                {
                    write!(script, "{{ [ -d {0} ] || rm -f {0}; }} && ", above.display()).unwrap();
                }
                let parent = Path::new(path).parent().filter(|path| !path.as_os_str().is_empty());
                write!(
                    script,
                    "mkdir -p ./{} && {{ [ ! -d {path} ] || rm -rf {path}; }} && ",
                    parent.unwrap_or(Path::new(".")).display()
                )
                .unwrap();
                write!(script, "printf %s '{text}' > {path}").unwrap();
                self.world.bash(script).await;
                let mode = self.model.agent.get(path).is_some_and(|(_, mode)| *mode);
                place(&mut self.model.agent, path, (text, mode));
            }
            Step::Delete(path) => {
                let path = PATHS[*path];
                self.world.bash(format!("rm -rf {}", self.inner(path))).await;
                self.model.agent.retain(|other, _| other != path && !below(path, other));
            }
            Step::Chmod(path) => {
                let path = PATHS[*path];
                if let Some((_, mode)) = self.model.agent.get_mut(path) {
                    *mode = !*mode;
                    let sign = if *mode { '+' } else { '-' };
                    self.world.bash(format!("chmod {sign}x {}", self.inner(path))).await;
                }
            }
            Step::AcceptAll => {
                let outcome = self.world.accept(self.only(None)).await;
                assert_eq!(outcome.failed, vec![]);
                self.model.user = self.model.agent.clone();
            }
            Step::RejectAll => {
                let outcome = self.world.reject(self.only(None)).await;
                assert_eq!(outcome.failed, vec![]);
                self.model.agent = self.model.user.clone();
            }
            Step::AcceptPath(path) | Step::RejectPath(path) => {
                self.whole(PATHS[*path], matches!(step, Step::AcceptPath(_))).await
            }
            Step::AcceptHunks(mask) | Step::RejectHunks(mask) => {
                self.hunks(*mask, matches!(step, Step::AcceptHunks(_))).await
            }
            Step::Restart => self.world.slot.restart("a test").await.unwrap(),
        }
    }

    /// This case's folder, or one path in it.
    fn only(&self, path: Option<&str>) -> Selection {
        let path = path.map_or_else(|| self.folder.clone(), |path| self.inner(path));
        let pending = !self.model.pending().is_empty();
        Selection { paths: Some(if pending { vec![path] } else { vec![] }), ..Selection::default() }
    }

    /// Accepts or rejects a path with all below it.
    async fn whole(&mut self, path: &str, accept: bool) {
        let pending = self.model.pending();
        let meant: Vec<&String> =
            pending.iter().filter(|other| *other == path || below(path, other)).collect();
        if meant.is_empty() {
            return;
        }
        let selection = self.only(Some(path));
        let outcome =
            if accept { self.world.accept(selection).await } else { self.world.reject(selection).await };
        let Model { user, agent } = &mut self.model;
        let (from, to) = if accept { (&*agent, user) } else { (&*user, agent) };
        let (go, come): (Vec<&String>, Vec<&String>) =
            meant.into_iter().partition(|path| !from.contains_key(*path));
        let failed: Vec<String> =
            go.into_iter().chain(come).filter(|path| !Model::copy(from, to, path)).cloned().collect();
        let told: BTreeSet<String> = outcome.failed.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(told, failed.iter().map(|path| self.inner(path)).collect(), "{outcome:?}");
    }

    /// Accepts or rejects some hunks of the first file that has them.
    async fn hunks(&mut self, mask: u16, accept: bool) {
        let changes = self.world.list().await;
        let inside = |change: &&Change| {
            below(&self.folder, change.path.as_str()) && change.kind == ChangeKind::Modified
        };
        let Some(change) = changes.iter().find(inside) else {
            return;
        };
        let is_chosen = |index: usize| mask >> (index % 16) & 1 == 1;
        let chosen: Vec<_> = change.hunks.iter().enumerate().filter(|(index, _)| is_chosen(*index)).collect();
        if chosen.is_empty() {
            return;
        }
        let ids = chosen.iter().map(|(_, hunk)| hunk.id.clone()).collect();
        let selection = Selection { hunks: Some(ids), ..Selection::default() };
        let outcome =
            if accept { self.world.accept(selection).await } else { self.world.reject(selection).await };
        assert_eq!(outcome.failed, vec![]);
        let path = &change.path.as_str()[self.folder.len() + 1..];
        let (before, agents) = (self.model.user[path].clone(), self.model.agent[path].clone());
        // What counts afterwards: the chosen ones for the user, the others for the agent.
        let counts = |index: usize| is_chosen(index) == accept;
        let parts =
            change.hunks.iter().enumerate().filter(|(index, _)| counts(*index)).map(|(_, hunk)| &hunk.part);
        let mode =
            if parts.clone().any(|part| matches!(part, Part::Mode { .. })) { agents.1 } else { before.1 };
        let lines = parts.filter_map(|part| if let Part::Lines(lines) = part { Some(lines) } else { None });
        let after = (with_hunks(&before.0, lines), mode);
        let side = if accept { &mut self.model.user } else { &mut self.model.agent };
        side.insert(path.to_owned(), after);
    }

    async fn check(&self) {
        assert_eq!(read(&self.world.workspace().join(&self.folder)), self.model.user, "the user's files");
        let find = "find . -type f -printf '%P\\t%m\\t' -exec base64 -w0 {} ';' -printf '\\n'";
        let seen = self.world.bash(format!("mkdir -p {0} && cd {0} && {find}", self.folder)).await;
        assert_eq!(parse(&seen), self.model.agent, "what the agent sees");
        let changes = self.world.list().await;
        let pending = changes
            .iter()
            .filter_map(|change| change.path.as_str().strip_prefix(&format!("{}/", self.folder)));
        assert_eq!(
            pending.map(str::to_owned).collect::<BTreeSet<_>>(),
            self.model.pending(),
            "what is pending"
        );
    }
}

fn read(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in std::fs::read_dir(&place).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, (std::fs::read_to_string(&path).unwrap(), mode & 0o100 != 0));
            }
        }
    }
    files
}

fn parse(listing: &str) -> Files {
    let file = |line: &str| {
        let [path, mode, content] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mode = u32::from_str_radix(mode, 8).unwrap() & 0o100 != 0;
        (path.to_owned(), (String::from_utf8(base64(content)).unwrap(), mode))
    };
    listing.lines().map(file).collect()
}

fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(value).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let number = group.iter().fold(0_u32, |number, digit| number << 6 | u32::from(*digit))
            << (6 * (4 - group.len()));
        bytes.extend(&number.to_be_bytes()[1..group.len()]);
    }
    bytes
}

#[test]
fn the_workspace_and_what_is_pending_are_always_those_of_the_model() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(async { World::new() });
    let cases = std::cell::Cell::new(0);
    let tree =
        proptest::collection::btree_map(0..PATHS.len(), proptest::collection::vec(0_u8..6, 0..12), 0..5);
    let steps = proptest::collection::vec(step(), 1..10);
    let config = Config { cases: 24, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let checked = TestRunner::new(config).run(&(tree, steps), |(tree, steps)| {
        cases.set(cases.get() + 1);
        let mut case = Case::begin(&world, format!("case-{}", cases.get()), tree);
        runtime.block_on(case.follow(&steps));
        Ok(())
    });
    runtime.block_on(world.view.stop());
    checked.unwrap();
}

/// An overlay leaves no whiteout there. Found by the model.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_removes_from_a_folder_that_it_made_is_a_change_and_stays_removed() {
    let world = World::new();
    let mut case = Case::begin(&world, "case".to_owned(), BTreeMap::new());
    let (file, folder) = (3, 2);
    case.follow(&[Step::Write(file, vec![1, 2]), Step::AcceptPath(folder)]).await;
    case.follow(&[Step::Delete(file), Step::Restart, Step::RejectAll]).await;
    case.follow(&[Step::Restart, Step::Delete(folder), Step::AcceptAll]).await;
    assert!(!world.workspace().join("case/d").exists());
    world.view.stop().await;
}

/// A folder in a file's place hides what is below it on the other side. Found by the model.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_agent_made_a_folder_of_is_the_users_folder_after_accept_and_restart() {
    let world = World::new();
    let (file, folder) = (3, 2);
    let mut case = Case::begin(&world, "case".to_owned(), BTreeMap::from([(folder, vec![])]));
    case.follow(&[Step::Write(file, vec![]), Step::AcceptPath(folder), Step::Restart]).await;
    world.view.stop().await;
}
