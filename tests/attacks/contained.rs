//! What a sandbox takes of the machine that it is on: nothing is written but where that is bounded or watched, nothing is
//! used up that the user needs, and nothing of the machine's own is to be read or changed.

use airlock_tests::editor::EditorOptions;
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;

/// Does this in a sandbox of root's and in one of an ordinary user's, if we are root; else in one of our own.
async fn in_each(look: impl AsyncFn(&Workbench)) {
    let user = OrdinaryUser::get();
    for home in [None, Some(user.home())] {
        let options = |options: EditorOptions| match &home {
            None => options,
            Some(home) => options.user(user, home),
        };
        let bench = Workbench::with(options).await;
        look(&bench).await;
        bench.end().await;
    }
}

/// Podman keeps what a container says unless it is told not to: the whole link, with every file that was read.
#[tokio::test]
async fn what_the_server_and_the_sandbox_say_to_each_other_is_kept_in_no_log() {
    let bench = Workbench::new().await;
    bench.bash("echo a-word-of-the-agent").await;
    let id = crate::sandboxed::container(&bench.session, &bench.editor);
    let inspect = |format: &str| crate::sandboxed::podman(&["inspect", "--format", format, &id]);
    assert_eq!(inspect("{{.HostConfig.LogConfig.Type}}"), "none");
    let folder = inspect("{{.StaticDir}}");
    let kept = std::process::Command::new("grep").args(["-rl", "a-word-of-the-agent", &folder]).output();
    assert_eq!(String::from_utf8(kept.expect("grep").stdout).unwrap(), "");
    bench.end().await;
}

/// Whoever may run longest when memory is short: never a command, always the guest.
#[tokio::test]
async fn commands_die_before_the_guest_where_memory_is_short() {
    in_each(async |bench| {
        let said = bench.bash("cat /proc/self/oom_score_adj; setsid cat /proc/self/oom_score_adj; cat /proc/1/oom_score_adj").await;
        let scores: Vec<i32> = said.lines().map(|line| line.parse().expect("a number")).collect();
        assert_eq!(scores[..2], [1000, 1000]);
        assert!(scores[2] < 1000, "{said}");
        let log = bench.call("bash", serde_json::json!({"command": "cat /proc/self/oom_score_adj", "background": true})).await;
        let log = log.trim().rsplit(' ').next().expect("a path").to_owned();
        assert_eq!(bench.bash(&format!("until [ -s {log} ]; do :; done; cat {log}")).await, "1000\n");
    })
    .await;
}

/// A command that holds an end of the link could speak for the guest, and hear what the server sends.
#[tokio::test]
async fn a_command_has_its_own_three_handles_and_no_other() {
    in_each(async |bench| {
        // The fourth is what `ls` looks with.
        assert_eq!(bench.bash("ls /proc/self/fd").await, "0\n1\n2\n3\n");
        assert_eq!(bench.bash("(ls /proc/self/fd | cat)").await, "0\n1\n2\n3\n");
    })
    .await;
}
