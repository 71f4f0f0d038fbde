//! Turns a text into terms.
//!
//! A word is a run of letters and digits of any script, in lower case. The Snowball stemmer cuts English endings,
//! irregular forms become their base form, stop words are dropped, and contractions are dropped ("don't") or expanded
//! ("Teresa's" is "teresa"). Scripts without spaces between words give bigrams of characters.
//!
//! Promises: the same text gives the same terms on every machine; the rules change only together with
//! `ANALYZER_VERSION`, which every stored index names.
//! Not here: stemming of other languages, removal of accents, Unicode normalisation.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::ANALYZER_VERSION;
use super::english::{is_stop_word, regular_form};
use super::words::for_each_word;

/// Words in the cache of terms; about a megabyte.
const KNOWN_WORDS_MAX: usize = 8192;

/// Analyzes texts. Stateless: caches are in `Scratch`.
pub struct Analyzer {
    stemmer: Stemmer,
}

/// Buffers that are reused from text to text.
#[derive(Debug, Default)]
pub struct Scratch {
    word: String,
    term: String,
    /// A cache of terms by word, empty for stop words: stemming is most of the work.
    known: HashMap<Box<str>, Box<str>>,
}

impl Default for Analyzer {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Analyzer(version {ANALYZER_VERSION})")
    }
}

impl Analyzer {
    /// The analyzer; every brain uses the same.
    pub fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }

    /// Calls `f` with each term of `text`, in order, repetitions included.
    pub fn for_each_term(&self, text: &str, scratch: &mut Scratch, mut f: impl FnMut(&str)) {
        let Scratch { word, term, known } = scratch;
        for_each_word(text, word, term, |word, term| {
            let Some(word) = word else {
                return f(term);
            };
            if let Some(term) = known.get(word) {
                if !term.is_empty() {
                    f(term);
                }
                return;
            }
            let stem = self.term_of(word, term);
            if !stem.is_empty() {
                f(&stem);
            }
            if known.len() == KNOWN_WORDS_MAX {
                known.clear();
            }
            known.insert(word.into(), stem.into());
        });
    }

    /// The term of a word in lower case; empty if it is a stop word.
    pub(super) fn term_of<'w>(&self, word: &'w str, open: &'w mut String) -> Cow<'w, str> {
        let word = if word.contains('\'') {
            expand_contraction(word, open);
            open.as_str()
        } else {
            word
        };
        if !word.bytes().all(|b| b.is_ascii_lowercase()) {
            Cow::Borrowed(word)
        } else if is_stop_word(word) {
            Cow::Borrowed("")
        } else {
            self.stemmer.stem(regular_form(word).unwrap_or(word))
        }
    }
}

/// Writes a word without its apostrophes and without its ending ('s, 'll, 're, 've, 'd, 'm); nothing for "don't".
fn expand_contraction(word: &str, open: &mut String) {
    open.clear();
    if word.ends_with("n't") {
        return;
    }
    let stem = match word.rsplit_once('\'') {
        Some((stem, "s" | "ll" | "re" | "ve" | "d" | "m")) => stem,
        _ => word,
    };
    open.extend(stem.chars().filter(|&c| c != '\''));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzer::TERM_BYTES_MAX;

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        Analyzer::new().for_each_term(text, &mut Scratch::default(), |t| out.push(t.to_owned()));
        out
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text:?}");
    }

    #[test]
    fn words_are_lowered_and_stemmed() {
        check(
            "Running runners RAN quickly",
            &["run", "runner", "run", "quick"],
        );
        check("", &[]);
        check("...—!?", &[]);
        check(
            "snake_case foo.bar v1.2 B2B",
            &["snake", "case", "foo", "bar", "v1", "2", "b2b"],
        );
    }

    #[test]
    fn apostrophes_open_or_drop_a_word() {
        check("Teresa's dog", &["teresa", "dog"]);
        check("Teresa\u{2019}s dog", &["teresa", "dog"]);
        check("don't won\u{2019}t can't", &[]);
        check("I'll you're we've he'd I'm", &[]);
        check("o'clock 'quoted' James'", &["oclock", "quot", "jame"]);
    }

    #[test]
    fn stop_words_are_dropped() {
        check("what did the woman say about it", &["woman", "say"]);
    }

    #[test]
    fn irregular_forms_meet_their_base() {
        check("went goes going gone", &["go", "go", "go", "go"]);
        check("children child", &["child", "child"]);
        check("bought buying", &["buy", "buy"]);
    }

    #[test]
    fn other_scripts_are_kept() {
        check("Ärger über Straße", &["ärger", "über", "straße"]);
        check("Привет, МИР", &["привет", "мир"]);
        check("हिन्दी", &["हिनदी"]);
        check("ＡＢＣ１", &["abc1"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        check("東京都 猫", &["東京", "京都", "猫"]);
        check("Rustは速い", &["rust", "は速", "速い"]);
        check("東。京", &["東", "京"]);
        check("한국어", &["한국", "국어"]);
    }

    #[test]
    fn a_term_is_never_longer_than_its_bound() {
        let long = "x".repeat(1000);
        assert_eq!(terms(&long), ["x".repeat(TERM_BYTES_MAX)]);
        for text in [
            "é".repeat(500),
            "日".repeat(500),
            format!("{}'{}", long, long),
        ] {
            for term in terms(&text) {
                assert!(term.len() <= TERM_BYTES_MAX && !term.is_empty(), "{term:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_terms_within_bounds(text in "\\PC{0,200}|[a-z']{0,80}|.{0,200}") {
            for term in terms(&text) {
                proptest::prop_assert!(!term.is_empty() && term.len() <= TERM_BYTES_MAX);
            }
        }
    }
}
