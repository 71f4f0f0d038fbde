//! The terms of a question.

use amem_format::analyzer::{Analyzer, TermCounts};

/// The terms of a query text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextQuery {
    terms: Vec<(Box<str>, u32)>,
}

impl TextQuery {
    /// Analyzes `text`; no terms if it has only stop words.
    pub fn new(text: &str) -> Self {
        let mut counts = TermCounts::new();
        counts.count(&Analyzer::new(), text);
        Self {
            terms: counts.iter().map(|(term, n)| (term.into(), n)).collect(),
        }
    }

    /// True if there are no terms: no event matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, ascending, each with its count.
    pub fn terms(&self) -> impl Iterator<Item = (&str, u32)> {
        self.terms.iter().map(|(term, n)| (&**term, *n))
    }
}
