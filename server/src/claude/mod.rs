//! The Messages API: wire form, event stream, failures and when to try again.
//!
//! Architecture invariant: the decoders and the retry policy are pure and take no time; only [`client`] awaits.

pub mod client;
pub mod failure;
pub mod message;
pub mod models;
pub mod retry;
pub mod sse;
pub mod wire;

pub use client::{Claude, MessageStream};
pub use failure::Failure;
pub use message::{MessageDecoder, Received, StopCause, StreamEvent, TokenUsage};
pub use models::ModelInfo;
pub use wire::{MessageRequest, ToolSpec};
