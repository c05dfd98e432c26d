//! What the user's own files lead to: manifests, settings of git and links make files run whose names say nothing of that.

use crate::desk::configure;
use crate::review::with_files;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The paths of changes that are protected.
fn marked(changes: &[Value]) -> Vec<&str> {
    let chosen = changes.iter().filter(|change| change["protected"] == true);
    chosen.map(|change| change["path"].as_str().unwrap()).collect()
}

/// The agent writes to each of these paths. Only `marked` of them don't come with the rest, and each comes by itself.
async fn only_these_are_left(bench: &Workbench, workspace: &Path, all: &[&str], expected: &[&str]) {
    let script = format!("for f in {}; do mkdir -p \"$(dirname $f)\"; echo evil >> $f; done", all.join(" "));
    bench.bash(&script).await;
    let changes = bench.changes().await;
    assert_eq!(marked(&changes), expected);
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"].as_array().unwrap().len(), all.len() - expected.len(), "{outcome}");
    let is_evil =
        |path: &&&str| std::fs::read_to_string(workspace.join(path)).is_ok_and(|text| text.contains("evil"));
    assert_eq!(expected.iter().filter(is_evil).count(), 0, "one came with the rest");
    for path in expected {
        bench.review("accept", json!({"paths": [path]})).await;
    }
    assert_eq!(expected.iter().filter(is_evil).count(), expected.len(), "one didn't come by itself");
}

/// Seen: `cargo check` ran what the agent had put into `tools/gen.rs`, which the user's own `build =` named, and into the library
/// of a procedural macro. A language's server runs both as soon as the folder is open.
#[tokio::test]
async fn the_users_own_build_script_and_macros_are_accepted_only_by_themselves() {
    let (home, options) = with_files(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nversion = \"0.1.0\"\nbuild = \"tools/gen.rs\"\n[workspace]\nmembers = [\"macros\", \"deep/app\"]\n",
        ),
        ("tools/gen.rs", "fn main() {}\n"),
        ("src/lib.rs", "\n"),
        (
            "macros/Cargo.toml",
            "[package]\nname = \"macros\"\n[lib]\nproc-macro = true\n[dependencies]\ncore = { path = \"../core\" }\n",
        ),
        ("macros/src/lib.rs", "\n"),
        ("core/src/lib.rs", "\n"),
        ("deep/app/Cargo.toml", "[package]\nname = \"app\"\nbuild = \"../../shared/app.rs\"\n"),
    ]);
    let bench = Workbench::with(options).await;
    let all = [
        "core/src/lib.rs",
        "deep/app/src/main.rs",
        "macros/README.md",
        "macros/src/lib.rs",
        "macros/src/part.rs",
        "shared/app.rs",
        "src/lib.rs",
        "tools/gen.rs",
    ];
    let expected =
        ["core/src/lib.rs", "macros/src/lib.rs", "macros/src/part.rs", "shared/app.rs", "tools/gen.rs"];
    only_these_are_left(&bench, &home.workspace(), &all, &expected).await;
    bench.end().await;
}

/// A property of this design: a manifest that begins to name a script is accepted by itself, and then it is the user's. The
/// script must not come with the rest: neither before that nor after it.
#[tokio::test]
async fn a_script_is_marked_before_and_after_its_manifest_is_accepted() {
    let (home, options) = with_files(&[("package.json", "{\"name\": \"a\"}\n"), ("tools/x.js", "old\n")]);
    let bench = Workbench::with(options).await;
    bench
        .bash("echo evil > tools/x.js; echo '{\"name\": \"a\", \"scripts\": {\"prepare\": \"node tools/x\"}}' > package.json")
        .await;
    assert_eq!(marked(&bench.changes().await), ["package.json", "tools/x.js"]);
    bench.review("accept", json!({"paths": ["package.json"]})).await;
    assert_eq!(marked(&bench.changes().await), ["tools/x.js"]);
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!([]), "{outcome}");
    assert_eq!(std::fs::read_to_string(home.workspace().join("tools/x.js")).unwrap(), "old\n");
    bench.end().await;
}

