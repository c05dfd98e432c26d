//! The language-server front end.

pub mod documents;
pub mod transport;
