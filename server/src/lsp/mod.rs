//! The language-server front end.
