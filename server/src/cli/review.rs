//! `airlock review`: goes through what the agent changed in a session, in this terminal.

use super::arguments::ReviewArguments;
use super::chat::Conversation;
use super::exit::Exit;
use super::paint::Paint;
use super::{fail, interactive};
use crate::environment::Environment;
use crate::neutral::{neutral, neutral_line};
use crate::review::Listing;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

/// Runs `airlock review`.
pub(super) async fn run(environment: Environment, arguments: ReviewArguments) -> Exit {
    match review(environment, arguments).await {
        Ok(exit) => exit,
        Err(error) => fail(&error),
    }
}

async fn review(environment: Environment, arguments: ReviewArguments) -> anyhow::Result<Exit> {
    let Some(conversation) =
        Conversation::to_review(environment, arguments.workspace, arguments.session).await?
    else {
        writeln!(io::stdout(), "Nothing waits for review.")?;
        return Ok(Exit::Well);
    };
    let agent = Arc::clone(&conversation.agent);
    let exit = if io::stdin().is_terminal() && io::stdout().is_terminal() {
        interactive::run_once(conversation, "/review".to_owned()).await
    } else {
        let listing = conversation.session.changes().await.map_err(anyhow::Error::msg)?;
        let paint = Paint::of_stream(agent.environment(), io::stdout().is_terminal());
        io::stdout().write_all(text(&listing, paint).as_bytes())?;
        Exit::Well
    };
    agent.close().await;
    Ok(exit)
}

/// All changes as one text.
fn text(listing: &Listing, paint: Paint) -> String {
    let mut text = String::new();
    for change in &listing.changes {
        let path = neutral_line(change.path.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", paint.bold(&path));
        text.push_str(&paint.diff(&neutral(&change.text())));
    }
    for remark in &listing.remarks {
        let _ = writeln!(text, "{}", neutral(remark));
    }
    text
}
