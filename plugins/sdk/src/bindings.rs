//! The host as a component sees it: what wit-bindgen makes of the interface, behind the functions that the rest of the
//! crate calls. What a plugin does not call is not imported.
//!
//! Two worlds, because a plugin without commands must not export them. Both are joined when the component is made.
#![allow(unsafe_code, reason = "generated code passes memory to and from the host")]

use crate::error::{Error, Result};
use crate::exec::Outcome;
use crate::http::{Request, Response};
use crate::workspace::Match;
use tools_world::airlock::plugin::types::ToolError;
use tools_world::airlock::plugin::{editor, exec, http, kv, log, run, workspace};

#[allow(missing_docs, unreachable_pub)]
pub mod tools_world {
    wit_bindgen::generate!({
        path: "wit",
        world: "plugin",
        pub_export_macro: true,
        export_macro_name: "export_tools",
        default_bindings_module: "airlock_plugin::__private::tools_world",
    });
}

#[allow(missing_docs, unreachable_pub)]
pub mod commands_world {
    wit_bindgen::generate!({
        path: "wit",
        inline: "
            package airlock:sdk;
            world with-commands { export airlock:plugin/commands@0.1.0; }
        ",
        with: { "airlock:plugin/types@0.1.0": crate::bindings::tools_world::airlock::plugin::types },
        pub_export_macro: true,
        export_macro_name: "export_commands",
        default_bindings_module: "airlock_plugin::__private::commands_world",
    });
}

fn of_host(error: ToolError) -> Error {
    Error::of_host(&error.code, error.message, error.retryable)
}

pub(crate) fn log_write(level: &str, line: &str) {
    log::write(level, line);
}

pub(crate) fn run_cancelled() -> bool {
    run::cancelled()
}

pub(crate) fn run_progress(text: &str) {
    run::progress(text);
}

pub(crate) fn run_config() -> String {
    run::config()
}

pub(crate) fn workspace_read(path: &str) -> Result<Vec<u8>> {
    workspace::read(path).map_err(of_host)
}

pub(crate) fn workspace_glob(pattern: &str) -> Result<Vec<String>> {
    workspace::glob(pattern).map_err(of_host)
}

pub(crate) fn workspace_grep(pattern: &str, files: &str) -> Result<Vec<Match>> {
    let found = workspace::grep(pattern, files).map_err(of_host)?.into_iter();
    Ok(found.map(|found| Match { path: found.path, line: found.line, text: found.text }).collect())
}

pub(crate) fn workspace_propose_edit(path: &str, content: &[u8]) -> Result<()> {
    workspace::propose_edit(path, content).map_err(of_host)
}

pub(crate) fn editor_diagnostics() -> Result<String> {
    editor::diagnostics().map_err(of_host)
}

pub(crate) fn editor_open_documents() -> Result<String> {
    editor::open_documents().map_err(of_host)
}

pub(crate) fn editor_selection() -> Result<String> {
    editor::selection().map_err(of_host)
}

pub(crate) fn exec_run(command: &str, timeout_ms: u32) -> Result<Outcome> {
    let outcome = exec::run(command, timeout_ms).map_err(of_host)?;
    Ok(Outcome { exit_code: outcome.exit_code, output: outcome.output, cut: outcome.cut })
}

pub(crate) fn http_send(request: Request) -> Result<Response> {
    let Request { method, url, headers, body } = request;
    let sent = http::send(&http::Request { method, url, headers, body });
    let http::Response { status, headers, body } = sent.map_err(of_host)?;
    Ok(Response { status, headers, body })
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Vec<u8>>> {
    kv::get(key).map_err(of_host)
}

pub(crate) fn kv_set(key: &str, value: &[u8]) -> Result<()> {
    kv::set(key, value).map_err(of_host)
}

pub(crate) fn kv_delete(key: &str) -> Result<()> {
    kv::delete(key).map_err(of_host)
}

pub(crate) fn kv_list(prefix: &str) -> Result<Vec<String>> {
    kv::list(prefix).map_err(of_host)
}
