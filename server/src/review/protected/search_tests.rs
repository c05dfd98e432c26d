//! What the user's own files lead to, on real files.

use super::*;
use crate::limits::PROTECTED_PACKAGES_MAX;
use crate::paths::WorkspaceRoot;
use crate::storage::replace;
use crate::view::{Agreed, Buffers, NoEditor};
use pretty_assertions::assert_eq;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;

struct Workspace {
    folder: tempfile::TempDir,
    changes: Vec<Change>,
}

impl Workspace {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            replace(&folder.path().join(path), text.as_bytes()).unwrap();
        }
        Self { folder, changes: Vec::new() }
    }

    fn link(self, link: &str, target: &str) -> Self {
        let link = self.folder.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
        self
    }

    /// The agent makes a file, or another one of it.
    fn changed(mut self, path: &str, entry: Entry) -> Self {
        let path = WorkspacePath::parse(path).unwrap();
        let user = self.user(Arc::new(NoEditor)).entry(&path).unwrap();
        self.changes.push(Change::between(&path, &Agreed::On(user.clone()), user, entry).unwrap());
        self
    }

    fn user(&self, editor: Arc<dyn Buffers>) -> UserSide {
        UserSide::new(WorkspaceRoot::open(self.folder.path()).unwrap(), editor)
    }

    /// Those of these paths at which a change is led to, and that alone.
    fn led_to<'p>(self, paths: &[&'p str]) -> Vec<&'p str> {
        self.led_to_with(paths, Arc::new(NoEditor))
    }

    fn led_to_with<'p>(mut self, paths: &[&'p str], editor: Arc<dyn Buffers>) -> Vec<&'p str> {
        for path in paths {
            if self.changes.iter().all(|change| change.path.as_str() != *path) {
                self = self.changed(path, Entry::file(b"changed", 0o644));
            }
        }
        let reached = search(&self.user(editor), &self.changes).unwrap();
        let has = |path: &&&str| {
            let change = self.changes.iter().find(|change| change.path.as_str() == **path).unwrap();
            reached.has(change)
        };
        paths.iter().filter(has).copied().collect()
    }
}

#[test]
fn the_users_own_build_script_is_led_to_with_its_modules() {
    let workspace = Workspace::with(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nbuild = \"tools/gen.rs\"\n[workspace]\nmembers = [\"crates/*\"]\n",
        ),
        ("crates/b/Cargo.toml", "[package]\nname = \"b\"\nbuild = \"../../shared/b.rs\"\n"),
        ("crates/c/Cargo.toml", "[package]\nname = \"c\"\nbuild = \"script.rs\"\n"),
    ]);
    let paths = [
        "tools/gen.rs",
        "tools/gen/part.rs",
        "tools/gen.txt",
        "shared/b.rs",
        "crates/c/script.rs",
        "crates/c/other.rs",
        "src/main.rs",
    ];
    assert_eq!(
        workspace.led_to(&paths),
        ["tools/gen.rs", "tools/gen/part.rs", "shared/b.rs", "crates/c/script.rs"]
    );
}

#[test]
fn all_of_a_procedural_macro_is_led_to_and_what_it_is_built_with() {
    let workspace = Workspace::with(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"m\", \"n\", \"core\", \"app\"]\n[workspace.dependencies]\ncore = { path = \"core\" }\n",
        ),
        (
            "m/Cargo.toml",
            "[package]\nname = \"m\"\n[lib]\nproc-macro = true\n[dependencies]\ncore = { workspace = true }\n",
        ),
        (
            "n/Cargo.toml",
            "[package]\nname = \"n\"\n[lib]\ncrate-type = [\"proc-macro\"]\npath = \"code/n.rs\"\n",
        ),
        ("core/Cargo.toml", "[package]\nname = \"core\"\n"),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n[build-dependencies]\nhelp = { path = \"../help\" }\n[dependencies]\nm = { path = \"../m\" }\nplain = { path = \"../plain\" }\n",
        ),
        ("help/Cargo.toml", "[package]\nname = \"help\"\n"),
    ]);
    let paths = [
        "m/src/lib.rs",
        "m/src/deep/part.rs",
        "m/README.md",
        "m/tests/it.rs",
        "n/code/n.rs",
        "n/code/part.rs",
        "core/src/lib.rs",
        "help/src/lib.rs",
        "app/src/main.rs",
        "plain/src/lib.rs",
    ];
    let expected = [
        "m/src/lib.rs",
        "m/src/deep/part.rs",
        "n/code/n.rs",
        "n/code/part.rs",
        "core/src/lib.rs",
        "help/src/lib.rs",
    ];
    assert_eq!(workspace.led_to(&paths), expected);
}

