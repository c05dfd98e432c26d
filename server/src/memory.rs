//! Memory that the allocator keeps though nobody uses it. A long life with many sessions leaves holes everywhere, and a
//! third of what the system counts as ours would be of no use to anybody.
//!
//! The C library gives nearly every thread a pool of its own, eight times as many as there are cores, and each grows to
//! the most that its threads ever held at once. With few pools the holes that one session leaves are filled by the next.

use crate::limits::ALLOCATOR_POOLS_MAX;
use std::sync::atomic::{AtomicBool, Ordering};

/// One who gives back does it for all.
static GIVING_BACK: AtomicBool = AtomicBool::new(false);

/// Bounds the number of pools. Only what is called before the first thread counts for all of them.
pub fn bound_pools() {
    bound(ALLOCATOR_POOLS_MAX);
}

/// Gives what is unused back to the system, in the background: it takes some milliseconds.
pub fn give_back() {
    if !GIVING_BACK.swap(true, Ordering::Relaxed) {
        tokio::task::spawn_blocking(|| {
            trim();
            GIVING_BACK.store(false, Ordering::Relaxed);
        });
    }
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "it sets a number that the allocator reads")]
fn bound(pools: i32) {
    unsafe { libc::mallopt(libc::M_ARENA_MAX, pools) };
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "any thread may call it at any time, and no memory in use is touched")]
fn trim() {
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators are not known to need it.
#[cfg(not(target_env = "gnu"))]
fn bound(_pools: i32) {}

#[cfg(not(target_env = "gnu"))]
fn trim() {}
