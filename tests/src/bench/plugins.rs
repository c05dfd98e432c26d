//! What plugins cost: a call against the same call with plain wasmtime, the list at start, a warm load, the end of a loop.

use super::{Measure, percentile};
use crate::guests::{crafted, install, listed, probe, probe_with};
use crate::plugin_desk::PluginDesk;
use airlock::plugins::{Bounds, Plugin, PluginEngine, Powers, Shelf, WorkspaceSide, digest_of};
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

mod bindings {
    #![allow(missing_docs, unsafe_code, reason = "the macro's own")]
    wasmtime::component::bindgen!({
        path: "../wit/v0.1",
        world: "plugin",
        imports: { default: async },
        exports: { default: async },
    });
}

use bindings::exports::airlock::plugin::tools::GuestIndices;

/// 80 µs on a machine on which plain wasmtime takes 40, and 300 where it takes 75 at the 99th percentile.
const CALL_MAX: f64 = 2.0;
const SLOW_CALL_MAX: f64 = 4.0;
const CALLS: usize = 3_000;
const WARM_UP: usize = 300;
const STARTS: usize = 30;
const LOADS: usize = 20;
const LOOPS: usize = 8;
const PLUGINS: usize = 20;
const LOOP_MAX_MS: u64 = 300;

pub(super) async fn all() -> Vec<Measure> {
    let mut measures = calls().await;
    measures.push(list());
    measures.push(warm_load());
    measures.push(endless_loop().await);
    measures
}

/// Ours and the plain one in turns, so that both see the same machine.
async fn calls() -> Vec<Measure> {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", &probe_with(&["echo"]));
    let plain = Plain::new(probe());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..WARM_UP + CALLS {
        ours.push(call(&desk, &plugin).await);
        let begun = Instant::now();
        plain.call().await;
        theirs.push(microseconds(begun));
    }
    let (ours, mut theirs) = (ours.split_off(WARM_UP), theirs.split_off(WARM_UP));
    let mut slow = ours.clone();
    slow.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    vec![
        Measure::new("a plugin's call: fresh instance, call, drop", "µs", CALL_MAX, ours)
            .against("plain wasmtime", theirs.clone()),
        Measure::new("the same, at the 99th percentile", "µs", SLOW_CALL_MAX, vec![percentile(&slow, 99)])
            .against("plain wasmtime", vec![percentile(&theirs, 99)]),
    ]
}

async fn call(desk: &PluginDesk, plugin: &Plugin) -> f64 {
    let begun = Instant::now();
    let context = desk.plugins().call_context(plugin, Powers::default());
    let (engine, loaded) = (desk.plugins().engine().expect("an engine"), plugin.load(desk.plugins()).await);
    let loaded = loaded.expect("a component");
    let called = engine.call_tool(&loaded, context, "echo", "{\"n\":1}").await;
    let took = microseconds(begun);
    assert!(matches!(called, Ok(Ok(_))), "{called:?}");
    took
}

/// Wasmtime alone, as its book shows it: a fresh store with WASI, limits and epochs, from an `InstancePre`.
struct Plain {
    engine: Engine,
    pre: InstancePre<State>,
    indices: GuestIndices,
    arguments: String,
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Plain {
    fn new(component: &[u8]) -> Self {
        let mut config = Config::new();
        config.epoch_interruption(true);
        let engine = Engine::new(&config).expect("an engine");
        let component = Component::from_binary(&engine, component).expect("a component");
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).expect("WASI");
        linker.define_unknown_imports_as_traps(&component).expect("stubs");
        let pre = linker.instantiate_pre(&component).expect("a fit");
        let indices = GuestIndices::new(&pre).expect("tools");
        Self { engine, pre, indices, arguments: "{\"n\":1}".to_owned() }
    }

