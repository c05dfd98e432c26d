//! `airlock plugin new`, `build` and `test`: what the author of a plugin needs.
//!
//! | file | holds |
//! |---|---|
//! | `arguments` | how they are called |
//! | `new`, `template` | a plugin that builds, from files that are in this binary |
//! | `build`, `cargo`, `python`, `toolchain` | a component from its source, and what the author's tools say |
//! | `check` | what is wrong with a component, or odd |
//! | `test`, `case`, `expectation` | the cases in `tests/*.json`, run with a host that is rehearsed |
//!
//! Architecture invariant: the author's own tools run on the author's own word, with the author's own rights; the agent
//! cannot reach any of this.

mod arguments;
mod build;
mod cargo;
mod case;
mod check;
mod expectation;
mod new;
mod python;
mod template;
mod test;
mod toolchain;

pub(super) use arguments::{BuildArguments, NewArguments, TestArguments};
pub(super) use build::build;
pub(super) use new::new;
pub(super) use test::test;

use std::io::Write;

/// Tells who waits what for.
pub(super) fn told(what: &str) -> std::future::Ready<()> {
    // Nowhere is left to say that stderr is gone.
    let _ = writeln!(std::io::stderr(), "{what} …");
    std::future::ready(())
}
