//! A scripted Claude: the Messages API over real HTTP on loopback, saying what a test tells it to.
//!
//! It checks requests as the API does and refuses what the API would refuse. The official SDK is its referee:
//! see `tests/suite/official_sdk.rs`. It has no globals: start as many as you like, from any process.
//!
//! ```no_run
//! # use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
//! # async fn example() {
//! let claude = ScriptedClaude::start().await;
//! let gate = Gate::new();
//! claude.push(Reply::calls("toolu_1", "bash", serde_json::json!({"command": "ls"})));
//! claude.push(Reply::says("Two ").gate(&gate).more("files."));
//! // … a client of `claude.base_url()` asks …
//! gate.reached().await;
//! gate.open();
//! let requests = claude.wait_for_requests(2).await;
//! claude.finish();
//! # }
//! ```

mod answer;
mod body;
mod fault;
mod gate;
mod models;
mod received;
mod render;
mod reply;
mod script;
mod server;
mod state;
mod usage;
mod validate;
mod whole;

pub use gate::Gate;
pub use received::{Received, assert_append_only, extends};
pub use reply::Reply;

use models::Model;
use script::Script;
use state::Shared;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The handle of a test. When it is dropped the server is gone, and the test fails if a request was unscripted
/// or invalid.
pub struct ScriptedClaude {
    shared: Shared,
    address: SocketAddr,
    server: Mutex<Option<JoinHandle<()>>>,
}

/// The server.
impl ScriptedClaude {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start() -> Self {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// Listens at an address.
    pub async fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("an address to listen at");
        let claude = Self {
            shared: Shared::new(),
            address: listener.local_addr().expect("a bound listener"),
            server: Mutex::new(None),
        };
        claude.serve(listener);
        claude
    }

    /// What `ANTHROPIC_BASE_URL` is to be.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Breaks all connections and refuses new ones.
    pub async fn stop_listening(&self) {
        let server = self.server.lock().expect("no panic under the lock").take();
        if let Some(server) = server {
            server.abort();
            let _ = server.await;
        }
    }

    /// Listens at the same address again.
    pub async fn listen_again(&self) {
        self.stop_listening().await;
        let listener = TcpListener::bind(self.address).await.expect("the address is still free");
        self.serve(listener);
    }

    fn serve(&self, listener: TcpListener) {
        let server = tokio::spawn(server::run(listener, self.shared.clone()));
        *self.server.lock().expect("no panic under the lock") = Some(server);
    }
}

/// What it says.
impl ScriptedClaude {
    /// The next reply. A `&str` is a reply of one text.
    pub fn push(&self, reply: impl Into<Reply>) -> &Self {
        self.shared.with(|state| state.script.push(reply.into()));
        self
    }

    /// The next replies, in order.
    pub fn replies<R: Into<Reply>>(&self, replies: impl IntoIterator<Item = R>) -> &Self {
        for reply in replies {
            self.push(reply);
        }
        self
    }

    /// A reply to one request whose last user message has `marker` in any string: in its text, in a tool's
    /// result or in its id. Such rules go before the queue, the older first.
    pub fn on(&self, marker: &str, reply: impl Into<Reply>) -> &Self {
        let wanted = marker.to_owned();
        let fits = move |request: &Received| request.last_user_text().contains(&wanted);
        let (what, reply) = (format!("{marker:?}"), reply.into());
        self.shared.with(|state| state.script.rule(what, Box::new(fits), reply));
        self
    }

    /// A reply to one request that fits.
    pub fn on_request(
        &self,
        fits: impl Fn(&Received) -> bool + Send + 'static,
        reply: impl Into<Reply>,
    ) -> &Self {
        let (what, reply) = ("a predicate".to_owned(), reply.into());
        self.shared.with(|state| state.script.rule(what, Box::new(fits), reply));
        self
    }

    /// Takes back what was scripted and not asked for.
    pub fn forget_script(&self) -> &Self {
        self.shared.with(|state| state.script = Script::default());
        self
    }

