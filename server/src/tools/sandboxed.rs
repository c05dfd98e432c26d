//! What the tools that act in the sandbox share.

use super::{ToolContext, ToolOutcome};
use crate::paths::WorkspacePath;
use crate::sandbox::Sandbox;
use airlock_guest::{Answer, Call, LinkError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// The input as the tool's own type. The schema was checked before, so a failure is a schema that says too little.
pub(super) fn parse<T: DeserializeOwned>(input: Value) -> Result<T, ToolOutcome> {
    serde_json::from_value(input)
        .map_err(|error| ToolOutcome::error(format!("the input cannot be used: {error}")))
}

/// A path that the model wrote: inside the workspace, or refused. `/workspace/…` is where it sees its files, so that
/// is taken as what it means.
pub(super) fn path(untrusted_path: &str) -> Result<String, ToolOutcome> {
    let inside =
        untrusted_path.strip_prefix("/workspace").filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let relative = inside.map_or(untrusted_path, |rest| rest.trim_start_matches('/'));
    let path = WorkspacePath::parse(relative).map_err(|error| ToolOutcome::error(error.to_string()))?;
    Ok(path.as_str().to_owned())
}

/// The sandbox; without one, an error that the model can read.
pub(super) async fn sandbox(context: &ToolContext) -> Result<Arc<Sandbox>, ToolOutcome> {
    context.view.ready().await.map_err(|error| {
        let text = format!(
            "there is no sandbox, so nothing can run: {error}. Answer without tools, and tell the user what is missing"
        );
        ToolOutcome::error(text)
    })
}

/// Makes a call whose answer is all there is to it. A cancel drops it, which ends it in the sandbox too.
pub(super) async fn ask(
    context: &ToolContext,
    call: &Call,
    content: Option<&[u8]>,
) -> Result<Answer, ToolOutcome> {
    let sandbox = sandbox(context).await?;
    let asked = context.cancel.run_until_cancelled(sandbox.link().ask(call, content)).await;
    match asked {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(error)) => Err(failed(&sandbox, &error)),
        None => Err(ToolOutcome::error("stopped by the user")),
    }
}

/// What the guest or the link said, for the model.
pub(super) fn failed(sandbox: &Sandbox, error: &LinkError) -> ToolOutcome {
    let LinkError::Broken(broken) = error else { return ToolOutcome::error(error.to_string()) };
    let why = match sandbox.last_words() {
        _ if broken.kind() == std::io::ErrorKind::TimedOut => "it did not answer any more".to_owned(),
        said if said.is_empty() => {
            "perhaps because it ran out of memory or was killed from inside".to_owned()
        }
        said => said,
    };
    ToolOutcome::error(format!(
        "the sandbox ended in the middle of this call: {why}. The next call gets a fresh one; files of the workspace are \
         as they were left, what ran in the background is gone"
    ))
}

/// An answer that does not fit its call.
pub(super) fn unexpected(answer: &Answer) -> ToolOutcome {
    ToolOutcome::error(format!("the sandbox gave an answer that does not fit: {answer:?}"))
}
