//! Histories on a disk that fails at any operation, and loses in a power cut what was not synced.

use airlock::agent::history::{Entry, Header, HistoryFolder};
use airlock::conversation::Message;
use airlock::environment::Environment;
use airlock_tests::failing_disk::{FailingDisk, Fault, at_every_operation};
use jiff::Zoned;

fn folder(disk: &FailingDisk) -> HistoryFolder {
    HistoryFolder::of(&Environment::for_test(&disk.path().join("home"), &[]), None)
}

fn header() -> Entry {
    let (title, model, system) = ("title".into(), "m".into(), "s".into());
    Entry::Session(Header { version: Header::VERSION, title, model, system, tools: vec![] })
}

/// What is said, long enough that it is more than a block.
fn message(number: usize) -> Message {
    Message::user(format!("{number} {}", "word ".repeat(2000)))
}

/// Says `from..to`, and gives which of them were said to be kept.
async fn say(
    history: &airlock::agent::history::History,
    messages: std::ops::Range<usize>,
) -> Vec<(usize, bool)> {
    let mut kept = Vec::new();
    for number in messages {
        let saved = history.append(Entry::Message(message(number))).await.await;
        kept.push((number, saved.is_ok_and(|saved| saved.is_ok())));
    }
    kept
}

/// Says three things on a good day and three on a bad one, and loads what a power cut leaves of that.
fn nothing_that_was_said_to_be_kept_is_lost(fault: Fault, good_first: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    at_every_operation(|well| {
        runtime.block_on(async {
            let disk = FailingDisk::mount();
            disk.folder("home");
            if good_first == 0 {
                disk.fails(fault, well);
            }
            let Ok(history) = folder(&disk).create(&Zoned::now(), &|_| false) else {
                // Told, and the conversation goes on without one.
                return disk.cut_power();
            };
            let id = history.id().to_owned();
            let begun = history.append(header()).await.await.is_ok_and(|saved| saved.is_ok());
            let mut kept = say(&history, 0..good_first).await;
            if good_first > 0 {
                disk.fails(fault, well);
            }
            kept.extend(say(&history, good_first..good_first + 3).await);
            history.close().await;
            let failed = disk.cut_power();
            let at = format!("{fault:?} after {well} operations; begun: {begun}, kept: {kept:?}");
            let sure = kept.iter().filter(|(_, kept)| *kept).map(|(number, _)| number + 1).max().unwrap_or(0);
            match folder(&disk).open(&id) {
                Ok((history, loaded)) => {
                    assert_eq!(loaded.lost_lines, 0, "{at}");
                    let there = loaded.conversation.len();
                    assert!(there >= sure, "{there} of {sure} are there: {at}");
                    let said: Vec<Message> = (0..there).map(message).collect();
                    assert!(loaded.conversation == said, "in order, whole, without a hole: {at}");
                    let again = say(&history, there..there + 1).await;
                    assert!(again[0].1, "a good day after a bad one: {at}");
                    history.close().await;
                }
                Err(error) => assert!(sure == 0 && !begun, "{error}: {at}"),
            }
            failed
        })
    });
}

#[test]
fn one_failed_operation_loses_nothing() {
    nothing_that_was_said_to_be_kept_is_lost(Fault::Once, 0);
    nothing_that_was_said_to_be_kept_is_lost(Fault::Once, 3);
}

#[test]
fn a_disk_that_is_full_keeps_what_it_had() {
    nothing_that_was_said_to_be_kept_is_lost(Fault::Full, 0);
    nothing_that_was_said_to_be_kept_is_lost(Fault::Full, 3);
}

#[test]
fn a_disk_that_dies_keeps_what_was_said_to_be_kept() {
    nothing_that_was_said_to_be_kept_is_lost(Fault::Dies, 0);
    nothing_that_was_said_to_be_kept_is_lost(Fault::Dies, 3);
}
