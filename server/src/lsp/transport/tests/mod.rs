//! The laws of the transport.

mod frames;
mod messages;
