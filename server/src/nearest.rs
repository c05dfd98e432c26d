//! The known name that somebody most likely meant: for mistyped slash commands and configuration keys.

use crate::limits::NAME_GUESS_MAX_BYTES;

/// The known name nearest to a mistyped one; `None` when nothing is near enough to be helpful.
///
/// Near is, best first: the same but for letter case and `-`, `_`; the last part of a name with namespaces
/// (`commit` for `git:commit`); a slip of the fingers; a beginning of a known name, or a known name with more behind it.
pub fn nearest<'k>(untrusted_name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if untrusted_name.is_empty() || untrusted_name.len() > NAME_GUESS_MAX_BYTES {
        return None;
    }
    let typed = folded(untrusted_name);
    known
        .into_iter()
        .filter_map(|name| Some((distance(&typed, &folded(name))?, name)))
        .min()
        .map(|(_, name)| name)
}

/// How far apart two names are, as something to sort by; `None` when they have nothing to do with each other.
fn distance(typed: &str, known: &str) -> Option<(usize, usize)> {
    let slips = strsim::osa_distance(typed, known);
    let length = typed.chars().count().max(known.chars().count());
    let length_difference = known.chars().count().abs_diff(typed.chars().count());
    if slips == 0 {
        return Some((0, 0));
    }
    if known.rsplit_once(':').is_some_and(|(_, last)| last == typed) {
        return Some((1, length_difference));
    }
    let begins = known.starts_with(typed) || (known.chars().count() >= 3 && typed.starts_with(known));
    if slips <= 1.max(length / 3) && slips < length {
        // A beginning counts as two slips at most, so that `/se` finds `/sessions` but `/halp` still finds `/help`.
        return Some((1 + if begins { slips.min(2) } else { slips }, length_difference));
    }
    begins.then_some((3, length_difference))
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 8] = [
        "help",
        "clear",
        "quit",
        "load",
        "sessions",
        "model",
        "max_tokens",
        "git:commit",
    ];

    #[test]
    fn a_slip_a_beginning_or_another_case_finds_the_name() {
        for (typed, expected) in [
            ("hlep", "help"),
            ("Help", "help"),
            ("helpme", "help"),
            ("h", "help"),
            ("se", "sessions"),
            ("session", "sessions"),
            ("modle", "model"),
            ("max-tokens", "max_tokens"),
            ("maxtokens", "max_tokens"),
            ("commit", "git:commit"),
            ("git:comit", "git:commit"),
        ] {
            assert_eq!(nearest(typed, KNOWN), Some(expected), "{typed}");
        }
    }

    #[test]
    fn what_is_far_from_everything_gets_no_guess() {
        for typed in ["", "xyzzy", "usr", "z", &"help".repeat(1000)] {
            assert_eq!(nearest(typed, KNOWN), None, "{typed}");
        }
    }
}
