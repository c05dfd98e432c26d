//! Git's settings as a text: no git is run, for a repository's settings may run things.

/// Each setting: `section.name` or `section.MIDDLE.name`, and its value. What git wouldn't take is left out.
pub(super) fn settings(text: &str) -> Vec<(String, String)> {
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    let (mut found, mut section) = (Vec::new(), String::new());
    while let Some(letter) = letters.next() {
        match letter {
            '#' | ';' => drop(letters.by_ref().find(|letter| *letter == '\n')),
            '[' => section = header(&mut letters),
            letter if letter.is_ascii_alphanumeric() => {
                let mut name = String::from(letter);
                while let Some(letter) = letters.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
                    name.push(letter);
                }
                while letters.next_if(|letter| matches!(letter, ' ' | '\t')).is_some() {}
                let value = letters.next_if_eq(&'=').map(|_| value(&mut letters));
                found.push((format!("{section}.{}", name.to_ascii_lowercase()), value.unwrap_or_default()));
            }
            _ => {}
        }
    }
    found
}

/// `section "middle"]`. Only the middle keeps its letters as they are.
fn header(letters: &mut impl Iterator<Item = char>) -> String {
    let (mut name, mut is_quoted) = (String::new(), false);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            ']' if !is_quoted => break,
            '"' if !is_quoted => {
                is_quoted = true;
                name.push('.');
            }
            '"' => is_quoted = false,
            '\\' if is_quoted => name.extend(letters.next()),
            _ if is_quoted => name.push(letter),
            ' ' | '\t' => {}
            _ => name.push(letter.to_ascii_lowercase()),
        }
    }
    name
}

fn value(letters: &mut impl Iterator<Item = char>) -> String {
    let (mut value, mut is_quoted, mut is_comment) = (String::new(), false, false);
    // Up to here blanks at the end don't count.
    let mut kept = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            _ if is_comment => {}
            '"' => {
                is_quoted = !is_quoted;
                kept = value.len();
            }
            '#' | ';' if !is_quoted => is_comment = true,
            '\\' => {
                match letters.next() {
                    Some('\n') | None => continue,
                    // The end of a line on other systems.
                    Some('\r') => {
                        letters.next();
                        continue;
                    }
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => drop(value.pop()),
                    Some(other) => value.push(other),
                }
                kept = value.len();
            }
            _ if letter.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(letter);
                }
            }
            _ => {
                value.push(letter);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "\u{feff}[Core]\r\n\tfsMonitor = ./a b  # c\n  bare\n[include] path = \"x y\" ; z\n\
                    [includeIf \"gitdir:~/A\\\"]b/\"]\npath=one\\\n  two\n[alias] x = \"!f() { a; }; f\"\n[a.B]c=d\\\\e\\tf\n\
                    # [core]\n;k=v\n[filter \"L\"] clean = %f \n";
        let settings = settings(text);
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            settings,
            [
                ("core.fsmonitor", "./a b"),
                ("core.bare", ""),
                ("include.path", "x y"),
                ("includeif.gitdir:~/A\"]b/.path", "one  two"),
                ("alias.x", "!f() { a; }; f"),
                ("a.b.c", "d\\e\tf"),
                ("filter.L.clean", "%f"),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[\\[\\]\"\\\\#;=a.b \n\r\t\u{e9}-]{0,60}") {
            for (key, _) in settings(&text) {
                prop_assert!(key.contains('.'));
            }
        }
    }
}
