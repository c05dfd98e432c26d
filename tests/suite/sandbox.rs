//! The sandbox on this machine's own podman: a container, for a microVM needs the lab.

use airlock::config::IsolationWish;
use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::sandbox::{Isolation, Plan, Sandbox, session_folder};
use airlock_guest::{Answer, Call, Exec, Said};
use std::path::PathBuf;
use tempfile::TempDir;

struct World {
    home: TempDir,
    workspace: &'static str,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("ws")).unwrap();
        std::fs::write(home.path().join("ws/a.txt"), "as it was\n").unwrap();
        Self { home, workspace: "ws" }
    }

    fn environment(&self) -> Environment {
        let path = std::env::var("PATH").unwrap();
        Environment::for_test(self.home.path(), &[("PATH", &path)])
    }

    fn plan(&self, isolation: IsolationWish) -> Plan {
        let workspace = WorkspaceRoot::open(&self.home.path().join(self.workspace)).unwrap();
        Plan { session_id: "test".into(), workspace, isolation, image: None }
    }

    async fn start(&self) -> Sandbox {
        Sandbox::start(&self.environment(), &self.plan(IsolationWish::Auto)).await.unwrap()
    }

    fn upper(&self) -> PathBuf {
        session_folder(&self.environment(), "test").join("upper")
    }
}

async fn bash(sandbox: &Sandbox, command: &str) -> String {
    let exec = Exec { command: command.into(), timeout_ms: 10_000, background: false };
    let mut stream = sandbox.link().call(&Call::Exec(exec)).await.unwrap();
    let mut output = Vec::new();
    loop {
        match stream.next().await.unwrap() {
            Said::Stdout(bytes) | Said::Stderr(bytes) => output.extend(bytes),
            Said::Answer(Answer::Exited(_)) => return String::from_utf8(output).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn what_the_agent_does_stays_in_the_upper_directory() {
    let world = World::new();
    let sandbox = world.start().await;
    assert_eq!(sandbox.isolation(), Isolation::Container);
    assert_eq!(bash(&sandbox, "cat a.txt; rm a.txt; echo new > b.txt; pwd").await, "as it was\n/workspace\n");
    let workspace = world.home.path().join("ws");
    assert_eq!(std::fs::read_to_string(workspace.join("a.txt")).unwrap(), "as it was\n");
    assert!(!workspace.join("b.txt").exists());
    assert_eq!(std::fs::read_to_string(world.upper().join("b.txt")).unwrap(), "new\n");
    sandbox.stop().await.unwrap();
}

#[tokio::test]
async fn folders_of_the_workspace_can_be_removed_replaced_and_moved() {
    let world = World::new();
    let workspace = world.home.path().join("ws");
    std::fs::create_dir(workspace.join("folder")).unwrap();
    std::fs::write(workspace.join("folder/x"), "x\n").unwrap();
    let sandbox = world.start().await;
    let script = "rm a.txt && mkdir a.txt && mv folder moved && mkdir folder && ls -A a.txt folder moved && \
                  rm -r moved folder && echo gone";
    assert_eq!(bash(&sandbox, script).await, "a.txt:\n\nfolder:\n\nmoved:\nx\ngone\n");
    sandbox.stop().await.unwrap();
}

#[tokio::test]
async fn the_agent_is_an_ordinary_user_without_network_and_without_the_hosts_secrets() {
    let world = World::new();
    let sandbox = world.start().await;
    assert!(bash(&sandbox, "id -u").await.starts_with("1000\n"));
    let status = bash(&sandbox, "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status").await;
    assert!(
        status.contains("CapEff:\t0000000000000000") && status.contains("CapBnd:\t0000000000000000"),
        "{status}"
    );
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    assert_eq!(bash(&sandbox, "ls /sys/class/net").await, "lo\n");
    assert_eq!(bash(&sandbox, "touch /usr/x 2>&1 | grep -o 'Read-only'").await, "Read-only\n");
    let environment = bash(&sandbox, "env; cat /proc/1/environ | tr '\\0' '\\n'").await;
    assert!(!environment.contains("ANTHROPIC"), "{environment}");
    sandbox.stop().await.unwrap();
}

#[tokio::test]
async fn a_microvm_that_cannot_be_is_refused_with_the_reason() {
    let world = World::new();
    let Err(error) = Sandbox::start(&world.environment(), &world.plan(IsolationWish::Microvm)).await else {
        panic!("there is no krun on this machine");
    };
    assert!(error.to_string().contains("krun"), "{error}");
}

/// A workspace of this name, with the usual file in it.
fn world_called(name: &'static str) -> World {
    let mut world = World::new();
    std::fs::rename(world.home.path().join("ws"), world.home.path().join(name)).unwrap();
    world.workspace = name;
    world
}

#[tokio::test]
async fn a_workspace_may_have_an_odd_name() {
    for name in ["a b", "ä", "a:b", "a'b\"c", "$HOME", "-o", "%d"] {
        let world = world_called(name);
        let sandbox = world.start().await;
        assert_eq!(bash(&sandbox, "cat a.txt; echo new > b.txt").await, "as it was\n", "{name}");
        assert!(world.upper().join("b.txt").exists(), "{name}");
        sandbox.stop().await.unwrap();
    }
}

#[tokio::test]
async fn no_name_of_a_workspace_is_taken_for_an_option_of_its_mount() {
    for name in ["a,lowerdir=..", "a\\,b", "a\nb"] {
        let world = world_called(name);
        let Err(error) = Sandbox::start(&world.environment(), &world.plan(IsolationWish::Auto)).await else {
            panic!("{name} was mounted");
        };
        assert!(error.to_string().contains("rename the folder"), "{error}");
    }
}
