//! The laws of trust, on real folders.

use super::*;
use crate::environment::Environment;
use crate::limits::{TRUST_FILE_MAX_BYTES, TRUST_FILES_MAX, TRUST_FOLDERS_MAX_DEPTH, TRUST_STORE_MAX_BYTES};
use crate::paths::WorkspaceRoot;
use crate::storage::{read_text, remove, replace};
use pretty_assertions::assert_eq;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

struct World {
    home: tempfile::TempDir,
    root: WorkspaceRoot,
    store: TrustStore,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().join("w");
        std::fs::create_dir(&workspace).unwrap();
        let world = Self {
            root: WorkspaceRoot::open(&workspace).unwrap(),
            store: TrustStore::new(&Environment::for_test(home.path(), &[])),
            home,
        };
        for (path, content) in files {
            world.write(path, content);
        }
        world
    }

    fn write(&self, path: &str, content: &str) {
        replace(&self.root.as_host().join(path), content.as_bytes()).unwrap();
    }

    fn trust(&self) -> TrustedWorkspace {
        self.store.trust(&self.root, &survey(&self.root).unwrap()).unwrap()
    }

    fn state(&self) -> String {
        match self.store.state(&self.root).0 {
            TrustState::Trusted(_) => "trusted".to_owned(),
            TrustState::Changed { files } => format!("changed {}", files.join(" ")),
            TrustState::Untrusted => "untrusted".to_owned(),
        }
    }

    fn trust_file(&self, name: &str) -> std::path::PathBuf {
        self.home.path().join("state").join(name)
    }
}

const FILES: [(&str, &str); 4] = [
    (".airlock/config.toml", "model = \"m\""),
    (".airlock/commands/a/b.md", "do"),
    (".claude/commands/c.md", "do"),
    ("AGENTS.md", "be good"),
];

#[test]
fn what_is_effective_is_surveyed_and_nothing_else() {
    let world = World::new(&FILES);
    world.write(".claude/settings.json", "{}");
    world.write("src/AGENTS.md", "");
    let found: Vec<_> =
        survey(&world.root).unwrap().files.into_iter().map(|file| (file.path, file.size_bytes)).collect();
    let expected = [
        (".airlock/commands/a/b.md", 2),
        (".airlock/config.toml", 11),
        (".claude/commands/c.md", 2),
        ("AGENTS.md", 7),
    ];
    assert_eq!(found, expected.map(|(path, size)| (path.to_owned(), size)));
}

#[test]
fn a_workspace_is_untrusted_until_it_is_trusted_and_after_it_is_revoked() {
    let world = World::new(&FILES);
    assert_eq!(world.state(), "untrusted");
    world.trust();
    assert_eq!(world.state(), "trusted");
    assert!(world.store.revoke(&world.root).unwrap());
    assert_eq!(world.state(), "untrusted");
    assert!(!world.store.revoke(&world.root).unwrap());
}

#[test]
fn an_empty_workspace_is_untrusted_too() {
    let world = World::new(&[]);
    assert!(survey(&world.root).unwrap().files.is_empty());
    assert_eq!(world.state(), "untrusted");
}

#[test]
fn a_change_after_trust_asks_again_and_names_the_files() {
    let world = World::new(&FILES);
    world.trust();
    world.write("AGENTS.md", "be bad!");
    world.write("CLAUDE.md", "new");
    remove(&world.root.as_host().join(".airlock/config.toml")).unwrap();
    assert_eq!(world.state(), "changed .airlock/config.toml AGENTS.md CLAUDE.md");
    world.write("AGENTS.md", "be good");
    remove(&world.root.as_host().join("CLAUDE.md")).unwrap();
    world.write(".airlock/config.toml", "model = \"m\"");
    assert_eq!(world.state(), "trusted");
}

#[test]
fn what_changed_since_it_was_shown_is_not_trusted() {
    let world = World::new(&FILES);
    let shown = survey(&world.root).unwrap();
    world.write("AGENTS.md", "be bad");
    let error = world.store.trust(&world.root, &shown).unwrap_err().to_string();
    assert!(error.contains("(AGENTS.md)"), "{error}");
    assert_eq!(world.state(), "untrusted");
}

#[test]
fn a_trusted_workspace_hands_out_only_what_was_trusted() {
    let world = World::new(&FILES);
    let trusted = world.trust();
    assert_eq!(trusted.read_text("AGENTS.md", 99).unwrap().unwrap(), "be good");
    assert_eq!(trusted.read_text("CLAUDE.md", 99).unwrap(), None);
    assert!(trusted.read_text("AGENTS.md", 3).is_err());
    let below: Vec<_> = trusted.paths_below(".airlock/commands").collect();
    assert_eq!(below, [".airlock/commands/a/b.md"]);

    world.write("AGENTS.md", "be bad!");
    world.write("CLAUDE.md", "new");
    let problem = trusted.read_text("AGENTS.md", 99).unwrap_err().to_string();
    assert!(problem.contains("changed since the workspace was trusted"), "{problem}");
    assert_eq!(trusted.read_text("CLAUDE.md", 99).unwrap(), None);
}

#[test]
fn a_link_counts_as_a_link_and_is_never_read() {
    let world = World::new(&[]);
    let secret = world.home.path().join("secret");
    replace(&secret.join("x.md"), b"key").unwrap();
    let link = |name: &str, target: &Path| symlink(target, world.root.as_host().join(name)).unwrap();
    link("AGENTS.md", &secret.join("x.md"));
    link(".airlock", &secret);

    let found = survey(&world.root).unwrap().files;
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].link_target.as_deref(), secret.to_str());
    let trusted = world.trust();
    let problem = trusted.read_text("AGENTS.md", 99).unwrap_err().to_string();
    assert!(problem.contains("is a link"), "{problem}");

    replace(&secret.join("x.md"), b"other").unwrap();
    assert_eq!(world.state(), "trusted");
    remove(&world.root.as_host().join("AGENTS.md")).unwrap();
    world.write("AGENTS.md", "key");
    assert_eq!(world.state(), "changed AGENTS.md");
}

