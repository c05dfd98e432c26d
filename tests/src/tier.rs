//! How much is tested: what every change needs before it lands, or everything. `cargo xtask test --all` asks for everything.
//!
//! A test that isn't always run has `#[ignore]`, so that it isn't counted as passed. This is for what such tests share with
//! others.

/// Whether everything is to be tested.
pub fn is_all() -> bool {
    std::env::var_os("AIRLOCK_TEST_ALL").is_some_and(|value| value == "1")
}
