//! What runs in the lab, as `lab-driver SCENARIO NAME`: it drives the real binary there as an editor does, and prints what it
//! saw as one line of JSON. It judges nothing: the tests in `tests/suite/microvm.rs` do.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

mod bulk;
mod doctor;
mod planted;
mod podman;
mod session;

use airlock_tests::editor::Home;
use airlock_tests::planted::Trigger;
use serde_json::{Value, json};

const MICROVM: &str = "isolation = \"microvm\"\n";

#[tokio::main]
async fn main() {
    let [scenario, name] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        panic!("lab-driver SCENARIO NAME");
    };
    let facts = match scenario.as_str() {
        "session" => session::facts("").await,
        "session-in-a-microvm" => session::facts(MICROVM).await,
        "few-commands-in-a-microvm" => session::few_facts(MICROVM).await,
        "bulk" => bulk::facts().await,
        "doctor" => doctor::facts().await,
        other => {
            let trigger = Trigger::ALL.into_iter().find(|trigger| trigger.name() == other);
            let trigger = trigger.unwrap_or_else(|| panic!("there is no scenario {other}"));
            planted::facts(trigger, configured(MICROVM)).await
        }
    };
    println!("{}", json!({"name": name, "machine": machine(), "facts": facts}));
}

/// A home with this configuration.
fn configured(config: &str) -> Home {
    let home = Home::new();
    let folder = home.config().join("airlock");
    std::fs::create_dir_all(&folder).expect("a folder in the home");
    std::fs::write(folder.join("config.toml"), config).expect("a file in the home");
    home
}

/// The kernel that the driver itself runs on.
fn machine() -> Value {
    let read = |path: &str| std::fs::read_to_string(path).expect("a file of the kernel").trim().to_owned();
    json!({
        "kernel": read("/proc/sys/kernel/osrelease"),
        "boot_id": read("/proc/sys/kernel/random/boot_id"),
    })
}
