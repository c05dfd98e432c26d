//! Statistics of a text. It only computes: it imports nothing that needs a grant.

use airlock_plugin::{data, tool};
use std::collections::BTreeMap;

/// What was counted.
#[data]
struct Stats {
    lines: usize,
    words: usize,
    characters: usize,
    bytes: usize,
    longest_line: usize,
    frequent: Vec<Frequent>,
}

/// A word and how often it stands there.
#[data]
struct Frequent {
    word: String,
    count: usize,
}

/// Counts the lines, words, characters and bytes of a text, and tells its most frequent words. Use it instead of
/// counting yourself.
#[tool]
fn word_stats(
    /// The text.
    text: String,
    /// How many of the most frequent words to tell; 5 when left out.
    top: Option<usize>,
) -> Stats {
    Stats {
        lines: text.lines().count(),
        words: text.split_whitespace().count(),
        characters: text.chars().count(),
        bytes: text.len(),
        longest_line: text.lines().map(|line| line.chars().count()).max().unwrap_or_default(),
        frequent: frequent(&text, top.unwrap_or(5)),
    }
}

/// The most frequent words, whatever case they are in; those that are equally frequent by the alphabet.
fn frequent(text: &str, top: usize) -> Vec<Frequent> {
    let mut counts = BTreeMap::<String, usize>::new();
    let of_word = |c: char| c.is_alphanumeric() || c == '\'' || c == '_';
    for word in text.split(|c| !of_word(c)).filter(|word| !word.is_empty()) {
        *counts.entry(word.to_lowercase()).or_default() += 1;
    }
    let mut words: Vec<Frequent> = counts.into_iter().map(|(word, count)| Frequent { word, count }).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.count));
    words.truncate(top);
    words
}

airlock_plugin::export!(tools: [word_stats]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_counted_in_every_way() {
        let stats = word_stats("Zwei Wörter\nund zwei mehr".to_owned(), Some(1));
        assert_eq!((stats.lines, stats.words, stats.characters, stats.bytes), (2, 5, 25, 26));
        assert_eq!(stats.longest_line, 13);
        assert_eq!((stats.frequent[0].word.as_str(), stats.frequent[0].count), ("zwei", 2));
    }

    #[test]
    fn an_empty_text_has_nothing() {
        let stats = word_stats(String::new(), None);
        assert_eq!((stats.lines, stats.words, stats.longest_line, stats.frequent.len()), (0, 0, 0, 0));
    }
}
