//! Plugins made for tests: the probe, which tries everything, and components made of hand-written modules.

use crate::airlock_binary::cargo;
use airlock::plugins::section::{self, ListedTool, Listing};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

/// The component of `tests/guests/probe`, built from this tree once a test process. It carries no list of its tools.
pub fn probe() -> &'static [u8] {
    static PROBE: OnceLock<Vec<u8>> = OnceLock::new();
    PROBE.get_or_init(|| build("probe"))
}

/// The probe with a list of these tools alone.
pub fn probe_with(tools: &[&str]) -> Vec<u8> {
    listed(probe(), tools)
}

/// A component with a list of these tools in it.
pub fn listed(component: &[u8], tools: &[&str]) -> Vec<u8> {
    let tool = |name: &&str| ListedTool {
        name: (*name).to_owned(),
        description: format!("Tries {name}"),
        input_schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
        effects: vec!["read".to_owned()],
    };
    let tools = tools.iter().map(tool).collect();
    let listing = Listing { interface: "0.1.0".to_owned(), tools, commands: Vec::new() };
    section::write(component, &listing).expect("a component")
}

/// A component for the world `plugin` of a core module in WAT.
pub fn crafted(module: &str) -> Vec<u8> {
    let mut module = wat::parse_str(module).expect("WAT");
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_path(repository().join("wit/v0.1")).expect("WIT");
    let world = resolve.select_world(&[package], Some("plugin")).expect("a world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("a module");
    let mut encoder = ComponentEncoder::default().validate(true).module(&module).expect("a module");
    encoder.encode().expect("a component")
}

/// A component that offers one tool, `bomb`, with these pages of memory and this body for `call-tool`; more fields may
/// come before it.
pub fn bomb(pages: u32, fields: &str, body: &str) -> Vec<u8> {
    let module = format!(
        r#"(module
            (memory (export "memory") {pages})
            {fields}
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            (func (export "airlock:plugin/tools@0.1.0#list-tools") (result i32) i32.const 0)
            (func (export "airlock:plugin/tools@0.1.0#call-tool") (param i32 i32 i32 i32) (result i32) {body}))"#
    );
    listed(&crafted(&module), &["bomb"])
}

/// A folder with a plugin in it. `more` follows name and version in `plugin.toml`.
pub fn install(plugins: &Path, name: &str, more: &str, component: &[u8]) -> PathBuf {
    let folder = plugins.join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let manifest = format!("name = \"{name}\"\nversion = \"0.1.0\"\n{more}");
    std::fs::write(folder.join("plugin.toml"), manifest).expect("a file");
    replace(&folder.join("plugin.wasm"), component);
    folder
}

/// Puts a file in another's place in one step, as every good builder does.
pub fn replace(path: &Path, content: &[u8]) {
    let new = path.with_extension("new");
    std::fs::write(&new, content).expect("a file");
    std::fs::rename(new, path).expect("a file");
}

fn build(name: &str) -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests");
    let target = repository().join("target/guests");
    let output = cargo()
        .args([
            "build",
            "--quiet",
            "--release",
            "--target",
            "wasm32-wasip2",
            "--package",
            name,
            "--target-dir",
        ])
        .arg(&target)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .current_dir(guests)
        .output()
        .expect("cargo starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the guest {name} does not build; if its target is missing: rustup target add wasm32-wasip2\n{stderr}"
    );
    let built = target.join(format!("wasm32-wasip2/release/{name}.wasm"));
    std::fs::read(&built).unwrap_or_else(|error| panic!("{}: {error}", built.display()))
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is in the repository")
}
