//! The known name that somebody most likely meant: for mistyped slash commands and configuration keys.

use crate::limits::NAME_GUESS_MAX_BYTES;

/// The known name nearest to a mistyped one; `None` when nothing is near enough to be helpful.
///
/// Near is: the same but for letter case and `-`, `_`; a slip of the fingers; a beginning of a known name, or a
/// known name with more behind it; and each of these for the last part of a name with namespaces (`commit` for
/// `git:commit`).
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

/// How far a name is from a known one, which may be meant without its namespaces.
fn distance(typed: &str, known: &str) -> Option<(usize, usize)> {
    let without_namespace = known.rsplit_once(':').and_then(|(_, last)| apart(typed, last));
    let without_namespace = without_namespace.map(|(slips, rest)| (slips + 1, rest));
    apart(typed, known).into_iter().chain(without_namespace).min()
}

/// How far apart two names are, as something to sort by; `None` when they have nothing to do with each other.
fn apart(typed: &str, known: &str) -> Option<(usize, usize)> {
    let slips = strsim::osa_distance(typed, known);
    let (typed_length, known_length) = (typed.chars().count(), known.chars().count());
    let length = typed_length.max(known_length);
    let rest = known_length.abs_diff(typed_length);
    // A beginning counts as two slips at most, so that `/se` finds `/sessions` but `/halp` still finds `/help`.
    if known.starts_with(typed) || (known_length >= 3 && typed.starts_with(known)) {
        return Some((slips.min(2), rest));
    }
    (slips < length && slips <= 1.max(length / 3)).then_some((slips, rest))
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 8] =
        ["help", "clear", "quit", "load", "sessions", "model", "max_tokens", "git:commit"];

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
            ("comit", "git:commit"),
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
