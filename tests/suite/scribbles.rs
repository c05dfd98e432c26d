//! A text that is edited at random, kept as plainly as can be: the reference for the server's mirror.

use serde_json::{Value, json};

/// In what units positions are counted.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    fn length(self, text: &[char]) -> usize {
        text.iter()
            .map(|letter| match self {
                Self::Utf8 => letter.len_utf8(),
                Self::Utf16 => letter.len_utf16(),
                Self::Utf32 => 1,
            })
            .sum()
    }
}

/// A text and its source of chance.
pub(crate) struct Scribbles {
    letters: Vec<char>,
    state: u64,
}

/// A text does not grow beyond this.
const LONGEST: usize = 600;
const PIECES: [&str; 10] = ["a", "bc ", "ä", "€", "😀", "𐐷x", "e\u{301}", "\n", "\r\n", "\r"];

impl Scribbles {
    pub(crate) fn new(seed: u64) -> Self {
        let mut scribbles = Self { letters: Vec::new(), state: seed.wrapping_mul(2) + 1 };
        scribbles.letters = scribbles.piece(80);
        scribbles
    }

    pub(crate) fn text(&self) -> String {
        self.letters.iter().collect()
    }

    /// Edits the text in one to three places, and gives the `contentChanges` that say so.
    pub(crate) fn edit(&mut self, encoding: Encoding) -> Value {
        let changes = 1 + self.chance(3);
        (0..changes).map(|_| self.edit_once(encoding)).collect()
    }

    fn edit_once(&mut self, encoding: Encoding) -> Value {
        if self.chance(200) == 0 {
            self.letters = self.piece(40);
            return json!({"text": self.text()});
        }
        let (one, other) = (self.place(), self.place());
        let start = one.min(other);
        // Mostly small, and larger where the text has grown.
        let most = if self.letters.len() > LONGEST { LONGEST } else { 8 };
        let end = self.whole(one.max(other).min(start + most));
        let starts = line_starts(&self.letters);
        let position = |at: usize| {
            let line = starts.partition_point(|start| *start <= at) - 1;
            json!({"line": line, "character": encoding.length(&self.letters[starts[line]..at])})
        };
        let range = json!({"start": position(start), "end": position(end)});
        let count = self.chance(6);
        let new = self.piece(count);
        self.letters.splice(start..end, new.iter().copied());
        json!({"range": range, "text": new.into_iter().collect::<String>()})
    }

    /// A place that a position can name: not between the halves of a line break.
    fn place(&mut self) -> usize {
        let at = self.chance(self.letters.len() + 1);
        self.whole(at)
    }

    fn whole(&self, at: usize) -> usize {
        let splits = at > 0 && self.letters[at - 1] == '\r' && self.letters.get(at) == Some(&'\n');
        if splits { at - 1 } else { at }
    }

    fn piece(&mut self, count: usize) -> Vec<char> {
        (0..count).flat_map(|_| PIECES[self.chance(PIECES.len())].chars()).collect()
    }

    /// A number below `bound`.
    fn chance(&mut self, bound: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) as usize) % bound
    }
}

/// Where lines begin, as LSP counts them: after `\n`, `\r\n` and `\r`.
fn line_starts(letters: &[char]) -> Vec<usize> {
    let breaks = letters.iter().enumerate().filter(|(at, letter)| match letter {
        '\n' => true,
        '\r' => letters.get(at + 1) != Some(&'\n'),
        _ => false,
    });
    std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect()
}
