//! The link between server and guest.

use crate::input::Input;
use crate::{link_frames, link_guest};

/// Its frames and words; and the server's end of it, with a guest that keeps to the multiplexer's rules or does not.
pub fn link(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kind, seed) = (input.byte(), input.byte());
    match kind % 3 {
        0 => link_frames::check(input.rest(), seed),
        1 => link_guest::in_streams(input.rest(), seed),
        _ => link_guest::raw(input.rest(), seed),
    }
}
