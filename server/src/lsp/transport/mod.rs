//! The stream between editor and server: bytes in, frames out, nothing lost and nothing that ends the process.
//!
//! It stands where `tower_lsp::Server` would. That one ends the process on a malformed frame, and runs four handlers at
//! a time while it reads no further.
//!
//! | file | holds |
//! |---|---|
//! | `serve` | the loop that reads |
//! | `calls` | what runs the handlers, in order, and makes sure of one response each |
//! | `writer` | the one task that writes |
//! | `frames`, `header`, `message` | the decoder, pure |
//!
//! Architecture invariant: nothing in here knows a method of ours. It knows `initialize`, `shutdown` and `exit`, which
//! are the stream's own beginning and end.

mod calls;
mod frames;
mod header;
mod message;
mod serve;
mod writer;

#[cfg(test)]
mod tests;

pub(in crate::lsp) use calls::answered;
pub use frames::{Frame, FrameReader};
pub use message::{BadFrame, Incoming};
pub use serve::{Ended, serve};
