//! Where `cargo xtask test` put what the tests need; see `tests/xtask/src/components.rs`.

use std::path::PathBuf;

/// A Python that has the official SDK.
pub fn python() -> PathBuf {
    installed("python/bin/python")
}

/// What stands at a path of the cache; a test without it fails, and says what to do.
pub fn installed(path: &str) -> PathBuf {
    let found = cache().join(path);
    assert!(found.exists(), "{} is missing: run cargo xtask test, which sets it up", found.display());
    found
}

/// As xtask tells it, or where xtask would put it.
fn cache() -> PathBuf {
    let told = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    told("AIRLOCK_TEST_CACHE").unwrap_or_else(|| {
        told("XDG_CACHE_HOME")
            .or_else(|| Some(told("HOME")?.join(".cache")))
            .expect("a home directory")
            .join("airlock-tests")
    })
}
