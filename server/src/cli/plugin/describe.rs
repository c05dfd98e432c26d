//! A plugin in words.

use super::World;
use crate::environment::Environment;
use crate::neutral::{neutral, neutral_line};
use crate::plugins::section::Listing;
use crate::plugins::{Plugin, Powers};
use std::fmt::Write as _;

/// Everything about a plugin that its user wants to know before they grant it something.
pub(super) fn whole(world: &World, plugin: &Plugin, listing: &Listing) -> String {
    let manifest = &plugin.manifest;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} {}", manifest.name, neutral_line(&manifest.version));
    if !manifest.description.is_empty() {
        let _ = writeln!(text, "{}", neutral_line(&manifest.description));
    }
    let folder = plugin.place.folder().display().to_string();
    let _ = writeln!(text, "folder     {}", neutral_line(&folder));
    let _ = writeln!(text, "sha256     {}", plugin.digest);
    let _ = writeln!(text, "interface  {}", neutral_line(&listing.interface));
    for tool in &listing.tools {
        let effects =
            if tool.effects.is_empty() { "only computes".to_owned() } else { tool.effects.join(", ") };
        let _ = writeln!(text, "\ntool {} ({})", neutral_line(&tool.name), neutral_line(&effects));
        let _ = writeln!(text, "{}", indent(&neutral(&tool.description)));
        let _ = writeln!(text, "  input {}", neutral_line(&tool.input_schema.to_string()));
    }
    for command in &listing.commands {
        let _ = writeln!(text, "\ncommand /{} {}", neutral_line(&command.name), neutral_line(&command.hint));
        let _ = writeln!(text, "{}", indent(&neutral(&command.description)));
    }
    text.push('\n');
    text.push_str(&asks(world, plugin));
    text
}

/// Which plugin it is, when there may be several of a name.
pub(super) fn whose(plugin: &Plugin) -> String {
    format!("{} in {}\n", plugin.name(), neutral_line(&plugin.place.folder().display().to_string()))
}

/// What a plugin asks for, and what it has of that.
pub(super) fn asks(world: &World, plugin: &Plugin) -> String {
    let asks = &plugin.manifest.asks;
    if asks.is_empty() {
        return "It asks for nothing: it can only compute.\n".to_owned();
    }
    let granted = world.plugins.grants().granted(plugin);
    let (has, missing) = (asks.within(&granted), asks.beyond(&granted));
    let mut text = String::new();
    for (head, powers) in [("It asks for, and has:", &has), ("It asks for, and does not have:", &missing)] {
        if !powers.is_empty() {
            let _ = writeln!(text, "{head}\n{}", lines(powers));
        }
    }
    if !missing.is_empty() {
        let _ = writeln!(text, "Give it with `airlock plugin grant {}`.", plugin.name());
    }
    for name in world.plugins.missing_secrets(plugin) {
        let variable = Environment::plugin_secret_variable(plugin.name(), &name);
        let or_into = variable.map(|variable| format!(", or into {variable}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "Its secret {name} is not set: put it under [plugins.{}.secrets] in your config.toml{or_into}.",
            plugin.name()
        );
    }
    text
}

pub(super) fn lines(powers: &Powers) -> String {
    powers.lines().iter().map(|line| format!("  {}", neutral_line(line))).collect::<Vec<_>>().join("\n")
}

fn indent(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
