//! Ten thousand changes in a row, over fifty documents, large enough that the rope's inner seams are met.

use pretty_assertions::assert_eq;
use serde_json::{from_value, json};
use tower_lsp::ls_types::{Position, Range};

use super::super::Documents;
use super::reference::{ENCODINGS, PIECES, Reference};

const DOCUMENTS: usize = 50;
const CHANGES: usize = 10_000;
/// About what the pieces come to.
const BYTES_A_LINE: usize = 8;

#[test]
fn ten_thousand_changes_over_fifty_documents_leave_what_the_reference_has() {
    for encoding in ENCODINGS {
        let mut dice = Dice(0x5eed);
        let documents = Documents::new();
        documents.agree_on(encoding);
        let mut references = Vec::new();
        for number in 0..DOCUMENTS {
            let text = dice.text(1_500);
            let item = json!({"uri": uri(number), "languageId": "x", "version": 0, "text": text});
            documents.open(from_value(json!({"textDocument": item})).unwrap());
            references.push(Reference(text));
        }
        for version in 1..=CHANGES {
            let number = dice.below(DOCUMENTS);
            let reference = &mut references[number];
            let mut changes = Vec::new();
            for _ in 0..=dice.below(2) {
                let (range, text) = (dice.range(reference.0.len() / BYTES_A_LINE + 1), dice.text(12));
                reference.edit(range, &text, encoding);
                changes.push(json!({"range": range, "text": text}));
            }
            let document = json!({"uri": uri(number), "version": version});
            documents
                .change(from_value(json!({"textDocument": document, "contentChanges": changes})).unwrap());
        }
        for (number, reference) in references.iter().enumerate() {
            let text = documents.get(&uri(number)).unwrap().text;
            assert_eq!(text.to_string(), reference.0, "{encoding:?}, document {number}");
            assert_eq!(text.lines(), reference.lines().len());
        }
    }
}

fn uri(number: usize) -> String {
    format!("file:///{number}")
}

/// Splitmix64: enough for dice, and the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn text(&mut self, pieces_max: usize) -> String {
        let pieces = self.below(pieces_max);
        (0..pieces).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    /// Mostly short and inside the text, as edits are; now and then far outside of it.
    fn range(&mut self, lines: usize) -> Range {
        let mut number = |end: usize| match self.below(50) {
            0 => u32::MAX,
            _ => u32::try_from(self.below(end)).unwrap(),
        };
        let start = Position::new(number(lines), number(12));
        let end = Position::new(start.line.saturating_add(number(2)), number(12));
        Range::new(start, end)
    }
}
