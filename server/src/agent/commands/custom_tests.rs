//! The laws of custom commands, on real folders.

use super::*;
use crate::agent::commands::nearest;
use crate::paths::WorkspaceRoot;
use crate::storage::{make_private_folder, replace};
use crate::trust::{TrustStore, survey};
use pretty_assertions::assert_eq;
use std::os::unix::fs::symlink;

struct World {
    home: tempfile::TempDir,
}

impl World {
    /// Files below the home: `w` is the workspace, `config` the user's configuration.
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { home: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.home.path().join("w")).unwrap();
        for (path, content) in files {
            replace(&world.home.path().join(path), content.as_bytes()).unwrap();
        }
        world
    }

    fn trusted(&self) -> TrustedWorkspace {
        let root = WorkspaceRoot::open(&self.home.path().join("w")).unwrap();
        let store = TrustStore::new(&self.environment());
        store.trust(&root, &survey(&root).unwrap()).unwrap()
    }

    fn environment(&self) -> Environment {
        Environment::for_test(self.home.path(), &[])
    }

    fn discover(&self, trusted: bool) -> (CustomCommands, Vec<String>) {
        let workspace = trusted.then(|| self.trusted());
        let (commands, problems) =
            CustomCommands::discover(workspace.as_ref(), &self.environment(), &["help", "clear"]);
        let home = self.home.path().canonicalize().unwrap();
        let texts =
            problems.iter().map(|problem| problem.to_string().replace(home.to_str().unwrap(), "HOME"));
        (commands, texts.collect())
    }
}

fn names(commands: &CustomCommands) -> Vec<&str> {
    commands.iter().map(|command| command.name.as_str()).collect()
}

fn nothing(_: &crate::paths::WorkspacePath) -> Result<String, String> {
    Err("not here".to_owned())
}

#[test]
fn folders_are_namespaces_and_front_matter_describes() {
    let world = World::new(&[
        (
            "w/.airlock/commands/git/commit.md",
            "---\ndescription: Commit\nargument-hint: [message]\nmodel: small\n---\n\nCommit as $1",
        ),
        ("w/.claude/commands/review.md", "\n## Look at it\n\nwell"),
        ("w/.claude/commands/notes.txt", "no command"),
        ("config/commands/mine.md", "Mine"),
    ]);
    let (commands, problems) = world.discover(true);
    assert_eq!(problems, [""; 0]);
    assert_eq!(names(&commands), ["git:commit", "mine", "review"]);
    let commit = commands.get("git:commit").unwrap();
    let info = commit.info();
    assert_eq!((info.description.as_str(), info.hint.as_deref()), ("Commit", Some("[message]")));
    assert_eq!(commit.model(), Some("small"));
    assert!(commit.path.ends_with("w/.airlock/commands/git/commit.md"), "{commit:?}");
    assert_eq!(commit.expand("this", &mut nothing).unwrap().text, "Commit as this");
    assert_eq!(commands.get("review").unwrap().info().description, "Look at it");
    assert_eq!(nearest("comit", names(&commands)), Some("git:commit"));
}

#[test]
fn without_trust_the_workspace_has_no_commands() {
    let world = World::new(&[("w/.airlock/commands/a.md", "a"), ("config/commands/b.md", "b")]);
    assert_eq!(names(&world.discover(false).0), ["b"]);
}

#[test]
fn built_in_beats_airlock_beats_claude_beats_the_users_own() {
    let world = World::new(&[
        ("w/.airlock/commands/a.md", "from airlock"),
        ("w/.claude/commands/a.md", "from claude"),
        ("w/.claude/commands/b.md", "from claude"),
        ("config/commands/b.md", "from user"),
        ("config/commands/Help.md", "not this"),
    ]);
    let (commands, problems) = world.discover(true);
    let found: Vec<_> = commands.iter().map(|command| command.info().description).collect();
    assert_eq!(found, ["from airlock", "from claude"]);
    assert_eq!(
        problems,
        [
            "HOME/w/.claude/commands/a.md: /a is hidden by HOME/w/.airlock/commands/a.md; rename one of the two",
            "HOME/config/commands/Help.md: /Help is hidden by the built-in command; rename the file",
            "HOME/config/commands/b.md: /b is hidden by HOME/w/.claude/commands/b.md; rename one of the two",
        ]
    );
}

