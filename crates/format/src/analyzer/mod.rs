//! The analyzer: from a text to its terms.
//!
//! A base stores an index of terms, so that the analyzer is part of the format: the terms of a text change only
//! together with [`ANALYZER_VERSION`], which every stored index names. An index of an earlier version is searched by
//! the rules of that version until a checkpoint makes it again.
//!
//! A term whose first character is one of [`STOP_WORD`], [`CHARACTER`], [`WITH_E`] and [`UNIT`] is an *aside*: it is
//! found, but adds nothing to the length of its text.
//! Not here: the indexes (`base::terms`, `delta::DeltaTerms`) and ranking (`amem-query`).

mod analysis;
mod arabic;
mod counts;
mod english;
mod han;
mod letters;
mod months;
mod numbers;
mod numerals;
mod split;
mod term_end;
mod words;

pub use analysis::{Analyzer, Scratch};
pub use counts::TermCounts;
pub use english::is_stop_word;
pub(crate) use numbers::Numbers;
pub use term_end::TermEnd;
pub use words::TERM_BYTES_MAX;

/// The version of the rules from text to terms.
pub const ANALYZER_VERSION: u32 = 2;
/// The earliest version whose indexes are searched; older ones count as absent.
pub const ANALYZER_VERSION_MIN: u32 = 1;

/// Before an English stop word that is not a name.
pub const STOP_WORD: char = '\u{1}';
/// Before each character of a run without spaces between words; the terms of the run are its pairs.
pub const CHARACTER: char = '\u{2}';
/// Before a word with ä as ae; the word itself stands without accents.
pub const WITH_E: char = '\u{3}';
/// Before what a text says only as part of a word (`max` of `maxRetryCount`), as several words in one (`nodejs` of
/// `Node.js`), or in other digits (the month of a date).
pub const UNIT: char = '\u{4}';

/// True for a term that adds nothing to the length of its text.
pub fn is_aside(term: &str) -> bool {
    term.starts_with([STOP_WORD, CHARACTER, WITH_E, UNIT])
}

/// The word for a folded spelling: what two texts must have in common for one to be found by the other's word.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in letters::normalized(text).chars() {
        letters::for_each_folded(c, |c| out.push(c));
    }
    out
}
