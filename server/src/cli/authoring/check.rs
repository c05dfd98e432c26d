//! What is wrong with a component, or odd, told to its author before a user or the model meets it.

use crate::nearest::nearest;
use crate::plugins::section::{ListedTool, Listing};
use crate::plugins::{Manifest, Names, Powers, WorkspacePower};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a tool can say of its effects.
const EFFECTS: [&str; 4] = ["read", "write", "exec", "http"];

/// What an author should know.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// It cannot be used like this.
    pub(super) errors: Vec<String>,
    /// It can, and yet.
    pub(super) warnings: Vec<String>,
}

/// Looks at all of it.
pub(super) fn check(listing: &Listing, names: &Names, manifest: &Manifest, built_in: &[String]) -> Findings {
    let mut findings = Findings::default();
    if listing.tools.is_empty() && listing.commands.is_empty() {
        findings.errors.push("it has no tool and no command: name them in export!".to_owned());
    }
    let tools = listing.tools.iter().map(|tool| ("tool", &tool.name, &tool.description));
    let commands = listing.commands.iter().map(|command| ("command", &command.name, &command.description));
    let mut seen = BTreeSet::new();
    for (kind, name, description) in tools.chain(commands) {
        if !seen.insert((kind, name)) {
            findings.errors.push(format!("there are two {kind}s called {name}: rename one"));
        }
        if description.trim().is_empty() {
            findings.errors.push(format!("the {kind} {name} has no description: write what it does"));
        }
    }
    for tool in &listing.tools {
        if built_in.contains(&tool.name) {
            findings
                .errors
                .push(format!("the tool {} is called as one of Airlock's own: rename it", tool.name));
        }
        schema(tool, &mut findings);
        effects(tool, &mut findings);
    }
    powers(listing, names, &manifest.asks, &mut findings);
    findings
}

fn schema(tool: &ListedTool, findings: &mut Findings) {
    let name = &tool.name;
    if tool.input_schema.get("type") != Some(&Value::from("object")) {
        let told = format!("the schema of {name} is no object: its root needs \"type\": \"object\"");
        return findings.errors.push(told);
    }
    if let Err(error) = jsonschema::meta::validate(&tool.input_schema) {
        let place = error.instance_path().to_string();
        findings.errors.push(format!("the schema of {name} is no JSON schema, at {place:?}: {error}"));
    }
}

fn effects(tool: &ListedTool, findings: &mut Findings) {
    for effect in tool.effects.iter().filter(|effect| !EFFECTS.contains(&effect.as_str())) {
        let meant =
            nearest(effect, EFFECTS).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        let told =
            format!("the effect {effect:?} of {} is not one of {}{meant}", tool.name, EFFECTS.join(", "));
        findings.warnings.push(told);
    }
}

/// What the component imports against what `plugin.toml` asks for and the tools say.
fn powers(listing: &Listing, names: &Names, asks: &Powers, findings: &mut Findings) {
    let reads = asks.workspace.contains(&WorkspacePower::Read);
    let proposes = asks.workspace.contains(&WorkspacePower::Propose);
    for (interface, asked, line, effects) in [
        ("workspace", reads || proposes, "workspace = [\"read\"]", ["read", "write"].as_slice()),
        ("editor", asks.editor, "editor = true", &[]),
        ("exec", asks.exec, "exec = true", &["exec"]),
        ("http", !asks.http.is_empty(), "http = [{ origin = \"https://…\" }]", &["http"]),
        ("kv", asks.kv, "kv = true", &[]),
    ] {
        let imported = names.needs(interface);
        if imported && !asked {
            findings.warnings.push(format!(
                "it uses {interface}, and plugin.toml does not ask for it, so each call is denied: add `{line}` under \
                 [wants]"
            ));
        }
        if asked && !imported {
            findings.warnings.push(format!(
                "plugin.toml asks for {interface}, and nothing uses it: leave it out, for users are asked to grant it"
            ));
        }
        let says = |tool: &ListedTool| tool.effects.iter().any(|said| effects.contains(&said.as_str()));
        let of_tools = imported && !effects.is_empty() && !listing.tools.is_empty();
        // Its commands may be what uses it.
        if of_tools && listing.commands.is_empty() && !listing.tools.iter().any(says) {
            let words = effects.iter().map(|effect| format!("{effect:?}")).collect::<Vec<_>>().join(" or ");
            findings
                .warnings
                .push(format!("it uses {interface}, and none of its tools has the effect {words}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, schema: Value, effects: &[&str]) -> ListedTool {
        ListedTool {
            name: name.to_owned(),
            description: "Does it".to_owned(),
            input_schema: schema,
            effects: effects.iter().map(|&effect| effect.to_owned()).collect(),
        }
    }

    fn findings(tools: Vec<ListedTool>, imports: &[&str], wants: &str) -> Findings {
        let listing = Listing { interface: "0.1.0".to_owned(), tools, commands: Vec::new() };
        let imports = imports.iter().map(|name| format!("airlock:plugin/{name}@0.1.0")).collect();
        let manifest = Manifest::parse(&format!("name = \"a\"\nversion = \"1\"\n[wants]\n{wants}")).unwrap();
        check(&listing, &Names { imports, exports: Vec::new() }, &manifest, &["bash".to_owned()])
    }

    fn object() -> Value {
        json!({"type": "object", "properties": {}})
    }

    #[test]
    fn a_good_one_has_nothing_to_be_told() {
        let good = findings(vec![tool("a", object(), &["read"])], &["workspace"], "workspace = [\"read\"]");
        assert_eq!(good, Findings::default());
    }

    #[test]
    fn what_cannot_be_used_is_an_error() {
        for (tools, words) in [
            (vec![], "no tool and no command"),
            (vec![tool("a", object(), &[]), tool("a", object(), &[])], "two tools called a"),
            (vec![tool("bash", object(), &[])], "one of Airlock's own"),
            (vec![tool("a", json!({"type": "string"}), &[])], "is no object"),
            (
                vec![tool("a", json!({"type": "object", "properties": {"x": {"type": "strin"}}}), &[])],
                "/properties/x",
            ),
        ] {
            let found = findings(tools, &[], "").errors.join("\n");
            assert!(found.contains(words), "{words}: {found}");
        }
    }

    #[test]
    fn what_would_be_denied_or_is_asked_for_in_vain_is_told() {
        for (effects, imports, wants, words) in [
            (["exec"], vec!["exec"], "", "add `exec = true` under [wants]"),
            (["exec"], vec![], "exec = true", "asks for exec, and nothing uses it"),
            (["read"], vec!["exec"], "exec = true", "none of its tools has the effect \"exec\""),
            (["reed"], vec![], "", "did you mean \"read\"?"),
        ] {
            let found = findings(vec![tool("a", object(), &effects)], &imports, wants).warnings.join("\n");
            assert!(found.contains(words), "{words}: {found}");
        }
    }
}
