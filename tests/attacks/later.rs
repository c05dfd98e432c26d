//! What runs later without the user's asking for it: it is marked, and never taken with the rest.

use crate::review::with_files;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

/// The paths of changes that are protected, or that are not.
fn paths(changes: &[Value], protected: bool) -> Vec<&str> {
    let chosen = changes.iter().filter(|change| change["protected"] == protected);
    chosen.map(|change| change["path"].as_str().unwrap()).collect()
}

/// Writes a file at each path.
async fn write_all(bench: &Workbench, paths: &[&str]) {
    let quoted: Vec<String> = paths.iter().map(|path| format!("'{path}'")).collect();
    bench
        .bash(&format!(
            "for f in {}; do mkdir -p \"$(dirname \"$f\")\"; echo x > \"$f\"; done",
            quoted.join(" ")
        ))
        .await;
}

/// CVE-2025-54135: an agent wrote `.cursor/mcp.json`, and the editor ran what stood there. Each of these is run by something
/// that many have installed when a folder is opened or entered, a file saved, a commit made.
#[tokio::test]
async fn what_editors_shells_and_tools_run_by_themselves_is_accepted_only_by_itself() {
    let (home, options) = with_files(&[("src/ok.txt", "old\n")]);
    let bench = Workbench::with(options).await;
    let runs = [
        ".cursor/mcp.json",
        ".cursorrules",
        ".mcp.json",
        ".gemini/settings.json",
        ".codex/config.toml",
        "sub/AGENTS.md",
        ".helix/languages.toml",
        ".vim/coc-settings.json",
        ".nvim.lua",
        ".exrc",
        ".dir-locals.el",
        ".devcontainer.json",
        ".run/Build.run.xml",
        "app.iml",
        ".settings/org.eclipse.prefs",
        ".project",
        ".envrc",
        ".env.local",
        "mise.toml",
        ".tool-versions",
        "flake.nix",
        ".venv/bin/activate",
        ".venv/lib/evil.pth",
        "conftest.py",
        "sitecustomize.py",
        ".pylintrc",
        "rust-toolchain.toml",
        ".cargo/config.toml",
        "build.gradle.kts",
        "gradle/wrapper/gradle-wrapper.properties",
        ".mvn/extensions.xml",
        "eslint.config.mjs",
        ".eslintrc.json",
        ".npmrc",
        ".yarn/releases/yarn.cjs",
        ".pnpmfile.cjs",
        "node_modules/.bin/eslint",
        "mix.exs",
        "build.zig",
        "hie.yaml",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        ".husky/pre-push",
        ".hg/hgrc",
        ".gitattributes",
        ".gitmodules",
        ".lfsconfig",
        ".gitlab-ci.yml",
        ".woodpecker/ci.yml",
        "Jenkinsfile",
        ".builds/x.yml",
        ".gdbinit",
        ".Rprofile",
        ".bashrc",
        "hooks/pre-commit",
        "tools/git/commit-msg",
        "hooks/post-checkout",
        ".prettierrc",
        "lefthook-local.yml",
        "lefthook.toml",
        ".lefthook.json",
        ".mypy.ini",
        "setup.cfg",
        "tox.ini",
        "pylintrc.toml",
        "babel.config.json",
        "jest.config.json",
        "rust-analyzer.toml",
        ".rust-project.json",
        ".bsp/sbt.json",
        "buildServer.json",
        "CMakeLists.txt",
        "cmake/Evil.cmake",
        "CMakePresets.json",
        "pom.xml",
        "Gemfile",
        "a.gemspec",
        "binding.gyp",
        ".woodpecker.yml",
        ".mise.local.toml",
        ".golangci.yaml",
        // Builds.
        "gradle.properties",
        "project/Build.scala",
        "Directory.Packages.props",
        "app.csproj.user",
        "Directory.Solution.targets",
        "rebar.config.script",
        "config/config.exs",
        "app.cabal",
        "Setup.hs",
        // Linters.
        ".lintr",
        ".oxlintrc.json",
        ".markdownlint.cjs",
        ".php-cs-fixer.php",
        // Hooks.
        ".commitlintrc.yml",
        ".nano-staged.json",
        ".huskyrc.json",
        "prek.toml",
        "hk.pkl",
        // Environments.
        "default.nix",
        "devenv.nix",
        ".envrc.local",
        "env/bin/python",
        "mise/config.toml",
        // Agents and builds elsewhere.
        ".qwen/settings.json",
        "crush.json",
        ".openhands/setup.sh",
        ".cirrus.star",
    ];
    write_all(&bench, &runs).await;
    let harmless = [
        "src/ok.txt",
        "Makefile",
        "src/head.rs",
        ".editorconfig",
        ".gitignore",
        ".env.example",
        "docs/build.md",
        "docs/lefthook.md",
        "hooks/useState.ts",
        "setup.py",
        "meson.build",
        "tsconfig.json",
    ];
    write_all(&bench, &harmless).await;
    let changes = bench.changes().await;
    let mut expected = runs.to_vec();
    expected.sort_unstable();
    let mut marked = paths(&changes, true);
    marked.sort_unstable();
    assert_eq!(marked, expected);
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"].as_array().unwrap().len(), harmless.len(), "{outcome}");
    for path in runs {
        assert!(!home.workspace().join(path).exists(), "{path} came with the rest");
    }
    // Nor does a folder bring it along, or a second name beside it.
    for selection in [json!({"paths": [".husky"]}), json!({"paths": [".envrc", ".npmrc"]})] {
        let outcome = bench.review("accept", selection).await;
        assert!(
            !home.workspace().join(".husky/pre-push").exists() && !home.workspace().join(".envrc").exists(),
            "{outcome}"
        );
    }
    bench.end().await;
}

