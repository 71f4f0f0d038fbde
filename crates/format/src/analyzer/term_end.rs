//! The two orders of terms.

use std::cmp::Ordering;

/// From where terms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermEnd {
    /// Their first bytes first.
    Start,
    /// Their last bytes first.
    Finish,
}

impl TermEnd {
    /// Compares two terms.
    pub fn cmp(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Start => a.cmp(b),
            Self::Finish => a.iter().rev().cmp(b.iter().rev()),
        }
    }

    /// True if a term has `part` at this end.
    pub fn has(self, term: &[u8], part: &[u8]) -> bool {
        match self {
            Self::Start => term.starts_with(part),
            Self::Finish => term.ends_with(part),
        }
    }
}
