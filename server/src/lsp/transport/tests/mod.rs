//! The laws of the transport.

mod editor;
mod frames;
mod messages;
mod serve;
mod slow_client;