/// What git's `safe.bareRepository` is for: a folder that looks like a repository is one to git, and its settings name
/// programs. No `.git` is in it.
#[tokio::test]
async fn a_folder_that_git_would_take_for_a_repository_does_not_come_with_the_rest() {
    let (home, options) = with_files(&[("docs/a.md", "x\n")]);
    let bench = Workbench::with(options).await;
    let made = bench
        .bash("git init --quiet --bare docs/theme && cd docs/theme && git config core.bare false && git config core.worktree . && \
               git config core.fsmonitor 'touch /tmp/sprung; false' && git status >/dev/null 2>&1; ls /tmp/sprung")
        .await;
    assert_eq!(made, "/tmp/sprung\n", "the trap works");
    bench.review("accept", json!({})).await;
    let status = std::process::Command::new("git")
        .args(["rev-parse", "--git-dir"])
        .env("GIT_CEILING_DIRECTORIES", home.path())
        .current_dir(home.workspace().join("docs/theme"))
        .output()
        .unwrap();
    assert!(!status.status.success(), "it is a repository: {}", String::from_utf8_lossy(&status.stdout));
    bench.end().await;
}

/// CVE-2025-59944 (letters of another size got around Cursor's protected files), CVE-2014-9390; ext4 with folded names ignored
/// letters that cannot be seen until Linux 6.12; ZFS and APFS take other forms of a letter for the same.
#[tokio::test]
async fn letters_that_a_file_system_takes_for_the_same_hide_nothing() {
    let (home, options) = with_files(&[]);
    let bench = Workbench::with(options).await;
    let names = [
        ".VSCode/tasks.json",
        ".v\u{17f}code/tasks.json",
        ".vs\u{ad}code/tasks.json",
        ".vscode\u{200b}/tasks.json",
        "\u{ff0e}vscode/tasks.json",
        ".\u{ff56}scode/tasks.json",
        ".vscode./tasks.json",
        ".vscode /tasks.json",
        "VSCODE~1/tasks.json",
        ".vscode::$INDEX_ALLOCATION/tasks.json",
        ".EnvRC",
        ".env\u{fe0f}rc",
        "\u{212a}/.GitHub/workflows/x.yml",
        "\u{2024}envrc",
    ];
    write_all(&bench, &names).await;
    let never = [
        ".\u{ff47}it/config",
        ".g\u{34f}it/config",
        ".gi\u{e0074}t/config",
        "sub/.GiT\u{feff}/hooks/pre-commit",
        "GIT~2/config",
        "GI7EBA~1/config",
        ".git\\config",
    ];
    write_all(&bench, &never).await;
    let changes = bench.changes().await;
    assert_eq!(paths(&changes, false), Vec::<&str>::new());
    assert_eq!(changes.len(), names.len(), "git's own is not even listed");
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!([]));
    for path in never {
        bench.review("accept", json!({"paths": [path]})).await;
        assert!(!home.workspace().join(path).exists(), "{path}");
    }
    bench.end().await;
}

