//! The world that Airlock is tested in.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]
