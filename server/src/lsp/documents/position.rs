//! In what units an editor counts the characters of a line.

use tower_lsp::ls_types::{ClientCapabilities, PositionEncodingKind};

/// The unit of `Position::character`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// What every client must know, and the only one that old clients know.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl PositionEncoding {
    /// Chooses among what the client offers what is cheapest for us.
    pub fn negotiate(client: &ClientCapabilities) -> Self {
        let offered = client
            .general
            .as_ref()
            .and_then(|general| general.position_encodings.as_deref())
            .unwrap_or_default();
        [Self::Utf8, Self::Utf32]
            .into_iter()
            .find(|encoding| offered.contains(&encoding.kind()))
            .unwrap_or_default()
    }

    /// Its name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}
