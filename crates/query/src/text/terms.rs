//! The words of a question.

use amem_format::analyzer::{Analyzer, TermCounts};

/// The terms of a text that is looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextQuery {
    terms: Vec<(Box<str>, u32)>,
}

impl TextQuery {
    /// The terms of `text`; none if it has only stop words.
    pub fn new(text: &str) -> Self {
        let mut counts = TermCounts::new();
        counts.count(&Analyzer::new(), text);
        Self {
            terms: counts.iter().map(|(term, n)| (term.into(), n)).collect(),
        }
    }

    /// True if there is nothing to look for: no event answers it.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms ascending, each with how often it was said.
    pub fn terms(&self) -> impl Iterator<Item = (&str, u32)> {
        self.terms.iter().map(|(term, n)| (&**term, *n))
    }
}
