//! Standing instructions and preferences: what a person says once and means for every later answer.
//!
//! "Always use pnpm", "when I ask about dates, write them out", "I prefer short answers". What stands is the speaker's
//! own sentence: what is quoted, pasted or code, a question, an order to a model (`check`) and what is meant for one
//! time is none.
//!
//! Not here: the memory that is formed of such a sentence (`patterns`), and where it is shown.

mod kind;

mod english;
mod languages;
mod words;

use std::ops::Range;

use amem_query::context::sentence_ranges;

use crate::check::gives_orders;
use crate::reading::foreign_spans;
pub use kind::StandingKind;
use words::SentenceWords;

/// The version of these rules: turns that were read by an earlier one are read again.
pub const STANDING_RULES: u32 = 1;

/// Sentences of one turn; more are a document.
const SENTENCES_MAX: usize = 8;
/// Bytes of a sentence. A longer one is no instruction that a context has room for.
const SENTENCE_BYTES_MAX: usize = 360;
/// Words of a sentence that says something to keep to.
const WORDS_MIN: usize = 3;

/// Where a turn of a person states standing instructions and preferences, in order. `text` is the turn as it is stored.
#[must_use]
pub fn standing_spans(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Most turns have no such sentence: their foreign parts are not looked for.
    let mut foreign = None;
    for sentence in sentence_ranges(text) {
        let Some(part) = stated(&text[sentence.clone()]) else {
            continue;
        };
        let span = sentence.start + part.start..sentence.start + part.end;
        let spans = foreign.get_or_insert_with(|| foreign_spans(text, false));
        let is_own = |span: &Range<usize>| {
            let crosses = |other: &Range<usize>| other.start < span.end && span.start < other.end;
            !spans.iter().any(|spans| crosses(&spans.range))
        };
        if is_own(&span) && !gives_orders(&text[span.clone()]) {
            found.push(span);
        }
    }
    if found.len() > SENTENCES_MAX {
        found.clear();
    }
    found
}

/// When a sentence that `standing_spans` found holds.
#[must_use]
pub fn standing_kind(sentence: &str) -> StandingKind {
    let words = SentenceWords::of(sentence);
    match english::stated(&words) {
        Some(_) => english::kind(&words),
        None => languages::kind(&words),
    }
}

/// What of a sentence is to be kept to.
fn stated(sentence: &str) -> Option<Range<usize>> {
    let words = SentenceWords::of(sentence);
    if words.len() < WORDS_MIN {
        return None;
    }
    let part = english::stated(&words).or_else(|| languages::stated(&words))?;
    let part = words.bytes_of(part);
    (part.len() <= SENTENCE_BYTES_MAX).then_some(part)
}

#[cfg(test)]
mod tests;
