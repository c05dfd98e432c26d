//! The stub in the place of what was not granted: it names the grant and how to get it.

use super::wit::{editor, exec, http, kv, types::ToolError, workspace};
use crate::plugins::powers::Powers;
use std::sync::Arc;

/// Answers "denied" to everything.
#[derive(Clone)]
pub(super) struct Denied {
    pub(super) plugin: Arc<str>,
    pub(super) asks: Arc<Powers>,
}

impl Denied {
    /// Why the part of this name is not there, and how to get it.
    pub(super) fn error(&self, word: &str) -> ToolError {
        let Self { plugin, asks } = self;
        let message = if asks.part(word).is_some() {
            format!(
                "the plugin {plugin} has no grant {word}; only the user can give it, with `airlock plugin grant \
                 {plugin} {word}`"
            )
        } else {
            format!(
                "the plugin {plugin} has no grant {word}, and does not ask for it: its author adds it to [wants] in \
                 its plugin.toml"
            )
        };
        super::error("denied", message)
    }
}

type Answer<T> = wasmtime::Result<Result<T, ToolError>>;

impl workspace::Host for Denied {
    async fn read(&mut self, _: String) -> Answer<Vec<u8>> {
        Ok(Err(self.error("workspace:read")))
    }

    async fn glob(&mut self, _: String) -> Answer<Vec<String>> {
        Ok(Err(self.error("workspace:read")))
    }

    async fn grep(&mut self, _: String, _: String) -> Answer<Vec<workspace::Match>> {
        Ok(Err(self.error("workspace:read")))
    }

    async fn propose_edit(&mut self, _: String, _: Vec<u8>) -> Answer<()> {
        Ok(Err(self.error("workspace:propose")))
    }
}

impl editor::Host for Denied {
    async fn diagnostics(&mut self) -> Answer<String> {
        Ok(Err(self.error("editor")))
    }

    async fn open_documents(&mut self) -> Answer<String> {
        Ok(Err(self.error("editor")))
    }

    async fn selection(&mut self) -> Answer<String> {
        Ok(Err(self.error("editor")))
    }
}

impl exec::Host for Denied {
    async fn run(&mut self, _: String, _: u32) -> Answer<exec::Outcome> {
        Ok(Err(self.error("exec")))
    }
}

impl http::Host for Denied {
    async fn send(&mut self, request: http::Request) -> Answer<http::Response> {
        let origin = reqwest::Url::parse(&request.url).map(|url| crate::plugins::origin::Origin::of(&url));
        Ok(Err(match origin {
            Ok(origin) => self.error(&format!("http:{origin}")),
            Err(_) => self.error("http"),
        }))
    }
}

impl kv::Host for Denied {
    async fn get(&mut self, _: String) -> Answer<Option<Vec<u8>>> {
        Ok(Err(self.error("kv")))
    }

    async fn set(&mut self, _: String, _: Vec<u8>) -> Answer<()> {
        Ok(Err(self.error("kv")))
    }

    async fn delete(&mut self, _: String) -> Answer<()> {
        Ok(Err(self.error("kv")))
    }

    async fn list(&mut self, _: String) -> Answer<Vec<String>> {
        Ok(Err(self.error("kv")))
    }
}
