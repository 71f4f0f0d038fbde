//! How far one text says what another one says: the words of both, without stop words, by their beginnings.

use std::collections::BTreeSet;

use amem_format::analyzer::{Analyzer, TermCounts, is_stop_word};

/// A sentence says what a memory says if it has this share of the memory's words.
const SAME_SHARE_MIN: f32 = 0.6;
/// Words of a person that a memory says in another way than a speaker does.
const PERSONS: [&str; 4] = ["user", "users", "and", "others"];

/// The terms of texts.
#[derive(Default)]
pub(super) struct Wording {
    analyzer: Analyzer,
    counts: TermCounts,
}

impl Wording {
    /// The terms of a text, without those of stop words and persons.
    pub(super) fn terms(&mut self, text: &str) -> BTreeSet<Box<str>> {
        self.counts.count(&self.analyzer, text);
        let terms = self.counts.iter().map(|(term, _)| term);
        terms
            .filter(|term| !is_stop_word(term) && !PERSONS.contains(term))
            .filter(|term| term.chars().next().is_some_and(char::is_alphanumeric))
            .map(Into::into)
            .collect()
    }

    /// True if a sentence says what a memory with these terms says.
    pub(super) fn says(&mut self, sentence: &str, memory: &BTreeSet<Box<str>>) -> bool {
        let own = self.terms(sentence);
        let same = memory.intersection(&own).count();
        !memory.is_empty() && same as f32 >= SAME_SHARE_MIN * memory.len() as f32
    }
}
