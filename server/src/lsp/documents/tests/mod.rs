//! The laws of the mirror: it equals a reference that is too simple to be wrong.

mod burst;
mod documents;
mod late;
mod reference;
mod text;
