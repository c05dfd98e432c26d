//! The plugin's own store, with the host for tests.

use airlock_plugin::testing::Host;
use airlock_plugin::{Kind, kv};

#[test]
fn what_is_kept_is_found_by_the_plugin_and_by_its_test() {
    let host = Host::new().stored("seen/a", "1");
    host.run(|| {
        assert_eq!(kv::get_text("seen/a"), Ok(Some("1".to_owned())));
        kv::set("seen/b", "2").expect("it is granted");
        kv::delete("seen/a").expect("it is granted");
        assert_eq!(kv::list("seen/"), Ok(vec!["seen/b".to_owned()]));
    });
    assert_eq!(host.in_store("seen/a"), None);
    assert_eq!(host.in_store("seen/b"), Some(b"2".to_vec()));
}

#[test]
fn bytes_that_are_no_text_are_an_error_that_names_the_key() {
    let host = Host::new().stored("picture", b"\xff");
    let error = host.run(|| kv::get_text("picture")).expect_err("no text");
    assert_eq!(*error.kind(), Kind::Invalid);
    assert!(error.to_string().contains("picture"), "{error}");
    assert_eq!(host.run(|| kv::get_text("nothing")), Ok(None));
}
