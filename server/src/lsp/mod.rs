//! The language-server front end.

pub mod transport;
