//! The user at the editor: documents are opened, typed in, saved and closed, and the edits that the server asks for are
//! made.

use super::says::file;
use super::world::World;
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The documents that are open: version and text of each, by its file. Whoever changes one tells the server under the
/// same lock, for the server must hear of versions in their order.
#[derive(Default)]
pub(super) struct Desk(Mutex<BTreeMap<String, (i64, String)>>);

impl Desk {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, (i64, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Types until a moment; then every document is closed.
pub(super) async fn types(world: Arc<World>, mut dice: Rng, until: Instant) {
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(dice.u64(5..150))).await;
        world.counts.document_changes.up();
        act(&world, &mut dice);
    }
    let mut open = world.desk.open();
    for path in std::mem::take(&mut *open).into_keys() {
        close(&world, &path);
    }
}

fn act(world: &World, dice: &mut Rng) {
    let (path, mut open) = (file(dice), world.desk.open());
    let on_disk = world.home().workspace().join(&path);
    let uri = world.home().file_uri(&path);
    let Some((version, text)) = open.get_mut(&path) else {
        // What is no text, or not there, is not opened.
        if let Ok(text) = std::fs::read_to_string(on_disk) {
            world.editor.open(&uri, &text);
            open.insert(path, (1, text));
        }
        return;
    };
    match dice.usize(..10) {
        0 => {
            open.remove(&path);
            close(world, &path);
        }
        1 => {
            // A folder of the agent's may stand there by now.
            let _ = std::fs::write(on_disk, &*text);
            world.editor.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
        }
        2 => {
            (*version, *text) = (*version + 1, format!("typed anew, {version}\n"));
            world.editor.change(&uri, *version, json!([{"text": text}]));
        }
        _ => {
            *version += 1;
            let typed = format!("typed {version}\n");
            text.insert_str(0, &typed);
            let here = json!({"line": 0, "character": 0});
            world.editor.change(
                &uri,
                *version,
                json!([{"range": {"start": here, "end": here}, "text": typed}]),
            );
        }
    }
}

fn close(world: &World, path: &str) {
    let uri = world.home().file_uri(path);
    world.editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
}

/// Makes the edits that the server asks for, as long as it is let.
pub(super) async fn make_edits(world: Arc<World>) {
    loop {
        let asked = |message: &Value| message["method"] == "workspace/applyEdit";
        // It may take longer than any deadline until one is asked for.
        world.editor.arrived(asked).await;
        let request = world.editor.next_server_request("workspace/applyEdit").await;
        let changes = request.params["edit"]["documentChanges"].as_array().cloned().unwrap_or_default();
        let refused = changes.iter().find_map(|change| edit(&world, change).err());
        request.respond(match refused {
            None => json!({"applied": true}),
            Some(why) => json!({"applied": false, "failureReason": why}),
        });
    }
}

fn edit(world: &World, change: &Value) -> Result<(), String> {
    let mut open = world.desk.open();
    let uri = change["textDocument"]["uri"].as_str().ok_or("only documents are edited")?;
    let document = open.iter_mut().find(|(path, _)| world.home().file_uri(path) == uri);
    let (version, text) = document.ok_or("it is not open")?.1;
    if change["textDocument"]["version"] != *version {
        return Err(format!("it is at version {version}"));
    }
    let mut edits = Vec::new();
    for edit in change["edits"].as_array().into_iter().flatten() {
        let place = |end: &str| offset(text, &edit["range"][end]);
        edits.push((place("start")..place("end"), edit["newText"].as_str().unwrap_or_default().to_owned()));
    }
    // From the last to the first, so that none moves another.
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, new) in edits {
        text.replace_range(range, &new);
    }
    *version += 1;
    world.editor.change(uri, *version, json!([{"text": text}]));
    Ok(())
}

/// All texts are ASCII, so a character is a byte.
fn offset(text: &str, position: &Value) -> usize {
    let number =
        |name: &str| position[name].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
    let before: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    (before + number("character")).min(text.len())
}
