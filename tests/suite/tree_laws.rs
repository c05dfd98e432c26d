//! Laws of the tree itself: its files stay short, its links lead somewhere, and the commands that its documents name exist.

use airlock_tests::airlock_binary::airlock_binary;
use airlock_tests::tree::{code_of, documents, files, headings, links_of, repository};
use std::path::Path;
use std::process::Command;

/// A file with more lines says why, near its top, on a line with [`REASON`].
const LINES_MAX: usize = 400;
const REASON: &str = "Long because";
/// How far down that may stand.
const TOP: usize = 12;

#[test]
fn no_file_is_long_without_a_reason_at_its_top() {
    let is_code = |path: &&String| {
        ["rs", "ts", "tsx", "mjs", "lua", "py"].iter().any(|end| path.ends_with(&format!(".{end}")))
    };
    let listed = files();
    assert!(listed.len() > 300, "the tree was not looked at: {listed:?}");
    let long: Vec<String> = listed
        .iter()
        .filter(is_code)
        .filter_map(|path| {
            let text = std::fs::read_to_string(repository().join(path)).expect(path);
            let lines = text.lines().count();
            let has_reason = text.lines().take(TOP).any(|line| line.contains(REASON));
            (lines > LINES_MAX && !has_reason).then(|| format!("{path}: {lines} lines"))
        })
        .collect();
    assert!(long.is_empty(), "split these, or say at their top {REASON:?}: {long:#?}");
}

#[test]
fn the_links_of_every_document_lead_somewhere() {
    let mut links = 0;
    let mut broken = Vec::new();
    for (path, text) in documents() {
        let folder = repository().join(&path).parent().expect("a file is in a folder").to_owned();
        for link in links_of(&text) {
            links += 1;
            if !leads_somewhere(&folder, &path, &link) {
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(links > 30, "only {links} links were found");
    assert!(broken.is_empty(), "{broken:#?}");
}

fn leads_somewhere(folder: &Path, document: &str, link: &str) -> bool {
    if ["http://", "https://", "mailto:"].iter().any(|begin| link.starts_with(begin)) {
        return true;
    }
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let target = if path.is_empty() { repository().join(document) } else { folder.join(path) };
    let Some(heading) = heading else { return target.exists() };
    std::fs::read_to_string(target).is_ok_and(|text| headings(&text).contains(&heading.to_owned()))
}

#[test]
fn every_airlock_command_that_a_document_names_exists() {
    let mut calls: Vec<(String, Vec<String>)> = Vec::new();
    for (path, text) in documents().into_iter().filter(|(path, _)| path != "CHANGELOG.md") {
        calls.extend(code_of(&text).iter().flat_map(|code| called(code)).map(|call| (path.clone(), call)));
    }
    assert!(calls.len() > 30, "only these were found: {calls:?}");
    calls.sort();
    calls.dedup_by(|a, b| a.1 == b.1);
    for (path, call) in calls {
        let (options, words): (Vec<String>, _) =
            call.iter().cloned().partition(|word| word.starts_with("--"));
        let output =
            Command::new(airlock_binary()).arg("help").args(&words).output().expect("airlock starts");
        assert!(output.status.success(), "{path} names `airlock {}`, which does not exist", words.join(" "));
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        for option in options {
            assert!(
                help.contains(&option),
                "{path} names `airlock {} {option}`, which does not exist",
                words.join(" ")
            );
        }
    }
}

/// Each call of `airlock` in a piece of code: its sub-commands, and its options.
fn called(code: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    // A drawing is no code.
    for line in code.lines().filter(|line| !line.contains('─') && !line.contains('│')) {
        let line = line.split(" # ").next().unwrap_or(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        for (index, _) in
            words.iter().enumerate().filter(|(_, word)| **word == "airlock" || word.ends_with("/airlock"))
        {
            let rest = &words[index + 1..];
            let is_name = |word: &&&str| word.chars().all(|letter| letter.is_ascii_lowercase());
            let mut call: Vec<String> = match rest.first() {
                Some(first) if is_name(&first) => vec![(*first).to_owned()],
                // No sub-command: the options are those of the program itself.
                Some(first) if first.starts_with("--") => Vec::new(),
                _ => continue,
            };
            if call == ["plugin"] {
                call.extend(rest.get(1).filter(is_name).map(|word| (*word).to_owned()));
            }
            // What follows a comment or another command is not ours.
            let ours = rest.iter().take_while(|word| !["&&", "|", ">", "·"].contains(word));
            call.extend(ours.filter(|word| word.starts_with("--")).map(|word| {
                word.trim_end_matches([']', ';', ',', ':']).split('=').next().unwrap_or(word).to_owned()
            }));
            calls.push(call);
        }
    }
    calls
}

#[test]
fn an_option_without_a_sub_command_is_a_call_too() {
    assert_eq!(called("airlock --stdio"), [["--stdio"]]);
    assert_eq!(called("airlock lsp --stdio"), [["lsp", "--stdio"]]);
    assert_eq!(called("airlock plugin run --grant all x"), [["plugin", "run", "--grant"]]);
    assert_eq!(called("the airlock's PATH"), Vec::<Vec<String>>::new());
}

/// The server's code without its unit tests, by path.
fn server_code() -> Vec<(String, String)> {
    let is_code = |path: &String| {
        path.starts_with("server/src/") && path.ends_with(".rs") && !path.ends_with("tests.rs")
    };
    let read = |path: String| {
        let text = std::fs::read_to_string(repository().join(&path)).expect(&path);
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
        (path, code)
    };
    files().into_iter().filter(is_code).map(read).collect()
}

#[test]
fn no_path_of_what_the_agent_arranged_is_made_but_for_podman() {
    const TREES: [&str; 3] = [".join(\"upper\")", ".join(\"work\")", ".join(\"homes\")"];
    let mut askers = 0;
    for (path, code) in server_code() {
        let asks = code.contains("for_podman(");
        askers += usize::from(asks);
        let may_ask = path.starts_with("server/src/sandbox/") || path == "server/src/storage/agent_tree.rs";
        assert!(!asks || may_ask, "{path} asks for a path of the agent's");
        let makes = |line: &&str| TREES.iter().any(|name| line.contains(name)) && !line.contains("AgentTree");
        assert_eq!(code.lines().find(makes), None, "{path} makes a path of the agent's");
    }
    assert!(askers > 2, "{askers}");
}

/// So that a test can disturb each of them, and each is one that follows no link.
#[test]
fn every_system_call_beneath_a_handle_passes_one_function() {
    let (mut seen, beneath) = (0, "server/src/storage/beneath");
    for (path, code) in server_code().into_iter().filter(|(path, _)| path.starts_with(beneath)) {
        if path.ends_with("system.rs") {
            continue;
        }
        seen += 1;
        // Types begin with a capital letter, calls don't.
        for rest in code.split("rustix::fs::").skip(1) {
            let names = rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap_or(list));
            let is_call = |name: &str| name.trim_start().starts_with(|c: char| c.is_ascii_lowercase());
            assert!(
                !names.split(',').take(if names == rest { 1 } else { 99 }).any(is_call),
                "{path}: {names}"
            );
        }
        assert!(!code.contains("libc::") && !code.contains("std::fs::{"), "{path}");
    }
    assert!(seen > 2, "{seen}");
}
