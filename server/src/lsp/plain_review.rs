//! Review in editors that know nothing of the extension: a message with the choices, and a document with the changes.

use super::plain::show_document;
use super::protocol::Reviewed;
use super::question::{self, NoAnswer};
use super::server::Shared;
use crate::agent::Session;
use crate::review::{Outcome, Selection};
use crate::storage;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::ls_types::request::ShowMessageRequest;
use tower_lsp::ls_types::{MessageActionItem, MessageType, ShowMessageRequestParams};

const ACCEPT: &str = "Accept all";
const REVIEW: &str = "Review";
const DISCARD: &str = "Discard";

/// Offers what waits for review.
pub(super) async fn offer(shared: Arc<Shared>, session: Arc<Session>) {
    let listing = match session.changes().await {
        Ok(listing) => listing,
        Err(why) => return shared.client.show_message(MessageType::ERROR, format!("Airlock: {why}")).await,
    };
    session.display(&listing);
    let what = match listing.changes.len() {
        0 => return,
        1 => "one file".to_owned(),
        files => format!("{files} files"),
    };
    drop(listing);
    let mut choices = vec![ACCEPT, REVIEW, DISCARD];
    let message = format!("Airlock changed {what}. Your own files are as they were.");
    loop {
        let chosen = match ask(&shared, &message, &choices).await {
            Ok(chosen) => chosen,
            Err(NoAnswer::Unknown) => return say_how(&shared, &message).await,
            Err(NoAnswer::Failed) => return,
        };
        match chosen {
            Some(title) if title == ACCEPT => {
                let accepted = session.accept_changes(&Selection::all(session.displayed())).await;
                return tell(&shared, "accepted", accepted).await;
            }
            Some(title) if title == DISCARD => {
                let rejected = session.reject_changes(&Selection::all(session.displayed())).await;
                return tell(&shared, "discarded", rejected).await;
            }
            Some(title) if title == REVIEW => {
                show_changes(&shared, &session).await;
                choices.retain(|choice| *choice != REVIEW);
            }
            _ => return,
        }
    }
}

/// For an editor that cannot ask: what the user can do by themselves.
async fn say_how(shared: &Shared, message: &str) {
    // A session that is open here cannot be reviewed from elsewhere.
    let how = "The commands airlock.accept and airlock.reject take or discard all of it; `airlock review` in a terminal \
               goes through it after you closed the editor";
    shared.client.show_message(MessageType::INFO, format!("{message} {how}")).await;
}

/// What was chosen, if anything.
async fn ask(shared: &Shared, message: &str, choices: &[&str]) -> Result<Option<String>, NoAnswer> {
    let action =
        |title: &&str| MessageActionItem { title: (*title).to_owned(), properties: Default::default() };
    let params = ShowMessageRequestParams {
        typ: MessageType::INFO,
        message: message.to_owned(),
        actions: Some(choices.iter().map(action).collect()),
    };
    let deadline = Duration::from_secs(shared.agent.settings().permission_timeout_s);
    let asked = question::ask::<ShowMessageRequest>(&shared.client, params);
    let answer = tokio::time::timeout(deadline, asked).await.map_err(|_| NoAnswer::Failed)??;
    Ok(answer.map(|chosen| chosen.title))
}

/// Opens the changes as a document.
async fn show_changes(shared: &Shared, session: &Session) {
    let listing = match session.changes().await {
        Ok(listing) => listing,
        Err(why) => return shared.client.show_message(MessageType::ERROR, format!("Airlock: {why}")).await,
    };
    session.display(&listing);
    let mut text = String::new();
    for change in &listing.changes {
        // Writing to a string cannot fail.
        let _ = write!(text, "--- {0}\n+++ {0}\n{1}", change.path, change.text());
    }
    for remark in &listing.remarks {
        let _ = writeln!(text, "{remark}");
    }
    let folder = shared.agent.environment().state_dir.join("answers");
    let path = folder.join(format!("{}.diff", session.id()));
    match storage::replace(&path, text.as_bytes()) {
        Ok(()) => show_document(shared, &path, &text).await,
        Err(error) => {
            let message = format!("Airlock: {}: {error}", path.display());
            shared.client.show_message(MessageType::ERROR, message).await;
        }
    }
}

/// What became of `airlock.accept` or `airlock.reject`: an editor shows nothing of what a command answers.
pub(super) async fn tell_all(shared: &Shared, command: &str, reviewed: &Reviewed) {
    let done = if command == "airlock.accept" { "accepted" } else { "discarded" };
    let mut text = match &reviewed.done[..] {
        [] => format!("nothing was {done}"),
        paths => format!("{done}: {}", paths.join(", ")),
    };
    for failed in &reviewed.failed {
        let _ = write!(text, "; not {}: {}", failed.path, failed.why);
    }
    let kind = if reviewed.failed.is_empty() { MessageType::INFO } else { MessageType::WARNING };
    shared.client.show_message(kind, format!("Airlock: {text}")).await;
}

async fn tell(shared: &Shared, done: &str, outcome: Result<Outcome, String>) {
    let (kind, message) = match outcome {
        Err(why) => (MessageType::ERROR, why),
        Ok(outcome) if outcome.failed.is_empty() => return,
        Ok(outcome) => {
            let failed: Vec<String> =
                outcome.failed.iter().map(|(path, why)| format!("{path}: {why}")).collect();
            (MessageType::WARNING, format!("not all was {done}: {}", failed.join("; ")))
        }
    };
    shared.client.show_message(kind, format!("Airlock: {message}")).await;
}
