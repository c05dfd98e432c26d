//! Memory that the allocator keeps though nobody uses it. A long life with many sessions leaves holes everywhere, and a
//! third of what the system counts as ours would be of no use to anybody.

use std::sync::atomic::{AtomicBool, Ordering};

/// One who gives back does it for all.
static GIVING_BACK: AtomicBool = AtomicBool::new(false);

/// Gives it back to the system, in the background: it takes some milliseconds.
pub(super) fn give_back() {
    if !GIVING_BACK.swap(true, Ordering::Relaxed) {
        tokio::task::spawn_blocking(|| {
            trim();
            GIVING_BACK.store(false, Ordering::Relaxed);
        });
    }
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "any thread may call it at any time, and no memory in use is touched")]
fn trim() {
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators are not known to need it.
#[cfg(not(target_env = "gnu"))]
fn trim() {}
