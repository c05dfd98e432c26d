//! The custom section `airlock:plugin`: what a component offers, readable without compiling it.
//!
//! `airlock plugin build` writes it; the server reads it. A component without it is asked once, by calling it.

use crate::limits::{
    PLUGIN_DESCRIPTION_MAX_BYTES, PLUGIN_EFFECT_MAX_BYTES, PLUGIN_EFFECTS_MAX, PLUGIN_NAME_MAX_CHARS,
    PLUGIN_SCHEMA_MAX_BYTES, PLUGIN_TOOLS_MAX,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use wasm_encoder::{ComponentSection, CustomSection};
use wasmparser::{Parser, Payload};

/// The section's name.
pub const SECTION: &str = "airlock:plugin";

/// What a component offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// The version of the interface that it was built with, such as `0.1.0`.
    pub interface: String,
    /// Its tools.
    #[serde(default)]
    pub tools: Vec<ListedTool>,
    /// Its slash commands.
    #[serde(default)]
    pub commands: Vec<ListedCommand>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedTool {
    /// What the model calls it.
    pub name: String,
    /// What the model is told.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Value,
    /// What a call may do.
    #[serde(default)]
    pub effects: Vec<String>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does, in a line.
    pub description: String,
    /// What to type after it; may be empty.
    #[serde(default)]
    pub hint: String,
}

impl Listing {
    /// Whether it is one that the model and people can be shown.
    pub fn check(&self) -> Result<(), String> {
        if self.tools.len() > PLUGIN_TOOLS_MAX || self.commands.len() > PLUGIN_TOOLS_MAX {
            return Err(format!("a plugin may have {PLUGIN_TOOLS_MAX} tools and as many commands"));
        }
        for tool in &self.tools {
            check_name("tool", &tool.name)?;
            check_length("description", &tool.name, &tool.description, PLUGIN_DESCRIPTION_MAX_BYTES)?;
            check_length("schema", &tool.name, &tool.input_schema.to_string(), PLUGIN_SCHEMA_MAX_BYTES)?;
            let is_long = |effect: &String| effect.len() > PLUGIN_EFFECT_MAX_BYTES;
            if tool.effects.len() > PLUGIN_EFFECTS_MAX || tool.effects.iter().any(is_long) {
                return Err(format!("the tool {:?} has too many effects, or too long ones", tool.name));
            }
        }
        for command in &self.commands {
            check_name("command", &command.name)?;
            check_length("description", &command.name, &command.description, PLUGIN_DESCRIPTION_MAX_BYTES)?;
            check_length("hint", &command.name, &command.hint, PLUGIN_DESCRIPTION_MAX_BYTES)?;
        }
        Ok(())
    }
}

fn check_name(kind: &str, name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > PLUGIN_NAME_MAX_CHARS || !name.chars().all(plain) {
        return Err(format!(
            "{name:?} is no name for a {kind}: 1 to {PLUGIN_NAME_MAX_CHARS} letters, digits, \"_\" or \"-\""
        ));
    }
    Ok(())
}

fn check_length(what: &str, name: &str, text: &str, max_bytes: usize) -> Result<(), String> {
    if text.len() > max_bytes {
        return Err(format!("the {what} of {name:?} is longer than {max_bytes} bytes"));
    }
    Ok(())
}

/// The listing that a component carries; `None` when it carries none.
pub fn read(component: &[u8]) -> Result<Option<Listing>, String> {
    let mut found = None;
    for section in sections(component)? {
        if let Some(content) = section.listing {
            found = Some(content);
        }
    }
    let Some(content) = found else { return Ok(None) };
    let wrong = |why: String| {
        format!("its section {SECTION} is wrong ({why}): build it again with `airlock plugin build`")
    };
    let listing: Listing = serde_json::from_slice(content).map_err(|error| wrong(error.to_string()))?;
    listing.check().map_err(wrong)?;
    Ok(Some(listing))
}

/// The component with this listing in it, in the place of any that it had.
pub fn write(component: &[u8], listing: &Listing) -> Result<Vec<u8>, String> {
    listing.check()?;
    let mut written = component.to_vec();
    for section in sections(component)?.into_iter().rev().filter(|section| section.listing.is_some()) {
        written.drain(section.range);
    }
    let content = serde_json::to_vec(listing).map_err(|error| error.to_string())?;
    CustomSection { name: SECTION.into(), data: Cow::Owned(content) }.append_to_component(&mut written);
    Ok(written)
}

/// Whether these bytes are a component at all.
pub(super) fn check_kind(bytes: &[u8]) -> Result<(), String> {
    if Parser::is_component(bytes) {
        return Ok(());
    }
    Err("it is no WebAssembly component: build it for wasm32-wasip2, or make one of the module".to_owned())
}

struct Section<'c> {
    /// With its head.
    range: std::ops::Range<usize>,
    listing: Option<&'c [u8]>,
}

