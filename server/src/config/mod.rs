//! What the user configured.
