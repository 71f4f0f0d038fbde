//! Term frequencies of one text.

use super::{Analyzer, Scratch};

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

    /// Counts the terms of `text` and returns their number, repetitions included.
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
        spans.len() as u32
    }

    /// The terms of the last counted text, ascending by bytes, each with its frequency.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let term = |&(start, end): &(u32, u32)| &self.letters[start as usize..end as usize];
        self.spans
            .chunk_by(move |a, b| term(a) == term(b))
            .map(move |chunk| (term(&chunk[0]), chunk.len() as u32))
    }
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
        assert_eq!(counts.count(&Analyzer::new(), "the"), 0);
        assert_eq!(counts.iter().count(), 0);
    }
}
