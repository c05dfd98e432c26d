//! What goes in as it is in the repository, at the same place, so that links between documents hold.

use crate::repository;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

const DOCUMENTS: [&str; 9] = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "editors",
    "plugins",
    "server/docs",
    "wit",
];

/// Copies them.
pub(super) fn copy(folder: &Path) -> Result<()> {
    for path in packed()? {
        let to = folder.join(&path);
        std::fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        std::fs::copy(repository().join(&path), to).with_context(|| path)?;
    }
    Ok(())
}

/// The files that git knows, and nothing that was built beside them.
fn packed() -> Result<Vec<String>> {
    let list =
        Command::new("git").current_dir(repository()).args(["ls-files", "--"]).args(DOCUMENTS).output()?;
    ensure!(list.status.success(), "git ls-files: {}", String::from_utf8_lossy(&list.stderr));
    let mut files = Vec::new();
    for path in String::from_utf8(list.stdout)?.lines().filter(is_needed) {
        take(path, &mut files)?;
    }
    Ok(files)
}

fn is_needed(path: &&str) -> bool {
    let is_source =
        path.starts_with("editors/vscode/") && !path.ends_with(".md") && !path.contains("/images/");
    // New plugins are made from these by the program, which has them.
    let is_template = path.starts_with("plugins/template/");
    !is_source && !is_template
}

/// Takes a file. What git knows as a link becomes what it leads to: it may lead to what is not packed.
fn take(path: &str, files: &mut Vec<String>) -> Result<()> {
    let place = repository().join(path);
    if !place.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(place)? {
        take(&format!("{path}/{}", entry?.file_name().display()), files)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Component, PathBuf};

    /// `a/b/../c` is `a/c`.
    fn resolved(path: &Path) -> PathBuf {
        let mut resolved = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(resolved.pop()),
                part => resolved.push(part),
            }
        }
        resolved
    }

    #[test]
    fn the_links_of_every_packed_document_lead_to_what_is_packed() {
        let files = packed().expect("git lists them");
        let places: BTreeSet<PathBuf> =
            files.iter().flat_map(|file| Path::new(file).ancestors()).map(Path::to_owned).collect();
        let (mut links, mut broken) = (0, Vec::new());
        for document in files.iter().filter(|file| file.ends_with(".md")) {
            let text = std::fs::read_to_string(repository().join(document)).expect("text");
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            for target in targets.filter(|target| !target.contains(':') && !target.starts_with('#')) {
                let file = target.split('#').next().expect("at least one piece");
                let beside = Path::new(document).parent().expect("a file is in a folder");
                links += 1;
                if !places.contains(&resolved(&beside.join(file))) {
                    broken.push(format!("{document}: {target}"));
                }
            }
        }
        assert!(links > 30, "only {links} links were found");
        assert!(broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn the_sdk_is_packed_with_its_interface_and_no_link_is() {
        let files = packed().expect("git lists them");
        for file in ["plugins/sdk/src/lib.rs", "plugins/sdk/wit/types.wit", "wit/v0.1/types.wit"] {
            assert!(files.contains(&file.to_owned()), "{file}: {files:?}");
        }
        assert!(files.iter().all(|file| repository().join(file).is_file()), "{files:?}");
    }
}
