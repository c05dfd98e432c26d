//! What the user does with git during a session is what the agent's git tells, unless the agent changed git's state itself.

use crate::checkout::{git, git_in, home_with_repository};
use airlock_tests::deadline::within;
use airlock_tests::editor::Home;
use airlock_tests::workbench::Workbench;
use std::process::Command;

/// What git tells of a repository.
const LOOKS: [&[&str]; 7] = [
    &["log", "-1", "--format=%H %D"],
    &["diff", "--cached"],
    &["stash", "list"],
    &["for-each-ref"],
    &["fsck", "--no-dangling", "--no-progress"],
    // What depends on the files, too.
    &["status", "--porcelain=v2", "--branch"],
    &["status"],
];
/// How many of them depend on git's state alone.
const OF_STATE: usize = 5;

/// What the agent's git tells of the repository in a folder. Git writes the index when it looks.
async fn agents(bench: &Workbench, folder: &str) -> String {
    tells(bench, folder, &LOOKS).await
}

async fn tells(bench: &Workbench, folder: &str, looks: &[&[&str]]) -> String {
    let looks = looks.iter().map(|look| format!("git --no-pager -C {folder} {} 2>&1", quoted(look)));
    bench.bash(&looks.collect::<Vec<_>>().join("; ")).await
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}

/// What the user's git tells of it.
fn users(home: &Home, folder: &str) -> String {
    LOOKS.map(|look| git_in(home, &home.workspace().join(folder), look)).concat()
}

async fn assert_same(bench: &Workbench, after: &str) {
    assert_eq!(agents(bench, ".").await, users(bench.editor.home(), "."), "after {after}");
}

/// A call of the user's git that stops halfway.
fn stops(home: &Home, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(home.workspace()).env("HOME", home.path());
    assert!(!git.output().expect("git is installed").status.success(), "git {arguments:?}");
}

fn commit(home: &Home, path: &str, text: &str) {
    home.write(path, text);
    git(home, &["add", "."]);
    git(home, &["commit", "--quiet", &format!("--message={path}: {text}")]);
}

async fn bench(home: &Home) -> Workbench {
    let bench = Workbench::with(|options| options.home(home)).await;
    assert_same(&bench, "nothing").await;
    bench
}

const IDENTITY: &str =
    "git config --global user.name Agent; git config --global user.email agent@example.com";

#[tokio::test]
async fn whatever_the_user_does_with_git_is_what_the_agents_git_tells() {
    let home = home_with_repository();
    let bench = bench(&home).await;
    commit(&home, "kept.txt", "second\n");
    assert_same(&bench, "a commit").await;
    git(&home, &["checkout", "--quiet", "-b", "other"]);
    assert_same(&bench, "a new branch").await;
    git(&home, &["rm", "--quiet", "src/old.txt"]);
    commit(&home, "other.txt", "other\n");
    git(&home, &["checkout", "--quiet", "main"]);
    assert_same(&bench, "a branch with other files").await;
    home.write("kept.txt", "staged\n");
    git(&home, &["add", "kept.txt"]);
    assert_same(&bench, "an add").await;
    git(&home, &["stash", "--quiet"]);
    assert_same(&bench, "a stash").await;
    git(&home, &["stash", "pop", "--quiet", "--index"]);
    assert_same(&bench, "a stash that was popped").await;
    git(&home, &["pack-refs", "--all"]);
    assert_same(&bench, "packed refs").await;
    commit(&home, "kept.txt", "third\n");
    assert_same(&bench, "a commit on a packed ref").await;
    git(&home, &["checkout", "--quiet", "--detach", "other"]);
    assert_same(&bench, "a detached HEAD").await;
    git(&home, &["checkout", "--quiet", "main"]);
    git(&home, &["branch", "--quiet", "-D", "other"]);
    git(&home, &["tag", "v1"]);
    assert_same(&bench, "a branch that was deleted").await;
    git(&home, &["gc", "--quiet"]);
    assert_same(&bench, "gc").await;
    bench.end().await;
}

