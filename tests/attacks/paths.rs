//! Paths that lead somewhere else.

use airlock_tests::editor::Home;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Each tool with a path in it.
fn calls(path: &str) -> [(&'static str, Value); 5] {
    [
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "evil"})),
        ("edit_file", json!({"path": path, "edits": [{"old": "secret", "new": "evil"}]})),
        ("list_files", json!({"path": path})),
        ("search_files", json!({"pattern": "secret", "path": path})),
    ]
}

#[tokio::test]
async fn no_tool_takes_a_path_that_leads_out_of_the_workspace() {
    let home = Home::new();
    home.write("inside.txt", "mine\n");
    let workspace = home.workspace();
    let sibling =
        workspace.with_file_name(format!("{}-evil", workspace.file_name().unwrap().to_str().unwrap()));
    std::fs::create_dir(&sibling).unwrap();
    std::fs::write(sibling.join("x.txt"), "secret\n").unwrap();
    std::fs::write(home.path().join("outside.txt"), "secret\n").unwrap();
    let bench = Workbench::with(|options| options.home(&home)).await;
    let prefix = format!("../{}/x.txt", sibling.file_name().unwrap().to_str().unwrap());
    let (absolute, of_sibling) = (home.path().join("outside.txt"), sibling.join("x.txt"));
    let paths = [
        "../outside.txt",
        "a/../../outside.txt",
        absolute.to_str().unwrap(),
        of_sibling.to_str().unwrap(),
        prefix.as_str(),
        "/etc/passwd",
        "inside.txt\0.png",
        "..",
    ];
    for path in paths {
        for (tool, input) in calls(path) {
            let said = bench.refused(tool, input).await;
            assert!(!said.contains("secret\n") && !said.contains("root:"), "{tool} {path:?}: {said}");
        }
    }
    for (tool, input) in calls("~/outside.txt").into_iter().filter(|(tool, _)| *tool != "write_file") {
        let said = bench.call(tool, input).await;
        assert!(!said.contains("outside.txt:1"), "{tool}: a tilde is a name: {said}");
    }
    for outside in [absolute, of_sibling] {
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "secret\n");
    }
    assert_eq!(bench.changes().await, Vec::<Value>::new());
    bench.end().await;
}

#[tokio::test]
async fn a_link_of_the_repository_to_a_secret_leads_nowhere() {
    let home = Home::new();
    let secret = home.path().join(".ssh/id_rsa");
    std::fs::create_dir(home.path().join(".ssh")).unwrap();
    std::fs::write(&secret, "-----BEGIN KEY\n").unwrap();
    std::os::unix::fs::symlink(&secret, home.workspace().join("notes.txt")).unwrap();
    std::os::unix::fs::symlink("../.ssh", home.workspace().join("docs")).unwrap();
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.refused("read_file", json!({"path": "notes.txt"})).await;
    bench.refused("read_file", json!({"path": "docs/id_rsa"})).await;
    for (tool, input) in [("search_files", json!({"pattern": "BEGIN"})), ("list_files", json!({}))] {
        let said = bench.call(tool, input).await;
        assert!(!said.contains("BEGIN KEY") && !said.contains("id_rsa\n"), "{tool}: {said}");
    }
    let shell = bench.bash("cat notes.txt docs/id_rsa; cp -L notes.txt copy.txt; true").await;
    assert!(!shell.contains("BEGIN") && shell.contains("No such file"), "{shell}");
    bench.end().await;
}

/// Of a file system that is asked twice: a race between the look and the use.
#[tokio::test]
async fn a_folder_that_becomes_a_link_while_it_is_used_leads_nowhere() {
    let home = Home::new();
    home.write("d/a.txt", "mine\n");
    std::fs::write(home.path().join("a.txt"), "secret\n").unwrap();
    let bench = Workbench::with(|options| options.home(&home)).await;
    let flip = "for i in $(seq 400); do mv d e; ln -s .. d; rm d; mv e d; done >/dev/null 2>&1";
    bench.call("bash", json!({"command": flip, "run_in_background": true})).await;
    for _ in 0..30 {
        let said = bench.call("read_file", json!({"path": "d/a.txt"})).await;
        assert!(!said.contains("secret"), "{said}");
    }
    bench.editor.ignore_unread();
    bench.end().await;
}

/// Two names that some file systems take for one, and one that looks like another.
#[tokio::test]
async fn names_of_other_letter_case_and_form_are_names_of_their_own() {
    let home = Home::new();
    home.write("Readme.md", "mine\n");
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.bash("echo evil > README.md; printf x > $'e\\u0301'; printf y > $'\\u00e9'").await;
    let changes = bench.changes().await;
    assert_eq!(changes.len(), 3, "{changes:#?}");
    bench.review("accept", json!({})).await;
    assert_eq!(bench.on_disk("Readme.md"), "mine\n");
    bench.end().await;
}
