//! What a plugin can reach: one file an interface. An interface that was not granted is linked to a stub that says so.

mod denied;
mod editor;
mod exec;
mod http;
mod kv;
mod log;
mod rehearsed;
mod run;
mod workspace;

use super::bindings::airlock::plugin as wit;
use super::engine::Bounds;
use super::http::HttpGate;
use super::kv::KvStore;
use super::limiter::Limiter;
use super::powers::{Powers, WorkspacePower};
use super::rehearsal::Stage;
use super::tail::Tail;
use crate::limits::{PLUGIN_HANDLES_MAX, PLUGIN_RANDOM_MAX_BYTES};
use crate::secret::Secret;
use crate::tools::Progress;
use crate::view::{EditorView, SessionView};
use denied::Denied;
use rehearsed::Staged;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::{CallHook, Engine};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wit::types::ToolError;

/// Takes a line of a plugin's log: level and text.
pub type LogSink = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Everything that one call of a plugin has around it.
#[derive(Clone)]
pub struct CallContext {
    /// The plugin's name.
    pub plugin: Arc<str>,
    /// What it asks for.
    pub asks: Arc<Powers>,
    /// What it has of that.
    pub powers: Powers,
    /// Cancelled when the user stops the turn.
    pub cancel: CancellationToken,
    /// Takes reports of progress.
    pub progress: Progress,
    /// The workspace as the agent sees it, and where commands run; `None` where there is none.
    pub view: Option<Arc<SessionView>>,
    /// What the user has in front of them.
    pub editor: EditorView,
    /// The way to the network.
    pub http: Arc<HttpGate>,
    /// The values of its secrets, as far as the user gave them.
    pub secrets: Arc<BTreeMap<String, Secret>>,
    /// Its store.
    pub kv: Arc<KvStore>,
    /// Its settings: a JSON object.
    pub config: Arc<str>,
    /// Takes the lines of its log: level and text.
    pub log: LogSink,
    /// The world that takes the place of the real one, in a case of `airlock plugin test`.
    pub stage: Option<Stage>,
}

/// What a store holds.
pub(super) struct HostState {
    context: CallContext,
    table: ResourceTable,
    wasi: WasiCtx,
    pub(super) limiter: Limiter,
    pub(super) clock: Clock,
    pub(super) tail: Tail,
    denied: Denied,
    staged: Staged,
    used: Used,
}

/// What a call has used of what it may.
#[derive(Default)]
struct Used {
    log_lines: usize,
    progress: usize,
    execs: usize,
}

/// How long a plugin has computed.
#[derive(Default)]
pub(super) struct Clock {
    pub(super) computed: Duration,
    since: Option<Instant>,
}

impl Clock {
    pub(super) fn note(&mut self, hook: CallHook) {
        match hook {
            CallHook::CallingWasm | CallHook::ReturningFromHost => self.since = Some(Instant::now()),
            CallHook::ReturningFromWasm | CallHook::CallingHost => {
                if let Some(since) = self.since.take() {
                    self.computed += since.elapsed();
                }
            }
        }
    }
}

/// Which interfaces are real, and no stubs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Linked {
    workspace: bool,
    editor: bool,
    exec: bool,
    http: bool,
    kv: bool,
    /// To what a case says, and not to the world.
    staged: bool,
}

impl Linked {
    pub(super) fn of(context: &CallContext) -> Self {
        let powers = &context.powers;
        Self {
            workspace: !powers.workspace.is_empty(),
            editor: powers.editor,
            exec: powers.exec,
            http: !powers.http.is_empty(),
            kv: powers.kv,
            staged: context.stage.is_some(),
        }
    }
}

impl HostState {
    pub(super) fn new(context: CallContext, bounds: &Bounds) -> Self {
        let tail = Tail::default();
        let mut table = ResourceTable::new();
        table.set_max_capacity(PLUGIN_HANDLES_MAX);
        let wasi = WasiCtx::builder()
            .stdout(tail.clone())
            .stderr(tail.clone())
            .max_random_size(PLUGIN_RANDOM_MAX_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let denied = Denied { plugin: Arc::clone(&context.plugin), asks: Arc::clone(&context.asks) };
        let staged = Staged::of(&context, denied.clone());
        let limiter = Limiter::new(bounds.memory_max_bytes);
        Self {
            context,
            table,
            wasi,
            limiter,
            clock: Clock::default(),
            tail,
            denied,
            staged,
            used: Used::default(),
        }
    }

    fn may(&self, power: WorkspacePower) -> Result<(), ToolError> {
        if self.context.powers.workspace.contains(&power) {
            return Ok(());
        }
        Err(self.denied.error(&format!("workspace:{}", power.as_str())))
    }
}

impl WasiView for HostState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// A linker with what every plugin has.
pub(super) fn base_linker(engine: &Engine) -> wasmtime::Result<Linker<HostState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wit::types::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    wit::log::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    wit::run::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    Ok(linker)
}

/// Adds what was granted, and stubs for the rest.
pub(super) fn link(linker: &mut Linker<HostState>, linked: Linked) -> wasmtime::Result<()> {
    macro_rules! interface {
        ($name:ident) => {
            if linked.$name && linked.staged {
                wit::$name::add_to_linker::<_, HasSelf<Staged>>(linker, |state| &mut state.staged)?;
            } else if linked.$name {
                wit::$name::add_to_linker::<_, HasSelf<HostState>>(linker, |state| state)?;
            } else {
                wit::$name::add_to_linker::<_, HasSelf<Denied>>(linker, |state| &mut state.denied)?;
            }
        };
    }
    interface!(workspace);
    interface!(editor);
    interface!(exec);
    interface!(http);
    interface!(kv);
    Ok(())
}

impl wit::types::Host for HostState {}

/// Does what waits for somebody in a task of its own. A plugin's stack is small, and an overflow of it in our own code
/// would end the whole process.
async fn apart<T: Send + 'static>(
    work: impl Future<Output = Result<T, ToolError>> + Send + 'static,
) -> Result<T, ToolError> {
    match AbortOnDropHandle::new(tokio::spawn(work)).await {
        Ok(done) => done,
        Err(crashed) => Err(error("failed", format!("Airlock itself failed, which is a bug: {crashed}"))),
    }
}

fn error(code: &str, message: impl Into<String>) -> ToolError {
    ToolError { code: code.to_owned(), message: message.into(), retryable: false }
}

fn passing(code: &str, message: impl Into<String>) -> ToolError {
    ToolError { retryable: true, ..error(code, message) }
}
