//! What the user said is kept, on a disk that fails at any operation and loses in a power cut what was not synced:
//! trust, grants to plugins, and which changes were accepted. What was said to be kept is there, what was there before
//! stays, nothing is torn.

use airlock::environment::Environment;
use airlock::paths::{WorkspacePath, WorkspaceRoot};
use airlock::plugins::Plugin;
use airlock::plugins::grants::GrantStore;
use airlock::review::Accepted;
use airlock::trust::{TrustState, TrustStore, survey};
use airlock_tests::failing_disk::{FailingDisk, Fault, at_every_operation};
use airlock_tests::guests;
use airlock_tests::plugin_desk::PluginDesk;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const FAULTS: [Fault; 3] = [Fault::Once, Fault::Full, Fault::Dies];

/// A store on a disk: something is put into it under a name, and looked for.
trait Store {
    fn put(&self, name: usize) -> Result<(), String>;
    fn has(&self, name: usize) -> bool;
}

/// Puts one thing in on a good day, or nothing, and another on a bad one.
fn holds_at_every_operation<S: Store>(open: impl Fn(&Path) -> S) {
    for fault in FAULTS {
        for had_one in [false, true] {
            at_every_operation(|well| {
                let disk = FailingDisk::mount();
                let home = disk.folder("home");
                let store = open(&home);
                if had_one {
                    store.put(0).expect("a good day");
                }
                disk.fails(fault, well);
                let put = store.put(1);
                let failed = disk.cut_power();
                let at =
                    format!("{fault:?} after {well} operations, with one before: {had_one}; said: {put:?}");
                assert_eq!(store.has(0), had_one, "what was there before stays: {at}");
                assert!(put.is_err() || store.has(1), "what was said to be kept is there: {at}");
                assert!(put.is_ok() || failed, "nothing but the disk was wrong: {at}");
                if let Err(said) = &put {
                    assert!(said.contains(home.to_str().expect("UTF-8")), "it says where: {at}");
                }
                store.put(1).unwrap_or_else(|error| panic!("a good day after a bad one: {error}: {at}"));
                disk.cut_power();
                assert!(store.has(1) && store.has(0) == had_one, "{at}");
                failed
            });
        }
    }
}

struct Trust {
    store: TrustStore,
    workspaces: [TempDir; 2],
}

impl Trust {
    fn workspace(&self, name: usize) -> WorkspaceRoot {
        WorkspaceRoot::open(self.workspaces[name].path()).expect("a folder")
    }
}

impl Store for Trust {
    fn put(&self, name: usize) -> Result<(), String> {
        let workspace = self.workspace(name);
        let shown = survey(&workspace).expect("a workspace");
        self.store.trust(&workspace, &shown).map(drop).map_err(|error| error.to_string())
    }

    fn has(&self, name: usize) -> bool {
        let (state, problems) = self.store.state(&self.workspace(name));
        assert!(problems.is_empty(), "{problems:?}");
        matches!(state, TrustState::Trusted(_))
    }
}

#[test]
fn trust_is_kept_or_refused_whatever_the_disk_does() {
    holds_at_every_operation(|home| Trust {
        store: TrustStore::new(&Environment::for_test(home, &[])),
        workspaces: [(); 2].map(|()| TempDir::new().expect("a temporary directory")),
    });
}

struct Grants {
    store: GrantStore,
    plugins: [Arc<Plugin>; 2],
}

impl Store for Grants {
    fn put(&self, name: usize) -> Result<(), String> {
        self.store.grant(&self.plugins[name], &self.plugins[name].manifest.asks)
    }

    fn has(&self, name: usize) -> bool {
        !self.store.granted(&self.plugins[name]).is_empty()
    }
}

#[tokio::test]
async fn grants_are_kept_or_refused_whatever_the_disk_does() {
    let desk = PluginDesk::new();
    let plugin = |name| desk.install(name, "[wants]\nkv = true", guests::probe());
    let plugins = [plugin("first"), plugin("second")];
    holds_at_every_operation(|home| Grants {
        store: GrantStore::new(&Environment::for_test(home, &[])),
        plugins: plugins.clone(),
    });
}

struct Acceptances(Accepted);

impl Acceptances {
    fn path(name: usize) -> WorkspacePath {
        WorkspacePath::parse(&name.to_string()).expect("a path")
    }
}

impl Store for Acceptances {
    fn put(&self, name: usize) -> Result<(), String> {
        self.0.add(&[Self::path(name)]).map_err(|error| error.to_string())
    }

    fn has(&self, name: usize) -> bool {
        let paths = self.0.paths().expect("a record that can be read");
        paths.iter().any(|acceptance| acceptance.path == Self::path(name))
    }
}

#[test]
fn what_was_accepted_and_not_committed_is_kept_whatever_the_disk_does() {
    holds_at_every_operation(|home| Acceptances(Accepted::open(&home.join("session"))));
}