#[tokio::test]
async fn a_rebase_of_the_users_is_seen_while_it_is_in_progress_and_when_it_is_over() {
    let home = home_with_repository();
    git(&home, &["checkout", "--quiet", "-b", "other"]);
    commit(&home, "kept.txt", "other\n");
    git(&home, &["checkout", "--quiet", "main"]);
    commit(&home, "kept.txt", "main\n");
    let bench = bench(&home).await;
    for end in ["--abort", "--skip"] {
        stops(&home, &["rebase", "other"]);
        assert!(agents(&bench, ".").await.contains("rebase in progress"));
        assert_same(&bench, "a rebase that stopped").await;
        git(&home, &["rebase", end]);
        assert_same(&bench, end).await;
    }
    bench.end().await;
}

#[tokio::test]
async fn nested_repositories_submodules_reftables_and_long_hashes_are_followed_too() {
    let home = home_with_repository();
    git_in(&home, home.path(), &["clone", "--quiet", "workspace", "library"]);
    let library = home.path().join("library").to_string_lossy().into_owned();
    git(&home, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &library, "libs/one"]);
    git(&home, &["commit", "--quiet", "--message=a submodule"]);
    git(&home, &["init", "--quiet", "--ref-format=reftable", "--initial-branch=main", "tables"]);
    git(&home, &["init", "--quiet", "--object-format=sha256", "--initial-branch=main", "long"]);
    for folder in ["tables", "long"] {
        let folder = home.workspace().join(folder);
        git_in(&home, &folder, &["commit", "--quiet", "--allow-empty", "--message=one"]);
    }
    let bench = bench(&home).await;
    let same = async |after: &str| {
        for folder in [".", "libs/one", "tables", "long"] {
            assert_eq!(agents(&bench, folder).await, users(&home, folder), "{folder} after {after}");
        }
    };
    same("nothing").await;
    home.write("libs/one/new.txt", "new\n");
    home.write("tables/new.txt", "new\n");
    home.write("long/new.txt", "new\n");
    for folder in ["libs/one", "tables", "long"] {
        let folder = home.workspace().join(folder);
        git_in(&home, &folder, &["checkout", "--quiet", "-b", "other"]);
        git_in(&home, &folder, &["add", "."]);
        git_in(&home, &folder, &["commit", "--quiet", "--message=two"]);
    }
    same("commits").await;
    bench.end().await;
}

#[tokio::test]
async fn what_the_agent_did_with_git_stays_whole_and_it_learns_once_that_the_user_went_elsewhere() {
    let home = home_with_repository();
    git(&home, &["branch", "other"]);
    let bench = bench(&home).await;
    bench.bash(&format!("{IDENTITY}; echo mine > mine.txt; git add mine.txt; git commit -qm mine")).await;
    let before = tells(&bench, ".", &LOOKS[..OF_STATE]).await;
    git(&home, &["checkout", "--quiet", "other"]);
    commit(&home, "theirs.txt", "theirs\n");
    let told = bench.bash("git symbolic-ref HEAD; git log -1 --format=%s; git branch --list new").await;
    let (note, seen) = told.split_once("]\n").expect("a note");
    assert!(note.contains("the user changed the state of git in .git"), "{note}");
    let users_commit = git(&home, &["rev-parse", "HEAD"]);
    assert!(note.contains(&format!("refs/heads/other: {}", users_commit.trim())), "{note}");
    assert_eq!(seen, "refs/heads/main\nmine\n");
    assert_eq!(tells(&bench, ".", &LOOKS[..OF_STATE]).await, before);
    assert_eq!(bench.bash("git status --porcelain").await, "?? theirs.txt\n");
    // The user's own look changes nothing, and nothing is told of it.
    git(&home, &["status"]);
    assert_eq!(bench.bash("git log -1 --format=%s").await, "mine\n");
    git(&home, &["branch", "later"]);
    let told = bench.bash("git branch --list later; git log -1 --format=%s").await;
    assert!(told.starts_with("[the user") && told.ends_with("]\nmine\n"), "{told}");
    // What the user has can be followed, for its objects are there.
    bench
        .bash(&format!("git update-ref refs/heads/other {}; git checkout -qf other", users_commit.trim()))
        .await;
    assert_eq!(bench.bash("git log -1 --format=%s").await, "theirs.txt: theirs\n");
    bench.end().await;
}