/// Seen: the user's `.git/config` includes a file of the workspace's, the agent put `core.fsmonitor` into that, and `git status`
/// ran it. Programs, filters, hooks and aliases are named there, too.
#[tokio::test]
async fn what_gits_own_settings_name_is_accepted_only_by_itself() {
    let (home, options) = with_files(&[
        ("ok.txt", "x\n"),
        ("git/shared.inc", "[alias]\n\tx = status\n[core]\n\thooksPath = ci/hooks\n"),
        ("ci/hooks/README", "x\n"),
    ]);
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(home.workspace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "--quiet"]);
    git(&["config", "include.path", "../git/shared.inc"]);
    git(&["config", "core.fsmonitor", "tools/watch.sh"]);
    git(&["config", "filter.own.clean", "python3 tools/clean.py --stdin"]);
    git(&["config", "alias.go", "!./tools/go"]);
    symlink("../../scripts/check.sh", home.workspace().join(".git/hooks/pre-commit")).unwrap();
    let bench = Workbench::with(options).await;
    let all = [
        "ci/hooks/new",
        "git/other.inc",
        "git/shared.inc",
        "ok.txt",
        "scripts/check.sh",
        "tools/clean.py",
        "tools/go",
        "tools/other.sh",
        "tools/watch.sh",
    ];
    let expected = [
        "ci/hooks/new",
        "git/shared.inc",
        "scripts/check.sh",
        "tools/clean.py",
        "tools/go",
        "tools/watch.sh",
    ];
    only_these_are_left(&bench, &home.workspace(), &all, &expected).await;
    bench.end().await;
}

/// A link with a protected name can be in any folder, and one that git tracks can lead to any other.
#[tokio::test]
async fn what_a_nested_link_leads_to_is_accepted_only_by_itself() {
    let (home, options) = with_files(&[
        ("sub/real/dev.sh", "x\n"),
        ("pkg/editor/tasks.json", "{}\n"),
        ("shared/editor/tasks.json", "{}\n"),
        ("shared/other.txt", "x\n"),
    ]);
    let workspace = home.workspace();
    std::fs::create_dir_all(workspace.join("far/away")).unwrap();
    for (target, link) in [
        ("real/dev.sh", "sub/.envrc"),
        ("editor", "pkg/.vscode"),
        ("../../shared/editor", "far/away/.vscode"),
        ("../../shared/npm", "far/away/.npmrc"),
    ] {
        symlink(target, workspace.join(link)).unwrap();
    }
    for arguments in [&["init", "--quiet"][..], &["add", "far"]] {
        assert!(Command::new("git").args(arguments).current_dir(&workspace).status().unwrap().success());
    }
    let bench = Workbench::with(options).await;
    let all = [
        "pkg/editor/new.json",
        "pkg/editor/tasks.json",
        "shared/editor/tasks.json",
        "shared/npm",
        "shared/other.txt",
        "sub/real/dev.sh",
        "sub/real/other.sh",
    ];
    let expected = [
        "pkg/editor/new.json",
        "pkg/editor/tasks.json",
        "shared/editor/tasks.json",
        "shared/npm",
        "sub/real/dev.sh",
    ];
    only_these_are_left(&bench, &workspace, &all, &expected).await;
    bench.end().await;
}

/// Hooks and settings name scripts: pre-commit's `entry`, a task that runs when the folder is opened.
#[tokio::test]
async fn what_hooks_and_editors_settings_name_is_accepted_only_by_itself() {
    let (home, options) = with_files(&[
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: local\n  hooks:\n  - {id: x, entry: scripts/lint.sh, language: script}\n",
        ),
        (
            ".vscode/tasks.json",
            "{\"tasks\": [{\"command\": \"${workspaceFolder}/dev/start\", \"runOptions\": {\"runOn\": \"folderOpen\"}}]}\n",
        ),
        ("pyproject.toml", "[build-system]\nbuild-backend = \"own\"\nbackend-path = [\"_build\"]\n"),
    ]);
    let bench = Workbench::with(options).await;
    let all = ["_build/own.py", "dev/other", "dev/start", "scripts/lint.sh", "src/own.py"];
    only_these_are_left(&bench, &home.workspace(), &all, &["_build/own.py", "dev/start", "scripts/lint.sh"])
        .await;
    bench.end().await;
}

/// The user knows more of what runs than any list: their own names count besides, and a repository can't take one away.
#[tokio::test]
async fn what_the_user_protects_besides_is_accepted_only_by_itself() {
    let (home, options) = with_files(&[(".airlock/config.toml", "protected = []\n")]);
    configure(&home, "config.toml", "protected = [\"deploy/*.sh\", \"ops/\"]\n");
    let bench = Workbench::with(options).await;
    let all = [".envrc", "deploy/a.txt", "deploy/go.sh", "ops/deep/x", "sub/deploy/go.sh"];
    let expected = [".envrc", "deploy/go.sh", "ops/deep/x", "sub/deploy/go.sh"];
    only_these_are_left(&bench, &home.workspace(), &all, &expected).await;
    bench.end().await;
}