/// A property of this design: of a folder that was made anew, all that the user had there is looked at. A submodule or a
/// clone in the workspace has a `.git` of its own.
#[tokio::test]
async fn the_git_of_a_repository_in_a_folder_made_anew_is_neither_listed_nor_accepted() {
    let (home, options) = with_files(&[
        ("sub/.git/config", "[core]\n"),
        ("sub/a.txt", "a\n"),
        ("module/.git", "gitdir: ../.git/modules/module\n"),
        ("gone/.git/config", "[core]\n"),
        ("gone/b.txt", "b\n"),
    ]);
    let bench = Workbench::with(options).await;
    bench
        .bash("for d in sub module; do cp -r $d /tmp/$d; rm -rf $d; mkdir $d; cp -r /tmp/$d/. $d/; done; rm -rf gone; \
               echo 'fsmonitor = ./x' >> sub/.git/config; echo 'gitdir: x' > module/.git; echo b >> sub/a.txt")
        .await;
    let changes = bench.changes().await;
    assert_eq!(paths(&changes, false), ["gone/b.txt", "sub/a.txt"]);
    assert_eq!(changes.len(), 2);
    bench.review("accept", json!({})).await;
    let read = |path: &str| std::fs::read_to_string(home.workspace().join(path)).unwrap();
    assert_eq!([read("sub/.git/config"), read("gone/.git/config")], ["[core]\n", "[core]\n"]);
    assert_eq!(read("module/.git"), "gitdir: ../.git/modules/module\n");
    assert!(!home.workspace().join("gone/b.txt").exists());
    bench.end().await;
}

/// A property of this design: `build.rs` is protected by its name, and a manifest can give any file its part. A language's server
/// runs it as soon as the folder is open; npm's worms of 2025 lived in `postinstall`.
#[tokio::test]
async fn a_manifest_that_begins_to_run_something_is_accepted_only_by_itself() {
    let cargo = "[package]\nname = \"a\"\nversion = \"0.1.0\"\n";
    let (home, options) = with_files(&[
        ("Cargo.toml", cargo),
        ("package.json", "{\"name\": \"a\"}\n"),
        ("b/Cargo.toml", cargo),
        ("c/Cargo.toml", "[package]\nname = \"c\"\nbuild = false\n"),
        ("c/build.rs", "fn main() {}\n"),
    ]);
    let bench = Workbench::with(options).await;
    bench
        .bash("sed -i 's/^version.*/&\\nbuild = \"src\\/gen.rs\"/' Cargo.toml; mkdir src m n o; echo 'fn main() {}' > src/gen.rs; \
               echo '{\"name\": \"a\", \"scripts\": {\"postinstall\": \"node x.js\"}}' > package.json; \
               printf '[lib]\\nproc-macro = true\\n' > m/Cargo.toml; printf '[dependencies]\\nserde = \"1\"\\n' >> b/Cargo.toml; \
               sed -i '/^build/d' c/Cargo.toml; printf '[lib]\\ncrate-type = [\"proc-macro\"]\\n' > n/Cargo.toml; \
               printf '[project]\\nname = \"o\"\\nbuild = \"x.rs\"\\n' > o/Cargo.toml; echo '{\"commitlint\": {}}' > o/package.json; \
               printf '[tool.mypy]\\npython_executable = \"./x\"\\n' > o/pyproject.toml")
        .await;
    let changes = bench.changes().await;
    assert_eq!(
        paths(&changes, true),
        [
            "Cargo.toml",
            "c/Cargo.toml",
            "m/Cargo.toml",
            "n/Cargo.toml",
            "o/Cargo.toml",
            "o/package.json",
            "o/pyproject.toml",
            "package.json",
            "src/gen.rs"
        ]
    );
    bench.review("accept", json!({})).await;
    assert_eq!(std::fs::read_to_string(home.workspace().join("Cargo.toml")).unwrap(), cargo);
    assert!(bench.on_disk("b/Cargo.toml").contains("serde"), "an everyday change is no bother");
    bench.end().await;
}

/// The user's own `.vscode` may be a link to a folder with a name that says nothing: what is in there runs all the same.
#[tokio::test]
async fn what_a_protected_name_is_a_link_to_is_accepted_only_by_itself() {
    let files = [("editor/tasks.json", "{}\n"), ("env/dev.sh", "x\n"), ("env/other.sh", "x\n")];
    let (home, options) = with_files(&files);
    for (target, link) in [("conf", ".vscode"), ("editor", "conf"), ("./env/../env/dev.sh", ".envrc")] {
        symlink(target, home.workspace().join(link)).unwrap();
    }
    symlink("/etc", home.workspace().join(".idea")).unwrap();
    let bench = Workbench::with(options).await;
    bench
        .bash("echo evil | tee editor/tasks.json editor/new.json env/dev.sh env/other.sh; ln -sfn elsewhere conf; echo x > etc")
        .await;
    let changes = bench.changes().await;
    assert_eq!(paths(&changes, true), ["conf", "editor/new.json", "editor/tasks.json", "env/dev.sh"]);
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!(["env/other.sh", "etc"]));
    bench.review("accept", json!({"paths": ["env/dev.sh"]})).await;
    assert_eq!(bench.on_disk("env/dev.sh"), "evil\n");
    bench.end().await;
}
