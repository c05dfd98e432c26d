//! The Debian mirror that apt is configured with here.

use anyhow::{Context, Result};
use std::path::Path;

/// Its address, without a slash at the end.
pub(crate) fn configured() -> Result<String> {
    let folder = Path::new("/etc/apt/sources.list.d");
    let entries =
        std::fs::read_dir(folder).map(|entries| entries.flatten().collect()).unwrap_or_else(|_| vec![]);
    let mut files: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    files.sort();
    files.insert(0, "/etc/apt/sources.list".into());
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    texts.filter_map(|text| in_sources(&text)).next().context(
        "apt is configured with no Debian mirror here, and the microVM lab is made of Debian's packages: run this on \
         Debian",
    )
}

/// The first address of an archive whose folder is `debian`: in either of the formats that apt reads it is a word.
fn in_sources(text: &str) -> Option<String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let is_http = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let words = lines.flat_map(str::split_whitespace).filter(is_http).map(|word| word.trim_end_matches('/'));
    words.filter(|word| word.ends_with("/debian")).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::in_sources;

    #[test]
    fn the_mirror_is_found_in_both_formats_and_other_archives_are_not_taken_for_it() {
        let one_line = "# deb http://old.example/debian/ sid main\ndeb https://other.example/apt stable main\n\
                        deb [arch=amd64] http://mirror.example/debian/ bookworm main\n";
        assert_eq!(in_sources(one_line).as_deref(), Some("http://mirror.example/debian"));
        let fields =
            "Types: deb\n# http://old.example/debian\nURIs: https://mirror.example/debian\nSuites: trixie\n";
        assert_eq!(in_sources(fields).as_deref(), Some("https://mirror.example/debian"));
        assert_eq!(in_sources("deb http://mirror.example/debian-security bookworm-security main"), None);
    }
}
