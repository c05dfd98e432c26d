//! The wall that is told is the wall that stands, whatever podman and its runtimes are called and say.

use crate::sandboxed::{bash, path_with, ready, refused};
use crate::world::configured;
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;

/// A runtime of that name which starts plain containers, so podman is content.
fn krun_that_is_none(home: &Home) -> String {
    assert!(std::path::Path::new("/dev/kvm").exists(), "without /dev/kvm no runtime for microVMs is tried");
    path_with(home, &[("krun", "exec runc \"$@\"")])
}

#[tokio::test]
async fn a_microvm_that_cannot_be_is_refused_and_the_conversation_goes_on() {
    let claude = ScriptedClaude::start().await;
    let home = configured("isolation = \"microvm\"");
    let told = refused(EditorOptions::new(&claude).home(&home), &claude).await;
    assert!(told.starts_with("no microVM can be started: "), "{told}");
    assert!(told.contains("krun") && told.contains("set isolation = \"auto\" in your config.toml"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn a_runtime_that_only_calls_itself_krun_is_told_as_the_container_that_it_starts() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let path = krun_that_is_none(&home);
    let editor = ready(EditorOptions::new(&claude).home(&home).env("PATH", path)).await;
    let session = editor.new_session().await;
    let called = bash(&editor, &claude, &session, "cat /proc/sys/kernel/random/boot_id").await;
    assert_eq!(called.isolation(), "container");
    let ours = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(called.result.starts_with(&ours), "it is this machine's kernel");
    let (told, krun) = (called.told_when("ready"), home.path().join("programs/krun"));
    let why = format!("the runtime {} started a plain container instead of a microVM", krun.display());
    assert!(told.contains(&why), "{told}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_runtime_that_only_calls_itself_krun_is_refused_where_a_microvm_is_wanted() {
    let (claude, home) = (ScriptedClaude::start().await, configured("isolation = \"microvm\""));
    let path = krun_that_is_none(&home);
    let told = refused(EditorOptions::new(&claude).home(&home).env("PATH", path), &claude).await;
    assert!(told.contains("started a plain container instead of a microVM"), "{told}");
    claude.finish();
}

/// As podman's API did until 5.8.
#[tokio::test]
async fn a_podman_that_ignores_the_runtime_is_caught() {
    let podman = "left=$#\nwhile [ $left -gt 0 ]; do word=$1; shift; left=$((left - 1))\n\
                  if [ \"$word\" = --runtime ]; then shift; left=$((left - 1)); else set -- \"$@\" \"$word\"; fi; done\n\
                  exec /usr/bin/podman --runtime runc \"$@\"";
    for wish in ["auto", "microvm"] {
        let claude = ScriptedClaude::start().await;
        let home = configured(&format!("isolation = \"{wish}\""));
        krun_that_is_none(&home);
        let path = path_with(&home, &[("podman", podman), ("krun", "exit 99")]);
        let options = EditorOptions::new(&claude).home(&home).env("PATH", path);
        let told = if wish == "microvm" {
            refused(options, &claude).await
        } else {
            let editor = ready(options).await;
            let session = editor.new_session().await;
            let called = bash(&editor, &claude, &session, "true").await;
            assert_eq!(called.isolation(), "container");
            editor.shutdown().await;
            called.told_when("ready")
        };
        let krun = home.path().join("programs/krun");
        let why = format!("podman was asked for the runtime {} and used runc instead", krun.display());
        assert!(told.contains(&why), "{told}");
        claude.finish();
    }
}

#[tokio::test]
async fn two_sessions_in_one_workspace_see_nothing_of_each_other() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(EditorOptions::new(&claude)).await;
    editor.home().write("shared.txt", "as it was\n");
    let (one, two) = (editor.new_session().await, editor.new_session().await);
    for (session, other) in [(&one, "two"), (&two, "one")] {
        let command = format!(
            "cat shared.txt; ls; ls /tmp; echo not-{other} > shared.txt; touch new-not-{other} /tmp/x"
        );
        let called = bash(&editor, &claude, session, &command).await;
        assert!(called.result.starts_with("as it was\nshared.txt\n[exit code 0"), "{}", called.result);
    }
    for (session, other) in [(&one, "two"), (&two, "one")] {
        let called = bash(&editor, &claude, session, "cat shared.txt; ls").await;
        let expected = format!("not-{other}\nnew-not-{other}\nshared.txt\n");
        assert!(called.result.starts_with(&expected), "{}", called.result);
    }
    assert_eq!(std::fs::read_to_string(editor.home().workspace().join("shared.txt")).unwrap(), "as it was\n");
    editor.shutdown().await;
    claude.finish();
}
