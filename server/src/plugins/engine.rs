//! Compiles and runs components: the one place that knows how wasmtime is set up.
//!
//! Architecture invariant: a call gets a fresh store, which is dropped after it whatever happened; nothing of one call
//! is seen by the next. No store has a preopened folder, a socket or an environment.

use super::bindings::exports::airlock::plugin::{commands, tools};
use super::code_cache::CodeCache;
use super::fault::{Fault, OutOfTime, seconds};
use super::host::{CallContext, HostState, Linked};
use super::interface::{INTERFACE, Names};
use super::section::{ListedCommand, ListedTool, Listing};
use super::ticker::Ticker;
use crate::limits::{
    PLUGIN_CALL_MAX_MS, PLUGIN_CPU_MAX_MS, PLUGIN_HANDLES_MAX, PLUGIN_HOST_CALL_MAX_BYTES,
    PLUGIN_HOST_STACK_BYTES, PLUGIN_MEMORY_MAX_BYTES, PLUGIN_STACK_MAX_BYTES, PLUGIN_STOP_MAX_MS,
};
use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use wasmtime::component::{Component, Instance, InstancePre, Linker};
use wasmtime::{Config, Engine, Store, UpdateDeadline};

pub use super::bindings::airlock::plugin::types::{Content, ToolError};

/// How far a call may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// From its beginning to its end.
    pub call_max: Duration,
    /// Computing alone.
    pub cpu_max: Duration,
    /// All its memories.
    pub memory_max_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            call_max: Duration::from_millis(PLUGIN_CALL_MAX_MS),
            cpu_max: Duration::from_millis(PLUGIN_CPU_MAX_MS),
            memory_max_bytes: PLUGIN_MEMORY_MAX_BYTES,
        }
    }
}

/// What compiles and runs components.
pub struct PluginEngine {
    engine: Engine,
    bounds: Bounds,
    ticker: Ticker,
    cache: CodeCache,
    /// With what every plugin has.
    base: Linker<HostState>,
    loaded: Mutex<HashMap<String, Weak<Loaded>>>,
    /// Held while something is compiled, for two at once would do the same work twice.
    compiling: Mutex<()>,
}

/// A component that can be called.
pub struct Loaded {
    component: Component,
    ready: Mutex<BTreeMap<Linked, Arc<Ready>>>,
}

/// The same, linked to what it was granted.
pub(super) struct Ready {
    pre: InstancePre<HostState>,
    tools: tools::GuestIndices,
    commands: Option<commands::GuestIndices>,
}

impl PluginEngine {
    /// An engine that keeps compiled code in this folder.
    pub fn new(cache: PathBuf, bounds: Bounds) -> Result<Self, String> {
        let wrong = |error: wasmtime::Error| format!("plugins cannot run on this machine: {error:#}");
        let engine = Engine::new(&config()).map_err(wrong)?;
        let ticker = Ticker::start(&engine).map_err(|error| format!("plugins cannot be timed: {error}"))?;
        let base = super::host::base_linker(&engine).map_err(wrong)?;
        let (loaded, compiling) = (Mutex::default(), Mutex::default());
        Ok(Self { ticker, base, bounds, cache: CodeCache::new(cache), engine, loaded, compiling })
    }