    async fn call(&self) {
        let limits = StoreLimitsBuilder::new().memory_size(64 << 20).build();
        let state = State { wasi: WasiCtx::builder().build(), table: ResourceTable::new(), limits };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        store.set_epoch_deadline(1_000_000);
        let instance = self.pre.instantiate_async(&mut store).await.expect("an instance");
        let guest = self.indices.load(&mut store, &instance).expect("tools");
        let answer = guest.call_call_tool(&mut store, "echo", &self.arguments).await;
        assert!(matches!(answer, Ok(Ok(_))), "{answer:?}");
    }
}

/// What a session waits for when it opens: the tools of twenty plugins.
fn list() -> Measure {
    let desk = PluginDesk::new();
    for number in 0..PLUGINS {
        let tool = format!("echo_{number}");
        install(&desk.folder(), &format!("probe-{number:02}"), "", &probe_with(&[&tool]));
    }
    let mut samples = Vec::new();
    for _ in 0..STARTS {
        // As after a start: nothing is in memory.
        let begun = Instant::now();
        let again = desk.again();
        let (shelf, problems) = Shelf::open(&again, WorkspaceSide::None, |_| ());
        let tools = shelf.tools();
        samples.push(milliseconds(begun));
        assert_eq!((tools.len(), problems.len()), (PLUGINS, 0));
    }
    Measure::new("the tools of 20 installed plugins, listed", "ms", 10.0, samples)
}

/// A component of a megabyte whose compiled code is on the disk.
fn warm_load() -> Measure {
    let component = large();
    assert!(component.len() >= 1 << 20, "{}", component.len());
    let home = tempfile::TempDir::with_prefix("airlock-bench-").expect("a folder");
    let digest = digest_of(&component);
    let engine = || PluginEngine::new(home.path().join("compiled"), Bounds::default()).expect("an engine");
    engine().load(&digest, || Ok(component.clone())).expect("it compiles");
    let mut samples = Vec::new();
    for _ in 0..LOADS {
        let engine = engine();
        let begun = Instant::now();
        engine.load(&digest, || Err("it is on the disk".to_owned())).expect("it is on the disk");
        samples.push(milliseconds(begun));
    }
    Measure::new("a plugin of 1 MB loaded from the disk's cache", "ms", 15.0, samples)
}

/// Functions enough for a megabyte, each a little different.
fn large() -> Vec<u8> {
    let mut functions = String::new();
    for number in 0..3_000 {
        let _ = write!(functions, "(func $f{number} (param i32) (result i32) local.get 0");
        for step in 0..40 {
            let _ = write!(
                functions,
                " i32.const {} i32.xor i32.const {} i32.mul",
                number * 97 + step + 70_000,
                step * 2 + 70_001
            );
        }
        functions.push_str(")\n");
    }
    let _ = write!(functions, "(table funcref (elem");
    for number in 0..3_000 {
        let _ = write!(functions, " $f{number}");
    }
    functions.push_str("))");
    let module = format!(
        r#"(module
            (memory (export "memory") 1)
            {functions}
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            (func (export "airlock:plugin/tools@0.1.0#list-tools") (result i32) i32.const 0)
            (func (export "airlock:plugin/tools@0.1.0#call-tool") (param i32 i32 i32 i32) (result i32) unreachable))"#
    );
    listed(&crafted(&module), &["large"])
}

/// How much longer than it may a loop goes on.
async fn endless_loop() -> Measure {
    let bounds = Bounds { cpu_max: Duration::from_millis(LOOP_MAX_MS), ..Bounds::default() };
    let desk = PluginDesk::with(bounds, &[]);
    let plugin: Arc<Plugin> = desk.install("probe", "", &probe_with(&["endless"]));
    plugin.load(desk.plugins()).await.expect("a component");
    let mut samples = Vec::new();
    for _ in 0..LOOPS {
        let begun = Instant::now();
        let called = desk.call(&plugin, "endless", json!({})).await;
        samples.push(milliseconds(begun) - LOOP_MAX_MS as f64);
        assert!(called.is_err(), "{called:?}");
    }
    Measure::new("an endless loop ended, after its limit", "ms", 20.0, samples)
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1_000.0
}

fn microseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1_000_000.0
}
