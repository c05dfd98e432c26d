//! The clock that a computing plugin is looked at by. It ticks only while a call runs.

use crate::limits::PLUGIN_TICK_MS;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wasmtime::{Engine, EngineWeak};

/// A thread that raises the engine's epoch.
pub(super) struct Ticker {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    ended: bool,
}

/// A call that runs. The clock ticks until the last one is dropped.
pub(super) struct Running {
    shared: Arc<Shared>,
}

impl Ticker {
    /// Starts the thread, which sleeps until there is something to time.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let (of_thread, engine) = (Arc::clone(&shared), engine.weak());
        std::thread::Builder::new()
            .name("plugin-clock".to_owned())
            .spawn(move || tick(&of_thread, &engine))?;
        Ok(Self { shared })
    }

    /// Ticks until this is dropped.
    pub(super) fn run(&self) -> Running {
        let mut state = self.shared.lock();
        state.running += 1;
        if state.running == 1 {
            self.shared.changed.notify_one();
        }
        Running { shared: Arc::clone(&self.shared) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_one();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.lock().running -= 1;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tick(shared: &Shared, engine: &EngineWeak) {
    let mut state = shared.lock();
    loop {
        if state.ended {
            return;
        }
        if state.running == 0 {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        drop(state);
        std::thread::sleep(Duration::from_millis(PLUGIN_TICK_MS));
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        drop(engine);
        state = shared.lock();
    }
}
