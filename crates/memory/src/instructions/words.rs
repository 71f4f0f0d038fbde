//! The words of one sentence, with where they stand in it.

use std::ops::Range;

/// A sentence as words in lower case.
pub(super) struct SentenceWords<'s> {
    text: &'s str,
    words: Vec<(Range<usize>, String)>,
}

impl<'s> SentenceWords<'s> {
    pub(super) fn of(text: &'s str) -> Self {
        let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}' | '-' | '_');
        let mut words = Vec::new();
        let mut start = None;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            match (start, is_inner(c)) {
                (None, true) if c.is_alphanumeric() => start = Some(at),
                (Some(from), false) => {
                    let word = text[from..at].to_lowercase().replace('\u{2019}', "'");
                    words.push((from..at, word));
                    start = None;
                }
                _ => {}
            }
        }
        Self { text, words }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// A word; empty behind the last one.
    pub(super) fn at(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |(_, word)| word)
    }

    pub(super) fn is(&self, at: usize, any: &[&str]) -> bool {
        self.words
            .get(at)
            .is_some_and(|(_, word)| any.contains(&word.as_str()))
    }

    /// The words of the first of the phrases that stands at a place; a phrase is words with blanks.
    pub(super) fn phrase(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        phrases.iter().find_map(|phrase| {
            let mut count = 0;
            for word in phrase.split(' ') {
                if self.at(at + count) != word {
                    return None;
                }
                count += 1;
            }
            Some(count)
        })
    }

    /// True if one of the phrases stands at or behind a place.
    pub(super) fn has(&self, from: usize, phrases: &[&str]) -> bool {
        (from..self.len()).any(|at| self.phrase(at, phrases).is_some())
    }

    /// True if a clause ends before a word: a comma, a colon, a dash.
    pub(super) fn is_clause(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        match (before, self.words.get(at)) {
            (Some((before, _)), Some((word, _))) => self.text[before.end..word.start]
                .contains([',', ':', ';', '(', '\u{2013}', '\u{2014}', '\u{ff0c}']),
            _ => true,
        }
    }

    /// True if the sentence ends as a question.
    pub(super) fn asks(&self) -> bool {
        self.text.trim_end().ends_with(['?', '\u{ff1f}'])
    }

    /// The bytes of words: up to the end of the sentence if they are its last.
    pub(super) fn bytes_of(&self, part: Range<usize>) -> Range<usize> {
        let start = match part.start {
            // A mark of a list before the first word is none of it.
            0 => self.words.first(),
            at => self.words.get(at),
        };
        let start = start.map_or(0, |(word, _)| word.start);
        let end = match part.end < self.words.len() {
            true => self.words[part.end - 1].0.end,
            false => self.text.trim_end().len(),
        };
        start..end.max(start)
    }
}
