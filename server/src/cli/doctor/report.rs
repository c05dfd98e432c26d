//! The findings for people, and for programs.

use super::Findings;
use super::finding::{Finding, State};
use crate::cli::paint::Paint;
use crate::distribution::Distribution;
use crate::neutral::{neutral, neutral_line};
use crate::sandbox::Isolation;
use serde_json::{Value, json};

/// Of the shape of the JSON. It grows when something in it changes its meaning or goes; more may come without that.
const VERSION: u32 = 1;

/// What stands before a line that goes on.
const INDENT: &str = "     ";

/// The first line.
pub(super) fn title(distribution: &Distribution) -> String {
    format!("Airlock {} on {}", env!("CARGO_PKG_VERSION"), neutral_line(distribution.name()))
}

/// A finding, in a line or some.
pub(super) fn lines(finding: &Finding, paint: Paint) -> String {
    let mark = match finding.state {
        State::Well => paint.good("[ok]"),
        State::Hint => paint.doubtful("[--]"),
        State::Failed => paint.bad("[!!]"),
    };
    let mut text = format!("{mark} {}: {}\n", finding.title, indented(&finding.text));
    if let Some(remedy) = &finding.remedy {
        text.push_str(&format!("{INDENT}{}\n", indented(&remedy.text)));
    }
    text
}

fn indented(text: &str) -> String {
    neutral(text).trim_end().replace('\n', &format!("\n{INDENT}"))
}

/// The last line: what it comes to, and that a fix can be asked for.
pub(super) fn summary(findings: &Findings, offers_fix: bool) -> String {
    let count = |state| findings.all.iter().filter(|finding| finding.state == state).count();
    let mut remedies = findings.all.iter().filter_map(|finding| finding.remedy.as_ref());
    let can_fix = remedies.any(|remedy| !remedy.needs.is_empty() || !remedy.commands.is_empty());
    let fix = if can_fix && offers_fix { " `airlock doctor --fix` does what it can about it." } else { "" };
    match (count(State::Failed), count(State::Hint)) {
        (0, 0) => "All is well.\n".to_owned(),
        (0, _) => format!("All that is needed is there; [--] would be better.{fix}\n"),
        (1, _) => format!("One thing is not as it must be: [!!].{fix}\n"),
        (failed, _) => format!("{failed} things are not as they must be: [!!].{fix}\n"),
    }
}

/// The same for programs: server/docs/troubleshooting.md has its shape.
pub(super) fn json(findings: &Findings, distribution: &Distribution) -> Value {
    let checks = findings.all.iter().map(|finding| {
        let remedy = finding
            .remedy
            .as_ref()
            .map(|remedy| json!({"text": neutral(&remedy.text), "commands": distribution.commands(remedy)}));
        json!({
            "name": finding.name,
            "title": finding.title,
            "state": match finding.state {
                State::Well => "ok",
                State::Hint => "hint",
                State::Failed => "failed",
            },
            "text": neutral(&finding.text),
            "remedy": remedy,
        })
    });
    json!({
        "version": VERSION,
        "airlock": env!("CARGO_PKG_VERSION"),
        "system": {"id": distribution.id(), "name": neutral_line(distribution.name())},
        "well": findings.are_well(),
        "isolation": findings.isolation.map(|isolation| match isolation {
            Isolation::Microvm => "microvm",
            Isolation::Container => "container",
        }),
        "checks": checks.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Need;
    use pretty_assertions::assert_eq;

    fn findings() -> Findings {
        let debian = Distribution::of_text("ID=debian\nPRETTY_NAME=Debian\n");
        let podman = debian.remedy("install it", Need::Podman);
        let all = vec![
            Finding::well("model", "Model", "one\ntwo"),
            Finding::hint("git", "Git", "not \u{1b}[31mred", "do something"),
            Finding::failed("podman", "Podman", "podman is not installed", podman),
        ];
        Findings { all, isolation: None }
    }

    #[test]
    fn a_finding_says_what_is_and_beneath_it_what_to_do() {
        let text: String = findings().all.iter().map(|finding| lines(finding, Paint::PLAIN)).collect();
        let expected = "[ok] Model: one\n     two\n[--] Git: not ␛[31mred\n     do something\n\
                        [!!] Podman: podman is not installed\n     install it: `apt install podman crun uidmap`\n";
        assert_eq!(text.replace("`sudo ", "`"), expected);
        let expected =
            "One thing is not as it must be: [!!]. `airlock doctor --fix` does what it can about it.\n";
        assert_eq!(summary(&findings(), true), expected);
        assert_eq!(summary(&findings(), false), "One thing is not as it must be: [!!].\n");
    }

    #[test]
    fn the_json_has_the_shape_that_is_documented() {
        let debian = Distribution::of_text("ID=debian\nPRETTY_NAME=Debian\n");
        let mut json = json(&findings(), &debian);
        let command = json["checks"][2]["remedy"]["commands"][0].take();
        assert!(command.as_str().unwrap().ends_with("apt install podman crun uidmap"), "{command}");
        json["checks"][2]["remedy"]["text"].take();
        let check = |name, title, state, text, remedy: Value| json!({"name": name, "title": title, "state": state, "text": text, "remedy": remedy});
        let do_something = json!({"text": "do something", "commands": []});
        let expected = json!({
            "version": 1,
            "airlock": env!("CARGO_PKG_VERSION"),
            "system": {"id": "debian", "name": "Debian"},
            "well": false,
            "isolation": null,
            "checks": [
                check("model", "Model", "ok", "one\ntwo", Value::Null),
                check("git", "Git", "hint", "not ␛[31mred", do_something),
                check("podman", "Podman", "failed", "podman is not installed", json!({"text": null, "commands": [null]})),
            ],
        });
        assert_eq!(json, expected);
    }
}
