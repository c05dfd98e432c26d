//! Who the user is to the system, and the ids that they may give to others: a container without root needs some.

use super::error::SandboxError;
use crate::distribution::{Distribution, HostCommand, Need, Remedy};
use crate::environment::Environment;
use crate::storage;
use std::path::Path;

/// The programs that a podman without root calls to have ids of its own.
const ID_TOOLS: [&str; 2] = ["newuidmap", "newgidmap"];
/// Who has which ids to give, and the option that adds some.
const ID_FILES: [(&str, &str); 2] = [("/etc/subuid", "--add-subuids"), ("/etc/subgid", "--add-subgids")];
const FILE_MAX_BYTES: usize = 4 << 20;
/// Where such ids begin, and how many somebody gets.
const IDS_BEGIN: u64 = 100_000;
const IDS: u64 = 65_536;

/// The user's name, or their number where that has no name.
pub(super) fn name() -> String {
    let uid = rustix::process::getuid().as_raw();
    name_of(&read("/etc/passwd"), uid).unwrap_or_else(|| uid.to_string())
}

/// Whether a container without root can have ids of its own. Gives what is there for it.
pub(super) fn ids(environment: &Environment) -> Result<String, SandboxError> {
    let missing: Vec<&str> =
        ID_TOOLS.into_iter().filter(|tool| environment.program(tool).is_none()).collect();
    if !missing.is_empty() {
        let what = format!("{} not installed, which podman needs without root", are(&missing));
        return Err(SandboxError::new(what, Distribution::of_system().remedy("install them", Need::IdTools)));
    }
    let name = name();
    let texts = ID_FILES.map(|(file, _)| read(file));
    let lacking: Vec<usize> = (0..2).filter(|&index| !has_ids(&texts[index], &name)).collect();
    if lacking.is_empty() {
        return Ok(format!("{name} has some to give to a sandbox"));
    }
    let mut words = vec!["usermod".to_owned()];
    for &index in &lacking {
        let begin = free_from(&texts[index]);
        words.extend([ID_FILES[index].1.to_owned(), format!("{begin}-{}", begin + IDS - 1)]);
    }
    words.push(name.clone());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let commands = vec![HostCommand::as_root(&words), HostCommand::as_user(&["podman", "system", "migrate"])];
    let files: Vec<&str> = lacking.iter().map(|&index| ID_FILES[index].0).collect();
    let what = format!("{name} has no ids to give to a sandbox in {}", files.join(" and "));
    Err(SandboxError::new(what, Remedy::run("give them some", commands)))
}

fn are(names: &[&str]) -> String {
    format!("{} {}", names.join(" and "), if names.len() == 1 { "is" } else { "are" })
}

fn read(file: &str) -> String {
    storage::read_text(Path::new(file), FILE_MAX_BYTES).ok().flatten().unwrap_or_default()
}

fn name_of(passwd: &str, uid: u32) -> Option<String> {
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let line = lines.find(|fields| fields.get(2).is_some_and(|id| *id == uid.to_string()))?;
    Some(line[0].to_owned())
}

/// Whether a line `NAME:BEGIN:COUNT` is theirs, and gives them any.
fn has_ids(text: &str, name: &str) -> bool {
    let uid = rustix::process::getuid().as_raw().to_string();
    text.lines().filter_map(range).any(|(owner, _, count)| count > 0 && (owner == name || owner == uid))
}

/// The first id that nobody was given, nor any above it.
fn free_from(text: &str) -> u64 {
    let ends = text.lines().filter_map(range).map(|(_, begin, count)| begin.saturating_add(count));
    ends.max().unwrap_or_default().max(IDS_BEGIN)
}

fn range(line: &str) -> Option<(&str, u64, u64)> {
    let mut fields = line.trim().split(':');
    Some((fields.next()?, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_somebody_has_are_given_to_nobody_else() {
        assert_eq!(free_from(""), 100_000);
        assert_eq!(free_from("a:100000:65536\nb:231072:65536\nnonsense\nc:165536:65536\n"), 296_608);
        assert_eq!(free_from("low:1:10\n"), 100_000);
    }

    #[test]
    fn a_user_is_known_by_name_or_number_and_an_empty_range_gives_nothing() {
        let uid = rustix::process::getuid().as_raw();
        assert!(has_ids("other:1:2\nada:100000:65536\n", "ada"));
        assert!(has_ids(&format!("{uid}:100000:65536\n"), "ada"));
        assert!(!has_ids("adam:100000:65536\nada:100000:0\nada:x:y\n", "ada"));
    }

    #[test]
    fn a_name_is_found_by_its_number() {
        let passwd = "root:x:0:0::/root:/bin/sh\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n";
        assert_eq!(name_of(passwd, 1000).as_deref(), Some("ada"));
        assert_eq!(name_of(passwd, 100), None);
    }
}
