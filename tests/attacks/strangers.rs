//! What belongs to others on the same machine: neither may Airlock touch it, nor they what is Airlock's.

use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// A property of this design: what a killed server left is found by labels, and a label is anybody's to write.
#[tokio::test]
async fn a_container_of_somebody_else_is_not_removed_for_what_its_labels_say() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    let root = home.path().join("root");
    std::fs::create_dir_all(root.join("bin")).unwrap();
    user.take_over(&root);
    let create = |name: &str, labels: &[&str], command: &str| {
        let mut words = vec!["create", "--name", name];
        labels.iter().for_each(|label| words.extend(["--label", *label]));
        words.extend(["--rootfs", root.to_str().unwrap(), command]);
        user.podman(&home, &words);
    };
    let (owner, session) = ("airlock.owner=999999999@1", "airlock.session=x");
    create("no-owner", &["airlock.owner=me", session], "/.airlock-guest");
    create("no-session", &[owner], "/.airlock-guest");
    create("no-guest", &[owner, session], "/bin/true");
    create("ours", &[owner, session], "/.airlock-guest");
    let editor = crate::rootless::editor_of(user, &home, &claude).await;
    let opened = editor.new_session().await;
    crate::sandboxed::bash(&editor, &claude, &opened, "true").await;
    editor.expect("airlock/session/close", serde_json::json!({"sessionId": opened})).await;
    let left = user.podman(&home, &["ps", "--all", "--format", "{{.Names}}"]);
    let mut left: Vec<&str> = left.lines().collect();
    left.sort_unstable();
    assert_eq!(left, ["no-guest", "no-owner", "no-session"]);
    user.podman(&home, &["rm", "no-guest", "no-owner", "no-session"]);
    editor.shutdown().await;
}

/// Bug class: files in shared folders that others read or put there first (CVE-2025-4598's cousins in /tmp).
#[tokio::test]
async fn what_is_kept_and_what_listens_is_the_users_alone() {
    let home = Home::new();
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.bash("echo x > a.txt").await;
    for folder in ["airlock", "airlock/sandboxes", "airlock/homes"] {
        assert_eq!(mode(&home.state().join(folder)), 0o700, "{folder}");
    }
    let history = home.state().join("airlock/history");
    assert_eq!(mode(&history), 0o700);
    let runtime = std::fs::read_dir(home.runtime()).unwrap().flatten();
    let sockets: Vec<_> =
        runtime.filter(|entry| entry.file_name().to_string_lossy().starts_with("airlock-podman-")).collect();
    assert_eq!(sockets.len(), 1);
    assert_eq!(mode(&sockets[0].path()), 0o700);
    let name = sockets[0].file_name().into_string().unwrap();
    assert_eq!(name.rsplit_once('-').unwrap().1.len(), 6, "its name cannot be known before: {name}");
    bench.end().await;
}

/// A property of this design: the agent's home is kept, one a workspace. What one repository's agent left there is nothing to another's.
#[tokio::test]
async fn the_agents_home_of_one_workspace_is_not_that_of_another() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let editor =
        crate::sandboxed::ready(airlock_tests::editor::EditorOptions::new(&claude).home(&home)).await;
    let other = home.path().join("elsewhere/workspace");
    std::fs::create_dir_all(&other).unwrap();
    let first = editor.new_session().await;
    crate::sandboxed::bash(
        &editor,
        &claude,
        &first,
        "echo 'touch /workspace/owned' > ~/.bashrc; mkdir -p ~/.local/bin; echo left > ~/.left",
    )
    .await;
    let uri = format!("file://{}", other.display());
    let opened = editor.expect("airlock/session/new", serde_json::json!({"folder": uri})).await;
    let second = opened["sessionId"].as_str().unwrap();
    let called = crate::sandboxed::bash(&editor, &claude, second, "ls -A ~; ls /workspace").await;
    assert!(called.result.starts_with("[exit code 0"), "{}", called.result);
    // Nor does it run by itself where it was left.
    let called = crate::sandboxed::bash(&editor, &claude, &first, "ls /workspace").await;
    assert!(called.result.starts_with("[exit code 0"), "{}", called.result);
    editor.shutdown().await;
}

/// Makes a folder of a home what somebody else would, and gives it.
type Plant = fn(&Home) -> PathBuf;

fn open_to_all(folder: PathBuf) -> PathBuf {
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
    folder
}

fn led_elsewhere(home: &Home, name: &str) -> PathBuf {
    let (folder, elsewhere) = (home.state().join("airlock").join(name), home.path().join("elsewhere"));
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    symlink(elsewhere, &folder).unwrap();
    folder
}

/// Bug class: folders that were there first, as in every race in `/tmp`. The agent's work, its home and podman's socket would
/// be where somebody else wants them.
#[tokio::test]
async fn state_that_somebody_else_planted_is_refused_with_what_to_do() {
    let plants: [(Plant, &str, &str); 6] = [
        (|home| led_elsewhere(home, "sandboxes"), "is a symlink", "remove it"),
        (|home| led_elsewhere(home, "homes"), "is a symlink", "remove it"),
        (|home| open_to_all(home.state().join("airlock")), "other users can write to", "chmod go-w"),
        (
            |home| open_to_all(home.state().join("airlock/sandboxes")),
            "other users can write to",
            "chmod go-w",
        ),
        (|home| open_to_all(home.state().join("airlock/homes")), "other users can write to", "chmod go-w"),
        (|home| open_to_all(home.runtime()), "other users can write to", "set XDG_RUNTIME_DIR"),
    ];
    for (plant, what, remedy) in plants {
        let (claude, home) = (ScriptedClaude::start().await, Home::new());
        let folder = plant(&home);
        let told = crate::sandboxed::refused(EditorOptions::new(&claude).home(&home), &claude).await;
        let names = told.contains(&folder.display().to_string());
        assert!(names && told.contains(what) && told.contains(remedy), "{told}");
        let elsewhere = home.path().join("elsewhere");
        assert!(!elsewhere.exists() || std::fs::read_dir(elsewhere).unwrap().next().is_none(), "{told}");
        claude.finish();
    }
}

#[tokio::test]
async fn a_folder_that_belongs_to_another_user_is_refused_for_the_true_reason() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return; // Only root can give a folder away.
    }
    let user = OrdinaryUser::get();
    let owned = format!("belongs to another user (id {})", user.uid());
    let folders: [(Plant, &str); 4] = [
        (|home| home.state().join("airlock"), "XDG_STATE_HOME"),
        (|home| home.state().join("airlock/homes"), "XDG_STATE_HOME"),
        (Home::runtime, "XDG_RUNTIME_DIR"),
        // Root's own folders are closed to the agent, who would be that user.
        (Home::workspace, "run Airlock as that user"),
    ];
    for (folder, remedy) in folders {
        let (claude, home) = (ScriptedClaude::start().await, Home::new());
        let folder = folder(&home);
        std::fs::create_dir_all(&folder).unwrap();
        user.take_over(&folder);
        let told = crate::sandboxed::refused(EditorOptions::new(&claude).home(&home), &claude).await;
        assert!(told.contains(&owned) && told.contains(remedy), "{told}");
        claude.finish();
    }
}
