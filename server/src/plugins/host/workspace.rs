//! `workspace`: files as the agent sees them, and edits that wait for review.

use super::{HostState, apart, error, passing, wit};
use crate::limits::{PLUGIN_GLOB_MAX, PLUGIN_GREP_MAX, VIEW_CONTENT_MAX_BYTES};
use crate::paths::WorkspacePath;
use crate::plugins::powers::WorkspacePower;
use crate::view::SessionView;
use airlock_guest::{Answer, Call, FoundLine, LinkError, Said};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use wit::types::ToolError;
use wit::workspace::Match;

type Result<T> = std::result::Result<T, ToolError>;

impl wit::workspace::Host for HostState {
    async fn read(&mut self, path: String) -> wasmtime::Result<Result<Vec<u8>>> {
        Ok(self.read_file(&path).await)
    }

    async fn glob(&mut self, pattern: String) -> wasmtime::Result<Result<Vec<String>>> {
        Ok(self.find_files(pattern).await)
    }

    async fn grep(&mut self, pattern: String, files: String) -> wasmtime::Result<Result<Vec<Match>>> {
        Ok(self.search(pattern, files).await)
    }

    async fn propose_edit(&mut self, path: String, content: Vec<u8>) -> wasmtime::Result<Result<()>> {
        Ok(self.propose(&path, content).await)
    }
}

impl HostState {
    async fn read_file(&mut self, untrusted_path: &str) -> Result<Vec<u8>> {
        self.may(WorkspacePower::Read)?;
        let path = inside(untrusted_path)?.to_string();
        Ok(self.ask(Call::Fetch { path }, None).await?.1)
    }

    async fn find_files(&mut self, pattern: String) -> Result<Vec<String>> {
        self.may(WorkspacePower::Read)?;
        let found = self.ask(Call::Glob { pattern, paths_max: PLUGIN_GLOB_MAX }, None).await?;
        whole(found, || format!("more than {PLUGIN_GLOB_MAX} files match: narrow the pattern"))
    }

    async fn search(&mut self, pattern: String, files: String) -> Result<Vec<Match>> {
        self.may(WorkspacePower::Read)?;
        let glob = Some(files).filter(|files| !files.is_empty());
        let found = self.ask(Call::Grep { pattern, glob, matches_max: PLUGIN_GREP_MAX }, None).await?;
        let lines: Vec<FoundLine> =
            whole(found, || format!("more than {PLUGIN_GREP_MAX} lines match: narrow the pattern"))?;
        Ok(lines.into_iter().map(|FoundLine { path, line, text }| Match { path, line, text }).collect())
    }

    async fn propose(&mut self, untrusted_path: &str, content: Vec<u8>) -> Result<()> {
        self.may(WorkspacePower::Propose)?;
        let path = inside(untrusted_path)?;
        if content.len() > VIEW_CONTENT_MAX_BYTES {
            return Err(error("too-large", format!("a file may have {VIEW_CONTENT_MAX_BYTES} bytes")));
        }
        self.ask(Call::Write { path: path.to_string() }, Some(content)).await.map(drop)
    }

    /// The session's view, with its sandbox.
    pub(super) fn view(&self) -> Result<Arc<SessionView>> {
        self.context.view.clone().ok_or_else(|| error("unavailable", "there is no workspace here"))
    }

    /// Asks the guest, whose view is as fresh as the user's own.
    async fn ask(&mut self, call: Call, content: Option<Vec<u8>>) -> Result<(Answer, Vec<u8>)> {
        let (view, cancel) = (self.view()?, self.context.cancel.clone());
        apart(async move {
            match cancel.run_until_cancelled(ask(&view, &call, content.as_deref())).await {
                Some(answer) => answer,
                None => Err(error("cancelled", "the user stopped the turn")),
            }
        })
        .await
    }
}

async fn ask(view: &SessionView, call: &Call, content: Option<&[u8]>) -> Result<(Answer, Vec<u8>)> {
    let sandbox = view
        .ready()
        .await
        .map_err(|why| passing("unavailable", format!("there is no sandbox, and so no files: {why}")))?;
    let asked = async {
        let mut stream = sandbox.link().call(call).await?;
        if let Some(content) = content {
            stream.send(content).await?;
        }
        let mut data = Vec::new();
        loop {
            match stream.next().await? {
                Said::Data(piece) => data.extend(piece),
                Said::Answer(answer) => return Ok((answer, data)),
                Said::Stdout(_) | Said::Stderr(_) => {}
            }
        }
    };
    asked.await.map_err(|why: LinkError| match why {
        LinkError::Refused(why) if why.contains("No such file") => error("not-found", why),
        LinkError::Refused(why) => error("failed", why),
        LinkError::Broken(_) => passing("unavailable", why.to_string()),
    })
}

fn inside(untrusted_path: &str) -> Result<WorkspacePath> {
    WorkspacePath::parse(untrusted_path).map_err(|why| error("invalid", why.to_string()))
}

/// What was found, when that is all there is.
fn whole<T: DeserializeOwned>(
    (answer, data): (Answer, Vec<u8>),
    too_much: impl FnOnce() -> String,
) -> Result<T> {
    match answer {
        Answer::Found { cut: true } => Err(error("too-large", too_much())),
        Answer::Found { cut: false } => {
            serde_json::from_slice(&data).map_err(|why| error("failed", why.to_string()))
        }
        other => Err(error("failed", format!("the sandbox gave an answer that does not fit: {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sandbox_cut_is_an_error_and_never_taken_for_all() {
        let found = |cut| (Answer::Found { cut }, b"[\"a\",\"b\"]".to_vec());
        let all: Vec<String> = whole(found(false), || "more".to_owned()).unwrap();
        assert_eq!(all, ["a", "b"]);
        let cut = whole::<Vec<String>>(found(true), || "more".to_owned()).unwrap_err();
        assert_eq!((cut.code.as_str(), cut.message.as_str()), ("too-large", "more"));
    }
}