#[test]
fn what_the_agents_own_manifest_would_run_is_led_to_before_it_is_accepted() {
    let manifest = Entry::file(b"[package]\nname = \"a\"\nbuild = \"x/gen.rs\"\n", 0o644);
    let hook = Entry::file(b"#!/bin/sh\n./scripts/check.sh\n", 0o755);
    let workspace = Workspace::with(&[]).changed("new/Cargo.toml", manifest).changed(".husky/pre-push", hook);
    let workspace = workspace.changed("sub/.envrc", Entry::Link("real/dev.sh".into()));
    let paths = ["new/x/gen.rs", "new/src/lib.rs", "scripts/check.sh", "scripts/other.sh", "sub/real/dev.sh"];
    assert_eq!(workspace.led_to(&paths), ["new/x/gen.rs", "scripts/check.sh", "sub/real/dev.sh"]);
}

#[test]
fn a_manifest_that_stands_unsaved_in_an_editor_counts_as_well_as_the_file() {
    struct Editor(PathBuf);
    impl Buffers for Editor {
        fn text(&self, path: &Path) -> Option<String> {
            (path == self.0).then(|| "[package]\nname = \"a\"\nbuild = \"new.rs\"\n".to_owned())
        }
        fn open(&self) -> Vec<(PathBuf, u64)> {
            Vec::new()
        }
    }
    let workspace = Workspace::with(&[("Cargo.toml", "[package]\nname = \"a\"\nbuild = \"old.rs\"\n")]);
    let editor = Arc::new(Editor(workspace.folder.path().canonicalize().unwrap().join("Cargo.toml")));
    assert_eq!(workspace.led_to_with(&["new.rs", "old.rs", "other.rs"], editor), ["new.rs", "old.rs"]);
}

#[test]
fn scripts_and_checkers_of_a_manifest_are_led_to() {
    let workspace = Workspace::with(&[
        (
            "package.json",
            "\u{feff}{\"scripts\": {\"prepare\": \"npm run build\", \"build\": \"node tools/build\", \"test\": \"node t.js\"}, \"prettier\": \"./format/own.json\"}",
        ),
        (
            "pyproject.toml",
            "[build-system]\nbuild-backend = \"own\"\nbackend-path = [\"_build\"]\n[tool.mypy]\nplugins = [\"checks.plugin\"]\n",
        ),
        (
            "php/composer.json",
            "{\"scripts\": {\"post-autoload-dump\": \"php bin/dump.php\", \"lint\": \"php bin/lint.php\"}}",
        ),
        ("flat/pyproject.toml", "[build-system]\nbuild-backend = \"own\"\nbackend-path = [\".\"]\n"),
    ]);
    let paths = [
        "tools/build.mjs",
        "t.js",
        "format/own.json",
        "_build/own/x.py",
        "checks/plugin.py",
        "checks/other.py",
        "php/bin/dump.php",
        "php/bin/lint.php",
        "flat/own.py",
        "flat/other.py",
    ];
    let expected = [
        "tools/build.mjs",
        "format/own.json",
        "_build/own/x.py",
        "checks/plugin.py",
        "php/bin/dump.php",
        "flat/own.py",
    ];
    assert_eq!(workspace.led_to(&paths), expected);
}

#[test]
fn files_that_hooks_and_settings_name_are_led_to() {
    let workspace = Workspace::with(&[
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: scripts/lint.sh --fix\n    language: script\n",
        ),
        (
            ".vscode/tasks.json",
            "{\"tasks\": [{\"command\": \"${workspaceFolder}/dev/start.sh\", \"runOptions\": {\"runOn\": \"folderOpen\"}}]}",
        ),
        (".husky/pre-commit", ". \"$(dirname \"$0\")/../ci/common.sh\"\n"),
        ("sub/.envrc", "source_env ../env/base\nsource ./local.sh\n"),
        (".cargo/config.toml", "[build]\nrustc-wrapper = \"tools/wrap\"\n"),
    ]);
    let paths = [
        "scripts/lint.sh",
        "dev/start.sh",
        "ci/common.sh",
        "env/base",
        "sub/local.sh",
        "tools/wrap",
        "src/a.c",
    ];
    assert_eq!(workspace.led_to(&paths), paths[..6]);
}

