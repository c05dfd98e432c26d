//! What the server and its guest say to each other, over one multiplexed link: a stream a call.
//!
//! The caller opens a stream and sends a [`Call`]. The guest sends any number of frames and ends with an answer.

pub mod frames;
mod link;
#[cfg(feature = "program")]
pub mod program;
pub mod words;

pub use frames::{Frame, FrameKind, read_frame, write_frame};
pub use link::{CallStream, Link, LinkError, Said};
pub use words::*;