    /// Loads the component of this digest: from memory, from the disk, or by compiling its bytes. It takes long, so it
    /// belongs on a thread that may wait.
    pub fn load(
        &self,
        digest: &str,
        bytes: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<Arc<Loaded>, String> {
        if let Some(loaded) = self.in_memory(digest) {
            return Ok(loaded);
        }
        let _turn = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = self.in_memory(digest) {
            return Ok(loaded);
        }
        let component = match self.cache.get(&self.engine, digest) {
            Some(component) => component,
            None => {
                let bytes = bytes()?;
                if digest_of(&bytes) != digest {
                    return Err("it changed while it was read: try again".to_owned());
                }
                self.compile(digest, &bytes)?
            }
        };
        let loaded = Arc::new(Loaded { component, ready: Mutex::default() });
        // Whatever it is granted, it must fit what there is.
        loaded.ready(self, Linked::default())?;
        let mut all = lock(&self.loaded);
        all.retain(|_, loaded| loaded.strong_count() > 0);
        all.insert(digest.to_owned(), Arc::downgrade(&loaded));
        Ok(loaded)
    }

    fn in_memory(&self, digest: &str) -> Option<Arc<Loaded>> {
        lock(&self.loaded).get(digest).and_then(Weak::upgrade)
    }

    fn compile(&self, digest: &str, bytes: &[u8]) -> Result<Component, String> {
        Names::read(bytes)?.check()?;
        let component = Component::from_binary(&self.engine, bytes)
            .map_err(|error| format!("it cannot be compiled: {error:#}"))?;
        self.cache.put(&self.engine, digest, &component);
        Ok(component)
    }

    /// Keeps what was compiled for a component of another digest that has the same code.
    pub(super) fn keep_as(&self, loaded: &Loaded, digest: &str) {
        self.cache.put(&self.engine, digest, &loaded.component);
    }

    /// Asks a component what it offers.
    pub async fn list(&self, loaded: &Loaded, context: CallContext) -> Result<Listing, Fault> {
        let listing = self.run(loaded, context, |store, instance, ready| {
            Box::pin(async move {
                let guest = ready.tools.load(&mut *store, &instance)?;
                let tools = guest.call_list_tools(&mut *store).await?;
                let commands = match &ready.commands {
                    Some(indices) => {
                        indices.load(&mut *store, &instance)?.call_list_commands(&mut *store).await?
                    }
                    None => Vec::new(),
                };
                Ok((tools, commands))
            })
        });
        let (tools, commands) = listing.await?;
        let tools = tools.into_iter().map(|tool| {
            let input_schema = serde_json::from_str(&tool.input_schema).map_err(|error| {
                Fault::new(format!("the input schema of {:?} is not JSON: {error}", tool.name))
            })?;
            let tools::Tool { name, description, effects, .. } = tool;
            Ok(ListedTool { name, description, input_schema, effects })
        });
        let listing = Listing {
            interface: INTERFACE.to_owned(),
            tools: tools.collect::<Result<_, Fault>>()?,
            commands: commands
                .into_iter()
                .map(|commands::Command { name, description, hint }| ListedCommand {
                    name,
                    description,
                    hint,
                })
                .collect(),
        };
        listing.check().map_err(Fault::new)?;
        Ok(listing)
    }

    /// Calls a tool. The inner error is the plugin's own.
    pub async fn call_tool(
        &self,
        loaded: &Loaded,
        context: CallContext,
        name: &str,
        arguments: &str,
    ) -> Result<Result<Vec<Content>, ToolError>, Fault> {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        self.run(loaded, context, |store, instance, ready| {
            Box::pin(async move {
                let guest = ready.tools.load(&mut *store, &instance)?;
                guest.call_call_tool(&mut *store, &name, &arguments).await
            })
        })
        .await
    }

    /// Asks for the prompt that a slash command stands for. The inner error is the plugin's own.
    pub async fn expand(
        &self,
        loaded: &Loaded,
        context: CallContext,
        name: &str,
        arguments: &str,
    ) -> Result<Result<String, ToolError>, Fault> {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        self.run(loaded, context, |store, instance, ready| {
            Box::pin(async move {
                let Some(indices) = &ready.commands else {
                    return Err(wasmtime::Error::msg("it has no commands"));
                };
                let guest = indices.load(&mut *store, &instance)?;
                guest.call_expand(&mut *store, &name, &arguments).await
            })
        })
        .await
    }

    async fn run<R>(
        &self,
        loaded: &Loaded,
        context: CallContext,
        work: impl for<'a> FnOnce(
            &'a mut Store<HostState>,
            Instance,
            Arc<Ready>,
        ) -> BoxFuture<'a, wasmtime::Result<R>>
        + Send,
    ) -> Result<R, Fault> {
        let ready = loaded.ready(self, Linked::of(&context)).map_err(Fault::new)?;
        let _ticks = self.ticker.run();
        let cancel = context.cancel.clone();
        let stopped = async {
            cancel.cancelled().await;
            // A plugin that asks whether it was stopped can still say something.
            tokio::time::sleep(Duration::from_millis(PLUGIN_STOP_MAX_MS)).await;
        };
        let mut store = self.store(context);
        let tail = store.data().tail.clone();
        let ended = {
            let work = async {
                let instance = ready.pre.instantiate_async(&mut store).await?;
                work(&mut store, instance, Arc::clone(&ready)).await
            };
            tokio::select! {
                biased;
                ended = work => ended,
                () = stopped => return Err(Fault::with_last_words("stopped by the user".to_owned(), &tail)),
                () = tokio::time::sleep(self.bounds.call_max) => {
                    let what = format!("it took longer than {} and was ended", seconds(self.bounds.call_max));
                    return Err(Fault::with_last_words(what, &tail));
                }
            }
        };
        ended.map_err(|error| Fault::of(&error, store.data(), &self.bounds))
    }

    fn store(&self, context: CallContext) -> Store<HostState> {
        let mut store = Store::new(&self.engine, HostState::new(context, &self.bounds));
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(PLUGIN_HOST_CALL_MAX_BYTES);
        store.set_max_component_handles(PLUGIN_HANDLES_MAX);
        store.call_hook(|mut store, hook| {
            store.data_mut().clock.note(hook);
            Ok(())
        });
        store.set_epoch_deadline(1);
        let cpu_max = self.bounds.cpu_max;
        store.epoch_deadline_callback(move |store| {
            if store.data().clock.computed > cpu_max {
                return Err(OutOfTime.into());
            }
            // Everybody else gets their turn.
            Ok(UpdateDeadline::Yield(1))
        });
        store
    }
}

impl Loaded {
    fn ready(&self, engine: &PluginEngine, linked: Linked) -> Result<Arc<Ready>, String> {
        let mut all = lock(&self.ready);
        if let Some(ready) = all.get(&linked) {
            return Ok(Arc::clone(ready));
        }
        let misfit = |error: wasmtime::Error| {
            format!(
                "it does not fit the interface {INTERFACE} of this airlock ({error:#}): update airlock, or build it against \
                 wit/v0.1"
            )
        };
        let mut linker = engine.base.clone();
        super::host::link(&mut linker, linked).map_err(misfit)?;
        let pre = linker.instantiate_pre(&self.component).map_err(misfit)?;
        let tools = tools::GuestIndices::new(&pre).map_err(misfit)?;
        let commands = commands::GuestIndices::new(&pre).ok();
        let ready = Arc::new(Ready { pre, tools, commands });
        all.insert(linked, Arc::clone(&ready));
        Ok(ready)
    }
}

/// The SHA-256 of a component, in hexadecimal.
pub fn digest_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(PLUGIN_STACK_MAX_BYTES)
        .async_stack_size(PLUGIN_STACK_MAX_BYTES + PLUGIN_HOST_STACK_BYTES)
        .wasm_memory64(false)
        .shared_memory(false);
    config
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
