//! Term frequencies of one text.

use super::{Analyzer, Scratch, is_aside};

/// The terms of one text with their frequencies; reused from text to text.
#[derive(Debug, Default)]
pub struct TermCounts {
    scratch: Scratch,
    letters: String,
    /// The span of each occurrence in `letters`; sorted by term after counting.
    spans: Vec<(u32, u32)>,
}

impl TermCounts {
    /// No terms.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the terms of `text` and returns its length: the terms, repetitions included, without asides; 1 for a text
    /// of nothing else.
    pub fn count(&mut self, analyzer: &Analyzer, text: &str) -> u32 {
        let Self {
            scratch,
            letters,
            spans,
        } = self;
        letters.clear();
        spans.clear();
        analyzer.for_each_term(text, scratch, |term| {
            let start = letters.len() as u32;
            letters.push_str(term);
            spans.push((start, letters.len() as u32));
        });
        spans.sort_unstable_by_key(|&(start, end)| &letters[start as usize..end as usize]);
        let counted = spans
            .iter()
            .filter(|&&(start, end)| !is_aside(&letters[start as usize..end as usize]));
        length(counted.count() as u32, spans.is_empty())
    }

    /// The terms of the last counted text, ascending by bytes, each with its frequency.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let term = |&(start, end): &(u32, u32)| &self.letters[start as usize..end as usize];
        self.spans
            .chunk_by(move |a, b| term(a) == term(b))
            .map(move |chunk| (term(&chunk[0]), chunk.len() as u32))
    }
}

/// The length of a text with so many terms that are no asides. 0 means that it has no terms at all: nothing of it would
/// be erased.
pub(super) fn length(counted: u32, is_empty: bool) -> u32 {
    counted.max(u32::from(!is_empty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_sorted_and_sum_to_the_length() {
        let mut counts = TermCounts::new();
        let length = counts.count(&Analyzer::new(), "dog cat dogs 猫 cat dog");
        let all: Vec<_> = counts.iter().collect();
        assert_eq!(all, [("cat", 2), ("dog", 3), ("猫", 1)]);
        assert_eq!(length, 6);
        assert_eq!(counts.count(&Analyzer::new(), "the"), 1);
        assert!(counts.iter().all(|(term, _)| is_aside(term)));
        assert_eq!(counts.count(&Analyzer::new(), "..."), 0);
        assert_eq!(counts.iter().count(), 0);
    }
}