    /// Replies to whatever no rule and no queue answers, any number of times.
    pub fn otherwise(&self, reply: impl FnMut(&Received) -> Option<Reply> + Send + 'static) -> &Self {
        self.shared.with(|state| state.script.otherwise(Box::new(reply)));
        self
    }

    /// A model's numbers; one that is not known yet is added.
    pub fn model(&self, id: &str) -> ModelSetting<'_> {
        self.shared.with(|state| {
            if models::find(&state.models, id).is_err() {
                state.models.push(Model::new(id, 200_000, 64_000, false));
            }
        });
        ModelSetting { claude: self, id: id.to_owned() }
    }

    /// `GET /v1/models…` waits before it answers, from now on.
    pub fn hold_models(&self, gate: &Gate) -> &Self {
        self.shared.with(|state| state.models_held = Some(gate.clone()));
        self
    }

    /// Only this key is accepted.
    pub fn require_key(&self, key: &str) -> &Self {
        self.shared.with(|state| state.key = Some(key.to_owned()));
        self
    }
}

/// What it heard.
impl ScriptedClaude {
    /// Every `POST /v1/messages` so far, those that were refused too.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.with(|state| state.requests.clone())
    }

    /// Forgets what it heard so far, for a test that lasts long.
    pub fn forget_requests(&self) {
        self.shared.with(|state| state.requests.clear());
    }

    /// Those of one conversation: `marker` is in its first message.
    pub fn requests_of(&self, marker: &str) -> Vec<Received> {
        let mut requests = self.requests();
        requests.retain(|request| request.first_user_text().contains(marker));
        requests
    }

    /// Waits until there were at least `count` requests, and gives all.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Received> {
        let what = format!("{count} requests");
        let ready = |state: &state::State| (state.requests.len() >= count).then(|| state.requests.clone());
        self.shared.wait(what, ready).await
    }

    /// Waits until at least `count` replies were abandoned by their clients before their end.
    pub async fn wait_for_hangups(&self, count: usize) {
        let what = format!("{count} clients to hang up");
        self.shared.wait(what, |state| (state.hangups >= count).then_some(())).await;
    }

    /// HTTP requests of any kind so far.
    pub fn hits(&self) -> usize {
        self.shared.with(|state| state.hits)
    }

    /// Takes the list of unscripted and invalid requests, so that they do not fail the test.
    pub fn take_problems(&self) -> Vec<String> {
        self.shared.with(|state| std::mem::take(&mut state.problems))
    }

    /// Ends it, and panics if a request was unscripted or invalid, or a reply was never asked for.
    pub fn finish(self) {
        let unused = self.shared.with(|state| state.script.unused());
        assert!(unused.is_empty(), "the scripted Claude was never asked for {unused:#?}");
    }
}

impl Drop for ScriptedClaude {
    fn drop(&mut self) {
        if let Some(server) = self.server.get_mut().ok().and_then(Option::take) {
            server.abort();
        }
        let problems = self.take_problems();
        if !problems.is_empty() && !std::thread::panicking() {
            panic!("the scripted Claude had problems: {problems:#?}");
        }
    }
}

/// Changes a model that the scripted Claude knows.
pub struct ModelSetting<'a> {
    claude: &'a ScriptedClaude,
    id: String,
}

impl ModelSetting<'_> {
    /// The context's size in tokens.
    pub fn context(self, tokens: u64) -> Self {
        self.change(|model| model.context = tokens)
    }

    /// The most that one answer may have, in tokens.
    pub fn max_tokens(self, tokens: u64) -> Self {
        self.change(|model| model.max_tokens = tokens)
    }

    /// Whether it takes `thinking: {"type": "adaptive"}`.
    pub fn adaptive(self, supported: bool) -> Self {
        self.change(|model| model.adaptive = supported)
    }

    fn change(self, change: impl FnOnce(&mut Model)) -> Self {
        self.claude.shared.with(|state| {
            let model = state.models.iter_mut().find(|model| model.id == self.id);
            change(model.expect("`model` added it"));
        });
        self
    }
}
