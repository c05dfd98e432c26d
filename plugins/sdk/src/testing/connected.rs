//! The functions of the host, answered by the [`Host`] that the thread runs with.

use super::{Host, World};
use crate::error::{Error, Kind, Result};
use crate::exec::Outcome;
use crate::http::{Request, Response};
use crate::workspace::Match;
use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use std::cell::RefCell;

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
}

/// Runs something with this host, and leaves the thread as it was, even when it panics.
pub(super) fn to<T>(host: &Host, call: impl FnOnce() -> T) -> T {
    struct Before(Option<Host>);
    impl Drop for Before {
        fn drop(&mut self) {
            HOST.set(self.0.take());
        }
    }
    let _before = Before(HOST.replace(Some(host.clone())));
    call()
}

#[allow(clippy::panic, reason = "a test that lacks a host fails, and says what to do")]
fn ask<T>(question: impl FnOnce(&mut World) -> T) -> T {
    match HOST.with_borrow(Clone::clone) {
        Some(host) => question(&mut host.0.borrow_mut()),
        None => panic!("there is no host here: call it within airlock_plugin::testing::Host::run"),
    }
}

pub(crate) fn log_write(level: &str, line: &str) {
    ask(|world| world.log.push(format!("{level}: {line}")));
}

pub(crate) fn run_cancelled() -> bool {
    ask(|world| world.cancelled)
}

pub(crate) fn run_progress(text: &str) {
    ask(|world| world.progress.push(text.to_owned()));
}

pub(crate) fn run_config() -> String {
    ask(|world| world.config.clone()).unwrap_or_else(|| "{}".to_owned())
}

pub(crate) fn workspace_read(path: &str) -> Result<Vec<u8>> {
    ask(|world| {
        world.granted("workspace")?;
        let content = world.proposed.get(path).or_else(|| world.files.get(path));
        content.cloned().ok_or_else(|| Error::not_found(format!("there is no file {path}")))
    })
}

pub(crate) fn workspace_glob(pattern: &str) -> Result<Vec<String>> {
    ask(|world| {
        world.granted("workspace")?;
        let pattern = glob(pattern)?;
        Ok(world.files.keys().filter(|path| pattern.is_match(path)).cloned().collect())
    })
}

pub(crate) fn workspace_grep(pattern: &str, files: &str) -> Result<Vec<Match>> {
    ask(|world| {
        world.granted("workspace")?;
        let pattern = Regex::new(pattern).map_err(|error| Error::invalid(error.to_string()))?;
        let files = glob(if files.is_empty() { "**" } else { files })?;
        let mut found = Vec::new();
        for (path, content) in world.files.iter().filter(|(path, _)| files.is_match(path)) {
            for (line, text) in (1..).zip(String::from_utf8_lossy(content).lines()) {
                if pattern.is_match(text) {
                    found.push(Match { path: path.clone(), line, text: text.to_owned() });
                }
            }
        }
        Ok(found)
    })
}

fn glob(pattern: &str) -> Result<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    Ok(glob.map_err(|error| Error::invalid(error.to_string()))?.compile_matcher())
}

pub(crate) fn workspace_propose_edit(path: &str, content: &[u8]) -> Result<()> {
    ask(|world| {
        world.granted("propose")?;
        world.proposed.insert(path.to_owned(), content.to_vec());
        Ok(())
    })
}

pub(crate) fn editor_diagnostics() -> Result<String> {
    of_editor(|world| &world.diagnostics, "[]")
}

pub(crate) fn editor_open_documents() -> Result<String> {
    of_editor(|world| &world.open_documents, "[]")
}

pub(crate) fn editor_selection() -> Result<String> {
    of_editor(|world| &world.selection, "null")
}

fn of_editor(what: impl FnOnce(&World) -> &Option<String>, nothing: &str) -> Result<String> {
    ask(|world| {
        world.granted("editor")?;
        Ok(what(world).clone().unwrap_or_else(|| nothing.to_owned()))
    })
}

pub(crate) fn exec_run(command: &str, _: u32) -> Result<Outcome> {
    ask(|world| {
        world.granted("exec")?;
        world.ran.push(command.to_owned());
        let outcome = world.commands.get(command).cloned();
        outcome.ok_or_else(|| Error::failed(format!("the test tells nothing of the command {command:?}")))
    })
}

pub(crate) fn http_send(request: Request) -> Result<Response> {
    ask(|world| {
        world.granted("http")?;
        let key = (request.method.clone(), request.url.clone());
        world.requests.push(request);
        let answer = world.answers.get(&key).cloned();
        answer.ok_or_else(|| {
            Error::new(Kind::Unavailable, format!("the test tells no answer to {} {}", key.0, key.1))
        })
    })
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Vec<u8>>> {
    ask(|world| world.granted("kv").map(|()| world.store.get(key).cloned()))
}

pub(crate) fn kv_set(key: &str, value: &[u8]) -> Result<()> {
    ask(|world| {
        world.granted("kv")?;
        world.store.insert(key.to_owned(), value.to_vec());
        Ok(())
    })
}

pub(crate) fn kv_delete(key: &str) -> Result<()> {
    ask(|world| {
        world.granted("kv")?;
        world.store.remove(key);
        Ok(())
    })
}

pub(crate) fn kv_list(prefix: &str) -> Result<Vec<String>> {
    ask(|world| {
        world.granted("kv")?;
        Ok(world.store.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
    })
}