#[test]
fn a_file_swapped_for_a_link_is_not_read() {
    let world = World::new(&FILES);
    let trusted = world.trust();
    let moved = world.root.as_host().join("elsewhere.md");
    replace(&moved, b"be good").unwrap();
    remove(&world.root.as_host().join("AGENTS.md")).unwrap();
    symlink(&moved, world.root.as_host().join("AGENTS.md")).unwrap();
    assert!(trusted.read_text("AGENTS.md", 99).is_err());
}

#[test]
fn what_cannot_be_looked_at_as_a_whole_cannot_be_trusted() {
    let too_many: Vec<_> =
        (0..=TRUST_FILES_MAX).map(|number| format!(".airlock/{}/{number}", number % 2)).collect();
    let too_deep = format!(".airlock/{}x", "d/".repeat(TRUST_FOLDERS_MAX_DEPTH));
    let too_large = "x".repeat(TRUST_FILE_MAX_BYTES + 1);
    let many: Vec<_> = too_many.iter().map(|path| (path.as_str(), "")).collect();
    for (files, reason) in [
        (many, "more than 1000 files"),
        (vec![(too_deep.as_str(), "")], "deeper than 12 folders"),
        (vec![("AGENTS.md", too_large.as_str())], "larger than"),
        (vec![(".airlock/a\u{1b}[2Jb", "")], "its name cannot be shown"),
    ] {
        let world = World::new(&[]);
        // Not `replace`, which waits for the disk a thousand times.
        for (path, content) in files {
            write_unsynced(&world.root.as_host().join(path), content);
        }
        let error = survey(&world.root).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own world")]
fn write_unsynced(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[test]
fn all_files_together_have_a_limit() {
    let world = World::new(&FILES);
    let total = FILES.iter().map(|(_, content)| content.len()).sum();
    assert!(survey::survey_within(&world.root, total).is_ok());
    let error = survey::survey_within(&world.root, total - 1).unwrap_err().to_string();
    assert!(error.contains("more than 21 bytes"), "{error}");
}

#[test]
fn a_full_store_refuses_and_keeps_what_it_has() {
    let world = World::new(&FILES);
    let long = "x".repeat(TRUST_STORE_MAX_BYTES - 100);
    let full = format!("{{\"version\":1,\"workspaces\":{{\"/{long}\":{{}}}}}}");
    replace(&world.trust_file("trust.json"), full.as_bytes()).unwrap();
    let error = world.store.trust(&world.root, &survey(&world.root).unwrap()).unwrap_err().to_string();
    assert!(error.contains("it is full"), "{error}");
    assert_eq!(read_text(&world.trust_file("trust.json"), TRUST_STORE_MAX_BYTES).unwrap(), Some(full));
}

#[test]
fn what_is_no_file_cannot_be_trusted() {
    let world = World::new(&FILES);
    world.trust();
    let _socket = std::os::unix::net::UnixListener::bind(world.root.as_host().join(".airlock/s")).unwrap();
    let (state, problems) = world.store.state(&world.root);
    assert!(matches!(state, TrustState::Untrusted));
    assert!(problems[0].to_string().contains(".airlock/s"), "{}", problems[0]);
}

#[test]
fn an_unreadable_file_cannot_be_trusted() {
    let world = World::new(&FILES);
    let path = world.root.as_host().join("AGENTS.md");
    if path.metadata().unwrap().uid() == 0 {
        return; // root reads everything
    }
    world.trust();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    assert!(survey(&world.root).unwrap_err().to_string().contains("AGENTS.md"));
    let (state, problems) = world.store.state(&world.root);
    assert!(matches!(state, TrustState::Untrusted));
    assert_eq!(problems.len(), 1);
}

#[test]
fn the_store_is_private() {
    let world = World::new(&FILES);
    world.trust();
    let mode = world.trust_file("trust.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_broken_store_trusts_nothing_and_is_kept() {
    let world = World::new(&FILES);
    for broken in
        [&b"{\"version\":1,\"workspaces\":{"[..], b"", b"[]", b"\xff", b"{\"version\":2,\"workspaces\":{}}"]
    {
        world.trust();
        replace(&world.trust_file("trust.json"), broken).unwrap();
        let (state, problems) = world.store.state(&world.root);
        assert!(matches!(state, TrustState::Untrusted));
        assert!(problems[0].to_string().contains("no workspace is trusted"), "{}", problems[0]);

        world.trust();
        assert_eq!(world.state(), "trusted");
        let kept = world.trust_file("trust.json.broken");
        if broken != b"\xff" {
            assert_eq!(read_text(&kept, 99).unwrap().unwrap().as_bytes(), broken);
        }
    }
}

#[test]
fn processes_that_write_at_the_same_time_lose_nothing() {
    let world = World::new(&[]);
    let roots: Vec<_> = (0..8)
        .map(|number| {
            let path = world.root.as_host().join(number.to_string());
            std::fs::create_dir(&path).unwrap();
            WorkspaceRoot::open(&path).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for root in &roots {
            let store = world.store.clone();
            scope.spawn(move || store.trust(root, &survey(root).unwrap()).unwrap());
        }
    });
    for root in &roots {
        assert!(matches!(world.store.state(root).0, TrustState::Trusted(_)));
    }
}
