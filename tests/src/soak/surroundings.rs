//! What changes around the sessions: the user's files and plugins.

use super::says::file;
use super::world::World;
use crate::editor::Home;
use crate::guests::{install, probe_with, replace};
use fastrand::Rng;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A workspace with something in it, and a plugin.
pub(super) fn prepare(home: &Home) {
    for number in 0..200 {
        home.write(&format!("src/{}/{number}.txt", number % 10), &format!("line {number}\n").repeat(20));
    }
    install_plugin(home, &probe_with(&["echo"]));
}

/// The user changes files in every way there is, as if no agent were there.
pub(super) async fn change_files(world: Arc<World>, mut dice: Rng, until: Instant) {
    let workspace = world.home().workspace();
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(dice.u64(10..200))).await;
        let count = world.counts.file_changes.up();
        let path = workspace.join(file(&mut dice));
        let text = format!("written by the user, {count}\n").repeat(dice.usize(1..30));
        match dice.usize(..6) {
            0 | 1 => write(path, &text),
            2 => {
                let other = workspace.join(".being-saved");
                write(other.clone(), &text);
                // An agent's folder may stand there by now.
                let _ = fs::rename(other, path);
            }
            3 => drop(fs::remove_file(path)),
            4 => write(workspace.join(format!("src/new-{}/{count}.txt", dice.usize(..4))), &text),
            _ => drop(fs::remove_dir_all(workspace.join(format!("src/new-{}", dice.usize(..4))))),
        }
    }
}

/// Somebody builds the plugin again and again, and not always well.
pub(super) async fn change_plugins(world: Arc<World>, mut dice: Rng, until: Instant) {
    let (one, two) = (probe_with(&["echo"]), probe_with(&["echo", "echo_new"]));
    let folder = plugins(world.home()).join("probe");
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(dice.u64(500..3000))).await;
        let count = world.counts.reloads.up();
        let component = folder.join("plugin.wasm");
        match dice.usize(..8) {
            0..=2 => install_plugin(world.home(), &rebuilt(&one, count)),
            3 | 4 => install_plugin(world.home(), &rebuilt(&two, count)),
            5 if folder.exists() => replace(&component, b"half a comp"),
            6 if folder.exists() => replace(&component, &one[..dice.usize(100..one.len())]),
            _ => drop(fs::remove_dir_all(&folder)),
        }
    }
    install_plugin(world.home(), &one);
}

/// The same component in other bytes: a section that nobody reads is at its end.
fn rebuilt(component: &[u8], build: usize) -> Vec<u8> {
    let name = format!("build {build:08}");
    let length = u8::try_from(name.len()).expect("a short name");
    let mut bytes = component.to_vec();
    bytes.extend([0, length + 1, length]);
    bytes.extend(name.as_bytes());
    bytes
}

fn install_plugin(home: &Home, component: &[u8]) {
    install(&plugins(home), "probe", "", component);
}

fn plugins(home: &Home) -> PathBuf {
    home.config().join("airlock/plugins")
}

/// Whatever stands there: what cannot be written is left as it is.
fn write(path: PathBuf, text: &str) {
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = fs::write(path, text);
}
