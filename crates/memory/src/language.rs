//! The language of a turn: patterns are of one language, a fact has that of its turn.
//!
//! Not here: which language a text is in (`patterns/detection`).

/// The language of a turn, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnLanguage {
    /// English: patterns apply.
    English,
    /// Another, by its ISO 639-3 code: patterns apply if it has a table.
    Other([u8; 3]),
    /// Too short to say: patterns apply.
    Unknown,
}

impl TurnLanguage {
    /// True if the patterns of English apply.
    pub fn is_english(self) -> bool {
        matches!(self, Self::English | Self::Unknown)
    }
}
