//! The Messages API: wire form, event stream, retry.
