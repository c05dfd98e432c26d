//! A component that does not fit says what is missing and what to do, before it is compiled.

use airlock_tests::guests::{crafted, listed, probe};
use airlock_tests::plugin_desk::PluginDesk;
use serde_json::json;

/// A component with nothing in it but names.
fn names(imports: &[&str], exports: &[&str]) -> Vec<u8> {
    let mut text = String::from("(component\n");
    for import in imports {
        text.push_str(&format!("(import \"{import}\" (instance))\n"));
    }
    text.push_str("(instance $empty)\n");
    for export in exports {
        text.push_str(&format!("(export \"{export}\" (instance $empty))\n"));
    }
    text.push(')');
    wat::parse_str(&text).expect("WAT")
}

#[tokio::test]
async fn another_version_names_the_interface_what_is_missing_and_what_to_do() {
    let desk = PluginDesk::new();
    let tools = "airlock:plugin/tools@0.1.0";
    for (component, words) in [
        (
            names(&["airlock:plugin/workspace@0.2.0"], &["airlock:plugin/tools@0.2.0"]),
            ["version 0.2.0", "airlock:plugin/workspace@0.2.0, airlock:plugin/tools@0.2.0", "update airlock"],
        ),
        (names(&["airlock:plugin/mail@0.1.0"], &[tools]), ["airlock:plugin", "mail@0.1.0", "update airlock"]),
        (names(&[], &[]), ["does not export", tools, "wit/v0.1"]),
        (
            names(&["wasi:http/types@0.2.0"], &[tools]),
            ["wasi:http/types@0.2.0", "airlock:plugin/http", "grant"],
        ),
        (names(&["wasi:io/streams@0.3.0"], &[tools]), ["wasi:io/streams@0.3.0", "WASI 0.2", "wasm32-wasip2"]),
    ] {
        let error = desk.try_install("other", "", &component).err().expect("it does not fit");
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
        assert!(error.contains("plugin.wasm"), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_component_is_said_to_be_none() {
    let desk = PluginDesk::new();
    let module = wat::parse_str("(module)").unwrap();
    for bytes in [b"".as_slice(), b"hello", &module, &probe()[..probe().len() / 2]] {
        let error = desk.try_install("other", "", bytes).err().expect("it is no component");
        assert!(error.contains("component") || error.contains("damaged"), "{error}");
    }
}

#[tokio::test]
async fn the_same_version_with_other_functions_is_found_out_when_it_is_loaded() {
    let desk = PluginDesk::new();
    let odd = r#"(component
        (import "airlock:plugin/log@0.1.0" (instance (export "shout" (func (param "line" string)))))
        (instance $empty)
        (export "airlock:plugin/tools@0.1.0" (instance $empty)))"#;
    let plugin = desk.install("odd", "", &listed(&wat::parse_str(odd).unwrap(), &["x"]));
    let error = plugin.load(desk.plugins()).await.err().expect("it does not fit");
    for word in ["0.1.0", "shout", "update airlock"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}

#[tokio::test]
async fn a_component_without_a_list_is_asked_once_and_remembered_by_its_digest() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    assert!(plugin.listing().is_none());
    let listing = plugin.list(desk.plugins()).await.unwrap();
    assert!(listing.tools.iter().any(|tool| tool.name == "echo"));
    assert_eq!(listing.commands[0].name, "probe");
    let again = desk.install("probe", "", probe());
    assert!(again.listing().is_some(), "it was asked already");
    let elsewhere = desk.install("probe-too", "", probe());
    assert!(elsewhere.listing().is_some(), "it is the same component");
}

#[tokio::test]
async fn a_list_that_cannot_be_shown_leaves_the_plugin_out() {
    let desk = PluginDesk::new();
    let lists_outside = crafted(
        r#"(module
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            (func (export "airlock:plugin/tools@0.1.0#list-tools") (result i32) i32.const 0x7ffffff0)
            (func (export "airlock:plugin/tools@0.1.0#call-tool") (param i32 i32 i32 i32) (result i32) unreachable))"#,
    );
    let plugin = desk.install("lists-outside", "", &lists_outside);
    assert!(plugin.list(desk.plugins()).await.is_err());
}

#[tokio::test]
async fn compiled_code_is_kept_and_used_by_its_digest_alone() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    desk.call(&plugin, "echo", json!({})).await.unwrap().unwrap();
    let compiled = desk.home().join("cache/plugins/compiled");
    let files =
        || std::fs::read_dir(&compiled).unwrap().flatten().map(|file| file.path()).collect::<Vec<_>>();
    assert_eq!(files().len(), 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(&compiled.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
    // Another process of the same user finds it; one that anybody may write to is not used.
    let other = PluginDesk::new();
    let folder = other.home().join("cache/plugins/compiled");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let name = files()[0].file_name().unwrap().to_owned();
    std::fs::write(folder.join(&name), b"not code at all").unwrap();
    let plugin = other.install("probe", "", probe());
    assert!(other.call(&plugin, "echo", json!({})).await.unwrap().is_ok());
    assert_eq!(std::fs::read(folder.join(&name)).unwrap(), b"not code at all");
    // A damaged one is made again.
    std::fs::write(&files()[0], b"damaged").unwrap();
    let desk_again = PluginDesk::new();
    std::fs::create_dir_all(desk_again.home().join("cache/plugins")).unwrap();
    std::fs::rename(&compiled, desk_again.home().join("cache/plugins/compiled")).unwrap();
    let plugin = desk_again.install("probe", "", probe());
    assert!(desk_again.call(&plugin, "echo", json!({})).await.unwrap().is_ok());
}

/// The interface that plugins out there were built against. A change to it is a new folder beside it, and this test has
/// no say in that one.
#[test]
fn a_released_interface_is_never_edited() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit/v0.1");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|file| file.path()).collect();
    files.sort();
    let all: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).unwrap()).collect();
    assert_eq!(
        airlock::plugins::digest_of(&all),
        "a66432eda7bb705fabebdf6a0fe9bf44532a9f93c7227313cd01e3f28ade0848"
    );
}
