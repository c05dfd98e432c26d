//! Between a look and a verdict the sandbox lives on.

use crate::review::with_files;
use airlock_tests::deadline::within;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A process in the background that does something when it is told to.
struct Waiting(String);

impl Waiting {
    async fn to(bench: &Workbench, deed: &str) -> Self {
        let mark = format!("airlock-race-{}-{}", std::process::id(), bench.session);
        let script = format!("trap '{deed}' USR1; echo up > /tmp/up; while :; do sleep 0.02; done");
        let start = format!("(exec -a {mark} bash -c \"{script}\") > /dev/null 2>&1 &");
        bench.bash(&format!("{start} until [ -e /tmp/up ]; do sleep 0.01; done")).await;
        Self(mark)
    }

    fn tell(&self) {
        let found = Command::new("pgrep").args(["-f", &format!("^{} -c", self.0)]).output().unwrap();
        let process = String::from_utf8(found.stdout).unwrap();
        let told = Command::new("kill").args(["-USR1", process.trim()]).status().unwrap();
        assert!(told.success(), "nobody waits");
    }
}

/// Looks until a file of the agent's view is this: nobody is told when it changes.
async fn until(bench: &Workbench, path: &str, text: &str) {
    let state = bench.editor.home().state();
    let file = state.join("airlock/sandboxes").join(&bench.session).join("upper").join(path);
    let is = || std::fs::read_to_string(&file).is_ok_and(|is| is == text);
    let looking = async {
        while !is() {
            tokio::task::yield_now().await;
        }
    };
    within(looking, || format!("{path} does not become {text:?}")).await;
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Bug class: time of check, time of use. CVE-2025-54136: what was approved under a name was another thing when it ran.
#[tokio::test]
async fn what_changes_after_it_was_shown_is_not_accepted_unseen() {
    let (home, options) = with_files(&[("a.txt", "old\n"), ("b.txt", "old\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("echo good > a.txt; echo good > b.txt").await;
    let waiting = Waiting::to(&bench, "echo evil > new.txt; chmod 755 b.txt; echo evil > a.txt").await;
    let shown = bench.changes().await;
    waiting.tell();
    until(&bench, "a.txt", "evil\n").await;
    for selection in [json!({}), json!({"paths": ["a.txt"]}), json!({"hunks": [shown[0]["hunks"][0]["id"]]})]
    {
        let outcome = bench.review("accept", selection).await;
        assert_eq!(outcome["done"], json!([]), "{outcome}");
        assert!(
            outcome.to_string().contains("look at it again")
                || outcome.to_string().contains("list the changes again"),
            "{outcome}"
        );
    }
    assert_eq!(
        (read(&home.workspace().join("a.txt")), home.workspace().join("new.txt").exists()),
        ("old\n".to_owned(), false)
    );
    // Nor where another reader has listed it meanwhile.
    let session = json!({"sessionId": bench.session});
    bench.editor.expect("airlock/changes/list", session).await;
    for selection in [json!({}), json!({"paths": ["a.txt"]})] {
        for verb in ["accept", "reject"] {
            let outcome = bench.review(verb, selection.clone()).await;
            assert_eq!(outcome["done"], json!([]), "{verb} {selection}: {outcome}");
        }
    }
    // Nor for a client that doesn't say what it displays.
    for verb in ["accept", "reject"] {
        let nothing = json!({"sessionId": bench.session, "paths": ["a.txt"]});
        let outcome = bench.editor.expect(&format!("airlock/changes/{verb}"), nothing).await;
        assert_eq!(outcome["done"], json!([]), "{outcome}");
    }
    // Who has looked may have it, if that is what they want.
    bench.changes().await;
    let outcome = bench.review("accept", json!({"paths": ["a.txt"]})).await;
    assert_eq!((&outcome["done"], bench.on_disk("a.txt").as_str()), (&json!(["a.txt"]), "evil\n"));
    bench.end().await;
}

/// The same of what no line shows: that a new file can be run.
#[tokio::test]
async fn that_a_new_file_can_be_run_is_shown_and_not_accepted_unseen() {
    let (home, options) = with_files(&[]);
    let bench = Workbench::with(options).await;
    bench.bash("umask 0; echo text > tool").await;
    let waiting = Waiting::to(&bench, "chmod 755 tool; echo done > mark").await;
    let shown = bench.changes().await;
    waiting.tell();
    until(&bench, "mark", "done\n").await;
    let outcome = bench.review("accept", json!({"hunks": [shown[0]["hunks"][0]["id"]]})).await;
    assert_eq!(outcome["done"], json!(["tool"]), "{outcome}");
    let mode = || std::fs::metadata(home.workspace().join("tool")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o644);
    let left = bench.changes().await;
    let tool = left.iter().find(|change| change["path"] == "tool").expect("a change is left");
    assert_eq!(tool["hunks"][0]["text"], "permissions 644 → 755\n");
    bench.review("accept", json!({"paths": ["tool"]})).await;
    assert_eq!(mode(), 0o755);
    bench.end().await;
}

/// The same, where a verdict about another file comes in between: what was not looked at stays unseen.
#[tokio::test]
async fn a_verdict_about_one_file_is_no_look_at_another() {
    let (home, options) = with_files(&[("a.txt", "old\n"), ("b.txt", "old\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("echo good > a.txt; echo good > b.txt").await;
    let waiting = Waiting::to(&bench, "echo evil > a.txt").await;
    bench.changes().await;
    waiting.tell();
    until(&bench, "a.txt", "evil\n").await;
    let outcome = bench.review("accept", json!({"paths": ["b.txt"]})).await;
    assert_eq!(outcome["done"], json!(["b.txt"]));
    let outcome = bench.review("accept", json!({"paths": ["a.txt"]})).await;
    assert_eq!((&outcome["done"], read(&home.workspace().join("a.txt")).as_str()), (&json!([]), "old\n"));
    bench.end().await;
}

/// A property of this design: the parts of a file that are left keep their names while the user goes through them.
#[tokio::test]
async fn verdicts_of_the_users_own_need_no_second_look() {
    let lines: String = (1..=30).map(|number| format!("{number}\n")).collect();
    let (_home, options) = with_files(&[("a.txt", &lines)]);
    let bench = Workbench::with(options).await;
    bench.bash("sed -i 's/^3$/three/; s/^15$/fifteen/; s/^27$/last/' a.txt").await;
    // The user's own edit makes the merge move the agent's view.
    std::fs::write(bench.editor.home().workspace().join("a.txt"), format!("first\n{lines}")).unwrap();
    let hunks = bench.changes().await[0]["hunks"].clone();
    let outcome = bench.review("accept", json!({"hunks": [hunks[1]["id"]]})).await;
    assert_eq!(outcome["done"], json!(["a.txt"]), "{outcome}");
    bench.changes().await;
    let outcome = bench.review("accept", json!({"paths": ["a.txt"]})).await;
    assert_eq!(outcome["done"], json!(["a.txt"]), "{outcome}");
    let text = bench.on_disk("a.txt");
    assert!(
        text.starts_with("first\n1\n2\nthree\n") && text.contains("\nfifteen\n") && text.contains("\nlast\n"),
        "{text}"
    );
    bench.end().await;
}