#[test]
fn what_gits_settings_name_is_led_to_at_any_depth() {
    let workspace = Workspace::with(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[include]\n\tpath = ../gitconfig\n[core]\n\tfsmonitor = tools/watch.sh\n\tpager = less\n[alias]\n\tx = \"!sh tools/alias.sh\"\n[remote \"origin\"]\n\turl = https://host.example/a.git\n"),
        ("gitconfig", "[includeIf \"gitdir:/\"]\n\tpath = more/git.inc\n"),
        ("more/git.inc", "[core]\n\thooksPath = ci/hooks\n[filter \"f\"]\n\tclean = ./filters/clean %f\n"),
        ("ci/hooks/pre-push", "exec ./ci/push.sh\n"),
        (".git/hooks/post-merge", "tools/merged.sh\n"),
        (".git/hooks/pre-rebase.sample", "tools/sample.sh\n"),
        ("mod/.git", "gitdir: ../.git/modules/mod\n"),
        (".git/modules/mod/config", "[core]\n\tsshCommand = ./ssh.sh\n"),
        ("odd/.git", "gitdir: ../store\n"),
        ("store/config", ""),
    ])
    .link(".git/hooks/pre-commit", "../../scripts/commit.sh");
    let paths = [
        "gitconfig",
        "more/git.inc",
        "tools/watch.sh",
        "tools/alias.sh",
        "ci/hooks/anything",
        "ci/push.sh",
        "filters/clean",
        "tools/merged.sh",
        "scripts/commit.sh",
        "mod/ssh.sh",
        "odd/x",
        "store/hooks/x",
        "tools/sample.sh",
        "src/a.c",
    ];
    let mut expected = paths[..12].to_vec();
    expected.retain(|path| *path != "odd/x");
    assert_eq!(workspace.led_to(&paths), expected);
}

#[test]
fn links_in_the_folders_around_a_change_are_followed_at_any_depth() {
    let workspace = Workspace::with(&[("shared/Cargo.base", "[package]\nname = \"a\"\n")])
        .link("sub/.envrc", "real/dev.sh")
        .link("pkg/.vscode", "editor")
        .link("pkg/editor", "../store/editor")
        .link("a/b/mise", "m")
        .link("a/b/plain", "p")
        .link("out/.idea", "../../elsewhere");
    let paths = [
        "sub/real/dev.sh",
        "sub/real/other.sh",
        "store/editor/tasks.json",
        "pkg/editor",
        "a/b/m/config.toml",
        "a/b/m/x.toml",
        "a/b/p/x",
        "pkg/x",
    ];
    // From `store` nothing leads to `pkg`, unless something in there changed, too.
    assert_eq!(
        workspace.led_to(&paths),
        ["sub/real/dev.sh", "store/editor/tasks.json", "pkg/editor", "a/b/m/config.toml"]
    );
}

#[test]
fn links_that_git_tracks_are_followed_wherever_they_are() {
    for version in ["2", "3", "4"] {
        let workspace = Workspace::with(&[("a/long/way/off/x", "x"), ("a/long/way/p", "x"), ("z", "z")])
            .link("a/long/way/off/.vscode", "../../../../tools/editor")
            .link("a/long/way/off/Cargo.toml", "../../../../base.toml")
            .link("b/.envrc", "../env/dev.sh");
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "init.defaultBranch=main"]).args(arguments).current_dir(workspace.folder.path());
            assert!(git.output().unwrap().status.success(), "{arguments:?}");
        };
        git(&["init", "--quiet"]);
        git(&["update-index", "--index-version", version]);
        git(&["add", "-A"]);
        if version == "3" {
            git(&["update-index", "--skip-worktree", "a/long/way/p"]);
        }
        let manifest = Entry::file(b"[package]\nname = \"a\"\nbuild = \"x.rs\"\n", 0o644);
        let workspace = workspace.changed("base.toml", manifest);
        let paths = ["tools/editor/tasks.json", "tools/other", "env/dev.sh", "base.toml"];
        assert_eq!(
            workspace.led_to(&paths),
            ["tools/editor/tasks.json", "env/dev.sh", "base.toml"],
            "{version}"
        );
    }
}

