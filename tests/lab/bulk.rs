//! Many bytes through the link. What commands say is cut in the sandbox, so a file is read whole instead, as an image.

use airlock::config::IsolationWish;
use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::sandbox::{Plan, Sandbox};
use airlock_guest::{Call, Read, Said};
use serde_json::{Value, json};
use std::path::Path;

const READS: usize = 2;
const FILE_BYTES: usize = 15 << 20;

pub(crate) async fn facts() -> Value {
    let home = tempfile::tempdir().expect("a temporary directory");
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).expect("a folder");
    let content = image();
    std::fs::write(workspace.join("large.png"), &content).expect("a file");
    let sandbox = start(home.path(), &workspace).await;
    let mut whole = 0;
    for _ in 0..READS {
        whole += if read(&sandbox).await == content { content.len() } else { 0 };
    }
    sandbox.stop().await.expect("it ends");
    json!({"isolation": format!("{:?}", sandbox.isolation()), "bytes_unharmed": whole})
}

/// Begins as an image does and holds every byte at every place of a page.
fn image() -> Vec<u8> {
    let numbers = (0..FILE_BYTES as u32).map(|number| (number % 251) as u8);
    b"\x89PNG\r\n\x1a\n".iter().copied().chain(numbers).take(FILE_BYTES).collect()
}

async fn start(home: &Path, workspace: &Path) -> Sandbox {
    let path = std::env::var("PATH").expect("a path");
    let environment = Environment::for_test(home, &[("PATH", &path)]);
    let workspace = WorkspaceRoot::open(workspace).expect("a workspace");
    let plan = Plan { session_id: "bulk".into(), workspace, isolation: IsolationWish::Auto, image: None };
    Sandbox::start(&environment, &plan).await.expect("a sandbox")
}

async fn read(sandbox: &Sandbox) -> Vec<u8> {
    let call = Call::Read(Read { path: "large.png".into(), first_line: 1, lines: 1 });
    let mut stream = sandbox.link().call(&call).await.expect("a call");
    let mut content = Vec::new();
    loop {
        match stream.next().await.expect("the guest answers") {
            Said::Data(bytes) => content.extend(bytes),
            Said::Answer(_) => return content,
            Said::Stdout(_) | Said::Stderr(_) => {}
        }
    }
}