#[test]
fn a_broken_command_is_listed_and_says_what_is_wrong() {
    let world = World::new(&[
        ("w/.airlock/commands/bad.md", "---\nmodel: m\ndescription: a: b\n---\nx"),
        ("config/commands/empty.md", "---\nmodel: m\n---\n \n"),
        ("config/commands/good.md", "good"),
    ]);
    replace(&world.home.path().join("config/commands/latin.md"), b"\xe9").unwrap();
    let (commands, problems) = world.discover(true);
    assert_eq!(names(&commands), ["bad", "empty", "good", "latin"]);
    assert_eq!(problems.len(), 3);
    let bad = commands.get("bad").unwrap();
    let error = bad.expand("", &mut nothing).unwrap_err();
    assert!(error.starts_with("cannot run /bad: ") && error.contains("commands/bad.md:3: "), "{error}");
    assert!(bad.info().description.starts_with("broken: "));
    assert!(problems[1].contains("there is no text in it"), "{}", problems[1]);
    assert!(problems[2].contains("not UTF-8"), "{}", problems[2]);
}

#[test]
fn names_that_cannot_be_typed_are_left_out() {
    let world = World::new(&[
        ("config/commands/two words.md", "x"),
        ("config/commands/9.md", "x"),
        ("config/commands/a:b.md", "x"),
        ("config/commands/.hidden.md", "x"),
    ]);
    let (commands, problems) = world.discover(false);
    assert_eq!(names(&commands), [""; 0]);
    assert_eq!(problems.len(), 3);
    assert!(problems[0].ends_with("rename it: letters, digits, - and _ only, a letter first"));
}

#[test]
fn links_are_followed_in_the_users_folder_only() {
    let world = World::new(&[
        ("elsewhere/a.md", "secret"),
        ("w/.airlock/commands/x.md", "x"),
        ("config/commands/y.md", "y"),
    ]);
    let home = world.home.path();
    for commands in ["w/.airlock/commands", "config/commands"] {
        symlink(home.join("elsewhere/a.md"), home.join(commands).join("file.md")).unwrap();
        symlink(home.join("elsewhere"), home.join(commands).join("folder")).unwrap();
    }
    symlink(home.join("elsewhere"), home.join("w/.claude")).unwrap();
    let (commands, problems) = world.discover(true);
    assert_eq!(names(&commands), ["file", "folder:a", "x", "y"]);
    assert!(commands.get("file").unwrap().path.ends_with("config/commands/file.md"));
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(problems.iter().all(|problem| problem.contains("is a link")), "{problems:#?}");
}

#[test]
fn what_changed_after_trust_is_broken() {
    let world = World::new(&[("w/.airlock/commands/a.md", "good")]);
    let trusted = world.trusted();
    replace(&world.home.path().join("w/.airlock/commands/a.md"), b"evil").unwrap();
    let (commands, problems) = CustomCommands::discover(Some(&trusted), &world.environment(), &[]);
    assert!(problems[0].to_string().contains("changed since the workspace was trusted"));
    assert!(commands.get("a").unwrap().expand("", &mut nothing).is_err());
}

#[test]
fn folders_files_and_lines_have_limits() {
    let deep = format!("{}a.md", "d/".repeat(limits::COMMAND_FOLDERS_MAX_DEPTH + 1));
    let large = "x".repeat(limits::COMMAND_FILE_MAX_BYTES + 1);
    let long = "word ".repeat(100);
    let world = World::new(&[
        (&format!("w/.airlock/commands/{deep}"), "x"),
        ("w/.airlock/commands/large.md", &large),
        ("w/.airlock/commands/long.md", &long),
        (&format!("config/commands/{deep}"), "x"),
    ]);
    let (commands, problems) = world.discover(true);
    assert_eq!(names(&commands), ["large", "long"]);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    let description = commands.get("long").unwrap().info().description;
    assert_eq!(description.chars().count(), limits::COMMAND_DESCRIPTION_MAX_CHARS);
    assert!(commands.get("large").unwrap().expand("", &mut nothing).unwrap_err().contains("larger than"));
}

#[test]
fn more_commands_than_the_limit_are_left_out() {
    let world = World::new(&[]);
    let folder = world.home.path().join("w/.claude/commands");
    make_private_folder(&folder).unwrap();
    for number in 0..=limits::COMMAND_FILES_MAX {
        write_unsynced(&folder.join(format!("c{number}.md")));
    }
    let (commands, problems) = world.discover(true);
    assert_eq!(commands.iter().count(), limits::COMMAND_FILES_MAX);
    assert_eq!(problems.len(), 1);
}

#[expect(clippy::disallowed_methods, reason = "a test's own world, without waiting for the disk")]
fn write_unsynced(path: &Path) {
    std::fs::write(path, "x").unwrap();
}