#[tokio::test]
async fn an_index_that_the_agent_changed_keeps_its_head() {
    let home = home_with_repository();
    let bench = bench(&home).await;
    bench.bash("echo mine > mine.txt; git add mine.txt").await;
    stops(&home, &["checkout", "nowhere"]);
    git(&home, &["checkout", "--quiet", "-b", "other"]);
    let told =
        bench.bash("git symbolic-ref HEAD; git diff --cached --name-only; git branch --list other").await;
    assert!(told.ends_with("]\nrefs/heads/main\nmine.txt\n"), "{told}");
    // Once it is as it was, it is the user's again.
    bench.bash("git reset -q; rm mine.txt").await;
    assert_same(&bench, "a reset").await;
    assert_eq!(bench.bash("git symbolic-ref HEAD").await, "refs/heads/other\n");
    bench.end().await;
}

#[tokio::test]
async fn while_a_call_runs_the_agents_git_stays_where_it_was() {
    let home = home_with_repository();
    git(&home, &["pack-refs", "--all"]);
    let bench = bench(&home).await;
    let first = git(&home, &["rev-parse", "HEAD"]);
    let upper = home.state().join("airlock/sandboxes").join(&bench.session).join("upper");
    let call = bench.bash("touch begun; until ls | grep -q moved; do sleep 0.05; done; git rev-parse HEAD; git symbolic-ref HEAD");
    let meanwhile = async {
        let begun = async {
            while !upper.join("begun").exists() {
                tokio::task::yield_now().await;
            }
        };
        within(begun, || "the call never began".to_owned()).await;
        commit(&home, "kept.txt", "second\n");
        git(&home, &["checkout", "--quiet", "-b", "other"]);
        home.write("moved", "");
    };
    let (seen, ()) = tokio::join!(call, meanwhile);
    assert_eq!(seen, format!("{first}refs/heads/main\n"));
    bench.bash("rm begun").await;
    assert_same(&bench, "the call").await;
    bench.end().await;
}

#[tokio::test]
async fn a_session_that_is_loaded_again_sees_what_the_user_did_with_git_meanwhile() {
    let home = home_with_repository();
    let first = bench(&home).await;
    let session = first.session.clone();
    first.end().await;
    commit(&home, "kept.txt", "second\n");
    git(&home, &["checkout", "--quiet", "-b", "other"]);
    git(&home, &["pack-refs", "--all"]);
    let bench = Workbench::again(&home, &session).await;
    assert_same(&bench, "loading").await;
    commit(&home, "kept.txt", "third\n");
    assert_same(&bench, "a commit").await;
    bench.bash(&format!("{IDENTITY}; echo mine > mine.txt; git add mine.txt; git commit -qm mine")).await;
    bench.end().await;
    git(&home, &["checkout", "--quiet", "main"]);
    git(&home, &["branch", "new"]);
    let bench = Workbench::again(&home, &session).await;
    let told = bench.bash("git symbolic-ref HEAD; git log -1 --format=%s; git branch --list new; git fsck --no-dangling --no-progress").await;
    assert!(told.starts_with("[the user") && told.ends_with("]\nrefs/heads/other\nmine\n"), "{told}");
    assert_eq!(bench.bash("git log -1 --format=%s").await, "mine\n");
    bench.end().await;
    // That it was told is known after another load.
    let bench = Workbench::again(&home, &session).await;
    assert_eq!(bench.bash("git symbolic-ref HEAD").await, "refs/heads/other\n");
    bench.end().await;
}

#[tokio::test]
async fn a_turn_that_is_undone_gives_git_back_to_the_user() {
    let home = home_with_repository();
    let bench = bench(&home).await;
    bench.bash(&format!("{IDENTITY}; echo mine > mine.txt; git add mine.txt; git commit -qm mine")).await;
    commit(&home, "kept.txt", "second\n");
    bench.editor.turn(&bench.session, "/undo 1").await;
    assert_same(&bench, "an undo").await;
    bench.end().await;
}

#[tokio::test]
async fn a_session_in_which_the_agent_only_looked_leaves_nothing() {
    let home = home_with_repository();
    let bench = bench(&home).await;
    assert_same(&bench, "another turn").await;
    let folder = home.state().join("airlock/sandboxes").join(&bench.session);
    assert!(folder.join("upper/.git/refs").exists());
    bench.end().await;
    assert!(
        !folder.exists(),
        "{:?}",
        std::fs::read_dir(&folder).map(|all| all.flatten().collect::<Vec<_>>())
    );
}
