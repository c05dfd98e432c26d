//! The host of a case of `airlock plugin test`: it answers what the case says.

use super::denied::Denied;
use super::{CallContext, error, wit};
use crate::paths::WorkspacePath;
use crate::plugins::http_target::Target;
use crate::plugins::powers::{Powers, WorkspacePower};
use crate::plugins::rehearsal::{Rehearsal, RehearsedAnswer, RehearsedCommand, Stage};
use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use serde_json::Value;
use wit::types::ToolError;
use wit::{editor, exec, http, kv, workspace};

/// Answers what a case says, within what the plugin was granted.
pub(super) struct Staged {
    pub(super) stage: Stage,
    pub(super) powers: Powers,
    pub(super) denied: Denied,
}

type Answer<T> = wasmtime::Result<Result<T, ToolError>>;

impl Staged {
    /// For a call that may be in a case; in all others nothing is linked to it.
    pub(super) fn of(context: &CallContext, denied: Denied) -> Self {
        let stage = context.stage.clone();
        let powers = if stage.is_some() { context.powers.clone() } else { Powers::default() };
        Self { stage: stage.unwrap_or_default(), powers, denied }
    }

    fn may(&self, power: WorkspacePower) -> Result<(), ToolError> {
        if self.powers.workspace.contains(&power) {
            return Ok(());
        }
        Err(self.denied.error(&format!("workspace:{}", power.as_str())))
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.may(WorkspacePower::Read)?;
        let path = inside(path)?;
        let (world, told) = &*self.stage.lock();
        let content = told.proposed.get(&path).or_else(|| world.files.get(&path));
        let content = content.ok_or_else(|| error("not-found", format!("there is no file {path}")))?;
        Ok(content.clone().into_bytes())
    }

    fn files(&self, pattern: &str) -> Result<Vec<(String, String)>, ToolError> {
        self.may(WorkspacePower::Read)?;
        let pattern = glob(pattern)?;
        let (world, _) = &*self.stage.lock();
        let files = world.files.iter().filter(|(path, _)| pattern.is_match(path));
        Ok(files.map(|(path, text)| (path.clone(), text.clone())).collect())
    }

    fn matches(&self, pattern: &str, files: &str) -> Result<Vec<workspace::Match>, ToolError> {
        let pattern = Regex::new(pattern).map_err(|why| error("invalid", why.to_string()))?;
        let mut found = Vec::new();
        for (path, text) in self.files(if files.is_empty() { "**" } else { files })? {
            for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| pattern.is_match(text)) {
                found.push(workspace::Match { path: path.clone(), line, text: text.to_owned() });
            }
        }
        Ok(found)
    }

    fn propose(&self, path: &str, content: Vec<u8>) -> Result<(), ToolError> {
        self.may(WorkspacePower::Propose)?;
        let content = String::from_utf8_lossy(&content).into_owned();
        self.stage.lock().1.proposed.insert(inside(path)?, content);
        Ok(())
    }

    fn send(&self, request: &http::Request) -> Result<http::Response, ToolError> {
        let method = reqwest::Method::from_bytes(request.method.as_bytes())
            .map_err(|_| error("invalid", format!("{:?} is no method", request.method)))?;
        Target::check(&request.url, &method, &self.powers)
            .map_err(|why| super::http::refused(&self.denied, why))?;
        let asked = format!("{method} {}", request.url);
        let (world, told) = &mut *self.stage.lock();
        told.requests.push(asked.clone());
        let fits = |answer: &&RehearsedAnswer| answer.method == request.method && answer.url == request.url;
        let Some(answer) = world.http.iter().find(fits) else {
            return Err(error("unavailable", format!("the case tells no answer to {asked}")));
        };
        let headers = answer.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let body = match &answer.body {
            Value::Null => Vec::new(),
            Value::String(text) => text.clone().into_bytes(),
            data => data.to_string().into_bytes(),
        };
        Ok(http::Response { status: answer.status, headers, body })
    }

    fn execute(&self, command: String) -> Result<exec::Outcome, ToolError> {
        let (world, told) = &mut *self.stage.lock();
        let found = world.exec.iter().find(|rehearsed| rehearsed.command == command).cloned();
        let missing = format!("the case tells nothing of the command {command:?}");
        told.ran.push(command);
        let RehearsedCommand { exit_code, output, .. } = found.ok_or_else(|| error("failed", missing))?;
        Ok(exec::Outcome { exit_code: Some(exit_code), output, cut: false })
    }

    fn of_editor(&self, what: impl FnOnce(&Rehearsal) -> Value) -> Answer<String> {
        Ok(Ok(what(&self.stage.lock().0).to_string()))
    }
}

impl workspace::Host for Staged {
    async fn read(&mut self, path: String) -> Answer<Vec<u8>> {
        Ok(self.file(&path))
    }

    async fn glob(&mut self, pattern: String) -> Answer<Vec<String>> {
        Ok(self.files(&pattern).map(|files| files.into_iter().map(|(path, _)| path).collect()))
    }

    async fn grep(&mut self, pattern: String, files: String) -> Answer<Vec<workspace::Match>> {
        Ok(self.matches(&pattern, &files))
    }

    async fn propose_edit(&mut self, path: String, content: Vec<u8>) -> Answer<()> {
        Ok(self.propose(&path, content))
    }
}

impl editor::Host for Staged {
    async fn diagnostics(&mut self) -> Answer<String> {
        self.of_editor(|world| Value::Array(world.editor.diagnostics.clone()))
    }

    async fn open_documents(&mut self) -> Answer<String> {
        self.of_editor(|world| Value::Array(world.editor.open_documents.clone()))
    }

    async fn selection(&mut self) -> Answer<String> {
        self.of_editor(|world| world.editor.selection.clone())
    }
}

impl exec::Host for Staged {
    async fn run(&mut self, command: String, _: u32) -> Answer<exec::Outcome> {
        Ok(self.execute(command))
    }
}

impl http::Host for Staged {
    async fn send(&mut self, request: http::Request) -> Answer<http::Response> {
        Ok(Staged::send(self, &request))
    }
}

impl kv::Host for Staged {
    async fn get(&mut self, key: String) -> Answer<Option<Vec<u8>>> {
        Ok(Ok(self.stage.lock().1.kv.get(&key).map(|value| value.clone().into_bytes())))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> Answer<()> {
        self.stage.lock().1.kv.insert(key, String::from_utf8_lossy(&value).into_owned());
        Ok(Ok(()))
    }

    async fn delete(&mut self, key: String) -> Answer<()> {
        self.stage.lock().1.kv.remove(&key);
        Ok(Ok(()))
    }

    async fn list(&mut self, prefix: String) -> Answer<Vec<String>> {
        let told = &self.stage.lock().1;
        Ok(Ok(told.kv.keys().filter(|key| key.starts_with(&prefix)).cloned().collect()))
    }
}

fn inside(untrusted_path: &str) -> Result<String, ToolError> {
    let path = WorkspacePath::parse(untrusted_path).map_err(|why| error("invalid", why.to_string()))?;
    Ok(path.to_string())
}

fn glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    Ok(glob.map_err(|why| error("invalid", why.to_string()))?.compile_matcher())
}