#[test]
fn nothing_odd_in_the_workspace_keeps_anything_from_being_found() {
    let workspace = Workspace::with(&[
        (".git/config", "[include]\n\tpath = config\n\tpath = ../loop\n[core]\n\tfsmonitor = ./watch\n"),
        ("loop", "[include]\n\tpath = loop\n"),
        (".git/index", "DIRC\u{0}\u{0}\u{0}\u{2}\u{7f}\u{7f}\u{7f}\u{7f}xx"),
        ("Cargo.toml", "[package\n"),
        ("package.json", "[]"),
        ("d/Cargo.toml", "[package]\nname = \"d\"\n[build-dependencies]\nd = { path = \".\" }\n[workspace]\nmembers = [\"*\", \"../..\", \"[\"]\n"),
    ])
    .link("sub/.envrc", ".envrc")
    .link("x", "/proc/self/root");
    let pipe = workspace.folder.path().join("pyproject.toml");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert_eq!(workspace.led_to(&["watch", "sub/x", "d/y.rs", "z"]), ["watch"]);
}

#[test]
fn of_a_folder_that_cannot_be_looked_into_everything_counts() {
    let mut workspace = Workspace::with(&[]);
    // No disk takes such a name, so asking for it is an error whoever asks.
    for path in [format!("{}/x", "n".repeat(300)), "open/x".to_owned()] {
        let path = WorkspacePath::parse(&path).unwrap();
        let agent = Entry::file(b"", 0o644);
        let change = Change::between(&path, &Agreed::On(Entry::Missing), Entry::Missing, agent);
        workspace.changes.push(change.unwrap());
    }
    let reached = search(&workspace.user(Arc::new(NoEditor)), &workspace.changes).unwrap();
    assert_eq!([true, false], [0, 1].map(|number| reached.has(&workspace.changes[number])));
}

/// What the agent adds must not use up what is looked at, nor stand in the way of it.
#[test]
fn no_flood_of_the_agents_hides_what_the_users_own_files_lead_to() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"a\"\nbuild = \"tools/gen.rs\"\n"),
        (".git/config", "[include]\n\tpath = ../shared.inc\n"),
        ("shared.inc", "[include]\n\tpath = zz.inc\n"),
        ("zz.inc", "[core]\n\tfsmonitor = watch.sh\n"),
        ("package.json", "{\"scripts\": {\"prepare\": \"node tools/x.js\"}}"),
    ];
    let package = Entry::file(b"[package]\nname = \"x\"\n", 0o644);
    let mut flood = Workspace::with(&files);
    for number in 0..=PROTECTED_PACKAGES_MAX {
        flood = flood.changed(&format!("p{number}/Cargo.toml"), package.clone());
    }
    let includes: String = (0..200).map(|number| format!("[include]\n\tpath = {number}\n")).collect();
    let flood = flood.changed("shared.inc", Entry::file(includes.as_bytes(), 0o644));
    // In a manifest's place, so that it would count as looked at.
    let flood = flood.changed("package.json/index.js", package.clone());
    let paths = ["tools/gen.rs", "tools/x.js", "zz.inc", "watch.sh"];
    assert_eq!(flood.led_to(&paths), paths);

    // Blanks that nobody sees at the end of a manifest, accepted before.
    let padded = format!("{}{}", files[4].1, " ".repeat(PROTECTED_FILE_MAX_BYTES));
    assert_eq!(Workspace::with(&[("package.json", &padded)]).led_to(&["tools/x.js"]), ["tools/x.js"]);
    let settings: String =
        (0..=PROTECTED_NAMES_MAX).map(|number| format!("x{number} = y{number}\n")).collect();
    let settings = format!("[a]\n{settings}[core]\nfsmonitor = watch.sh\n");
    assert_eq!(Workspace::with(&[(".git/config", &settings)]).led_to(&["watch.sh"]), ["watch.sh"]);
}
