//! The command line and the terminal front end: translates between the user's terminal and the agent, and decides
//! nothing.
//!
//! | file | holds |
//! |---|---|
//! | `arguments`, `exit`, `log` | how the program is called, how it ends, where its log goes |
//! | `chat` | opens a session; then `one_turn` for scripts, `interactive`, `banner` and `asking` for people |
//! | `doctor` | says what is there and what is missing, and gets it at the user's word |
//! | `review` | goes through the changes of a session that was kept |
//! | `plugin`, `authoring` | plugins from the command line: for those who use them, for those who write them |
//! | `transcript`, `answer`, `calls`, `line_prefix`, `excerpt`, `words`, `paint` | what happens in a session as text, pure |
//! | `line_editor`, `keys`, `completion` | what the user types |
//! | `questions`, `signals`, `output`, `terminal` | what the rest of the world wants, and where text goes |
//!
//! Architecture invariant: text that somebody else wrote goes through [`crate::neutral`] before it is written. One task
//! writes; nothing else does, but the line editor while that task waits for it.

mod answer;
mod arguments;
mod asking;
mod authoring;
mod banner;
mod calls;
mod chat;
mod completion;
mod doctor;
mod excerpt;
mod exit;
mod interactive;
mod keys;
mod line_editor;
mod line_prefix;
mod log;
mod one_turn;
mod output;
mod paint;
mod plugin;
mod questions;
mod review;
mod signals;
mod terminal;
mod transcript;
mod words;

pub use arguments::{Arguments, ChatArguments, Command, DoctorArguments, LspArguments, ReviewArguments};
pub use exit::Exit;
pub use plugin::PluginArguments;

use crate::environment::Environment;
use crate::lsp::{self, transport::Ended};
use crate::memory;
use crate::neutral::neutral;
use anyhow::Context;
use signals::Signals;
use std::io::{self, Write};

/// Threads that run tasks. Few: an editor keeps the process around all day, and each costs memory.
const WORKER_THREADS: usize = 2;

/// Does what the command line asks for.
pub fn start(arguments: Arguments) -> Exit {
    memory::bound_pools();
    let ready = Environment::of_process().and_then(|environment| {
        log::set_up(&environment);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKER_THREADS)
            .enable_all()
            .build()?;
        Ok((environment, runtime))
    });
    let (environment, runtime) = match ready {
        Ok(ready) => ready,
        Err(error) => return fail(&error),
    };
    let exit = runtime.block_on(async {
        match arguments.command {
            Command::Lsp(_) => serve(environment).await.unwrap_or_else(|error| fail(&error)),
            Command::Chat(arguments) => chat::run(environment, arguments).await,
            Command::Review(arguments) => review::run(environment, arguments).await,
            Command::Plugin(arguments) => plugin::run(environment, arguments).await,
            Command::Doctor(arguments) => doctor::run(&environment, arguments).await,
        }
    });
    // A thread may be waiting for input that never comes.
    runtime.shutdown_background();
    exit
}

async fn serve(environment: Environment) -> anyhow::Result<Exit> {
    let mut signals = Signals::new().context("signals cannot be caught")?;
    Ok(match lsp::run(environment, signals.next()).await {
        Ok(Ended::Exit { after_shutdown: false }) => Exit::Failed,
        Ok(Ended::Exit { after_shutdown: true } | Ended::InputClosed | Ended::OutputClosed) => Exit::Well,
        Err(signal) => Exit::Signalled(signal),
    })
}

fn fail(error: &anyhow::Error) -> Exit {
    // Nowhere is left to say that stderr is gone.
    let _ = writeln!(io::stderr(), "airlock: {}", neutral(&format!("{error:#}")));
    Exit::Failed
}