/// The sections of a component itself, and none of the modules and components in it.
fn sections(component: &[u8]) -> Result<Vec<Section<'_>>, String> {
    check_kind(component)?;
    let mut sections = Vec::new();
    let mut parser = Parser::new(0);
    let (mut rest, mut offset) = (component, 0);
    while !rest.is_empty() {
        let broken = |error: wasmparser::BinaryReaderError| format!("it is damaged: {error}");
        let (consumed, payload) = match parser.parse(rest, true).map_err(broken)? {
            wasmparser::Chunk::Parsed { consumed, payload } => (consumed, payload),
            wasmparser::Chunk::NeedMoreData(_) => return Err("it is cut off".to_owned()),
        };
        let mut skipped = 0;
        let mut listing = None;
        match payload {
            Payload::CustomSection(section) if section.name() == SECTION => listing = Some(section.data()),
            Payload::ModuleSection { unchecked_range, .. }
            | Payload::ComponentSection { unchecked_range, .. } => {
                // The parser itself goes on behind it.
                skipped = unchecked_range.len();
            }
            Payload::End(_) => break,
            _ => {}
        }
        let end = offset + consumed + skipped;
        if end > component.len() {
            return Err("it is cut off".to_owned());
        }
        sections.push(Section { range: offset..end, listing });
        (rest, offset) = (&component[end..], end);
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn listing(name: &str) -> Listing {
        let tool = ListedTool {
            name: name.to_owned(),
            description: "counts".to_owned(),
            input_schema: json!({"type": "object"}),
            effects: vec!["read".to_owned()],
        };
        Listing { interface: "0.1.0".to_owned(), tools: vec![tool], commands: Vec::new() }
    }

    #[test]
    fn what_was_written_is_read_and_replaces_what_was_there() {
        assert_eq!(read(EMPTY).unwrap(), None);
        let once = write(EMPTY, &listing("one")).unwrap();
        assert_eq!(read(&once).unwrap(), Some(listing("one")));
        let twice = write(&once, &listing("two")).unwrap();
        assert_eq!(read(&twice).unwrap(), Some(listing("two")));
        assert_eq!(twice.len(), once.len());
    }

    #[test]
    fn what_is_inside_of_a_component_is_passed_over() {
        let mut inner = wasm_encoder::Component::new();
        let own = CustomSection { name: SECTION.into(), data: Cow::Borrowed(b"not ours") };
        inner.section(&own);
        let mut module = wasm_encoder::Module::new();
        module.section(&own);
        let mut outer = wasm_encoder::Component::new();
        outer.section(&wasm_encoder::ModuleSection(&module));
        outer.section(&wasm_encoder::NestedComponentSection(&inner));
        let outer = outer.finish();
        assert_eq!(read(&outer).unwrap(), None);
        let once = write(&outer, &listing("one")).unwrap();
        let twice = write(&once, &listing("two")).unwrap();
        assert_eq!(read(&twice).unwrap(), Some(listing("two")));
        assert!(twice.starts_with(&outer));
    }

    #[test]
    fn what_is_no_component_is_said_to_be_none() {
        for bytes in [b"".as_slice(), b"\0asm\x01\0\0\0", b"not wasm at all"] {
            assert!(read(bytes).unwrap_err().contains("no WebAssembly component"));
        }
        let whole = write(EMPTY, &listing("one")).unwrap();
        for end in EMPTY.len() + 1..whole.len() {
            assert!(read(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn names_that_could_confuse_are_refused() {
        for name in ["", "a b", "a/b", "ä", &"x".repeat(65)] {
            assert!(write(EMPTY, &listing(name)).is_err(), "{name:?}");
        }
    }

    /// Whether a listing is refused, and why, once its only tool was changed.
    fn refused(change: impl FnOnce(&mut ListedTool)) -> Option<String> {
        let mut listing = listing("one");
        change(&mut listing.tools[0]);
        listing.check().err()
    }

    #[test]
    fn a_plugin_has_as_many_tools_and_commands_as_it_may_and_no_more() {
        let tool = listing("one").tools.remove(0);
        let command = ListedCommand { name: "c".to_owned(), description: String::new(), hint: String::new() };
        let of = |tools: usize, commands: usize| Listing {
            interface: "0.1.0".to_owned(),
            tools: vec![tool.clone(); tools],
            commands: vec![command.clone(); commands],
        };
        assert_eq!(of(PLUGIN_TOOLS_MAX, PLUGIN_TOOLS_MAX).check(), Ok(()));
        for over in [of(PLUGIN_TOOLS_MAX + 1, 0), of(0, PLUGIN_TOOLS_MAX + 1)] {
            assert!(over.check().unwrap_err().contains("64 tools"));
        }
    }

    #[test]
    fn what_the_model_is_told_of_a_tool_is_as_long_as_it_may_be_and_no_longer() {
        let schema = |bytes: usize| {
            let empty = json!({"type": "object", "x": ""}).to_string().len();
            json!({"type": "object", "x": "x".repeat(bytes - empty)})
        };
        assert_eq!(refused(|tool| tool.description = "x".repeat(PLUGIN_DESCRIPTION_MAX_BYTES)), None);
        assert_eq!(refused(|tool| tool.input_schema = schema(PLUGIN_SCHEMA_MAX_BYTES)), None);
        assert_eq!(refused(|tool| tool.effects = vec!["x".repeat(64); PLUGIN_EFFECTS_MAX]), None);
        let why = refused(|tool| tool.description = "x".repeat(PLUGIN_DESCRIPTION_MAX_BYTES + 1));
        assert!(why.unwrap().contains("the description of \"one\""));
        let why = refused(|tool| tool.input_schema = schema(PLUGIN_SCHEMA_MAX_BYTES + 1));
        assert!(why.unwrap().contains("the schema of \"one\""));
        assert!(refused(|tool| tool.effects = vec!["x".to_owned(); PLUGIN_EFFECTS_MAX + 1]).is_some());
        assert!(refused(|tool| tool.effects = vec!["x".repeat(PLUGIN_EFFECT_MAX_BYTES + 1)]).is_some());
    }
}
