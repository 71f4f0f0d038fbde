//! From a text to its terms.
//!
//! A word is a run of letters and digits of any script, in lower case. English endings are cut by
//! the Snowball stemmer, irregular forms become their base form, stop words and contractions are
//! dropped ("don't") or opened ("Caroline's" is "caroline"). Scripts without spaces between words
//! give pairs of neighbouring characters.
//!
//! Promises: the same text gives the same terms everywhere; what terms a text gives changes only
//! together with `ANALYZER_VERSION`, which every stored index names.
//! Not here: languages other than English are not stemmed, accents are not removed, and composed
//! and decomposed letters are different.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::english::{is_stop_word, regular_form};

/// Names what terms a text gives; an index made under another version is not used.
pub const ANALYZER_VERSION: u32 = 1;
/// Bytes of one term; what a longer word has beyond them is ignored.
pub const TERM_BYTES_MAX: usize = 64;

/// Words whose terms are remembered; about a megabyte.
const KNOWN_WORDS_MAX: usize = 8192;

/// Cuts texts into terms.
pub struct Analyzer {
    stemmer: Stemmer,
}

/// Buffers that are used again from text to text.
#[derive(Debug, Default)]
pub struct Scratch {
    word: String,
    term: String,
    /// The terms of words seen lately, empty for stop words: stemming is most of the work.
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

/// What a character is to a word.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Part of a word.
    Letter,
    /// A character of a script that puts no spaces between words.
    Unspaced,
    /// Part of a word only between two letters.
    Apostrophe,
    /// A mark that neither counts nor ends a word.
    Mark,
    /// Everything else.
    Gap,
}

impl Analyzer {
    /// The analyzer of every brain.
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
    fn term_of<'w>(&self, word: &'w str, open: &'w mut String) -> Cow<'w, str> {
        let word = if word.contains('\'') {
            open_apostrophes(word, open);
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

/// Calls `f` with each word in lower case, apostrophes kept, or with `None` and a finished term.
fn for_each_word(
    text: &str,
    word: &mut String,
    term: &mut String,
    mut f: impl FnMut(Option<&str>, &mut String),
) {
    word.clear();
    let mut pair = Pair::default();
    let mut chars = text.chars().map(folded).peekable();
    while let Some(c) = chars.next() {
        let class = class_of(c);
        if class != Class::Unspaced && class != Class::Mark {
            pair.end(term, &mut f);
        }
        match class {
            Class::Letter => push_lower(word, c),
            Class::Mark => {}
            Class::Apostrophe
                if !word.is_empty()
                    && word.len() < TERM_BYTES_MAX
                    && chars.peek().is_some_and(|&n| class_of(n) == Class::Letter) =>
            {
                word.push('\'');
            }
            Class::Apostrophe | Class::Gap | Class::Unspaced => {
                if !word.is_empty() {
                    f(Some(word), term);
                    word.clear();
                }
                if class == Class::Unspaced {
                    pair.push(c, term, &mut f);
                }
            }
        }
    }
    pair.end(term, &mut f);
    if !word.is_empty() {
        f(Some(word), term);
    }
}
/// A run of characters without spaces between its words.
#[derive(Default)]
struct Pair {
    last: Option<char>,
    emitted: bool,
}

impl Pair {
    fn push(&mut self, c: char, term: &mut String, f: &mut impl FnMut(Option<&str>, &mut String)) {
        if let Some(last) = self.last {
            term.clear();
            term.push(last);
            term.push(c);
            f(None, term);
            self.emitted = true;
        }
        self.last = Some(c);
    }

    /// A character that stands alone is a term of its own.
    fn end(&mut self, term: &mut String, f: &mut impl FnMut(Option<&str>, &mut String)) {
        if let Some(last) = self.last.take()
            && !self.emitted
        {
            term.clear();
            term.push(last);
            f(None, term);
        }
        self.emitted = false;
    }
}

/// Full-width forms of ASCII are ASCII, every apostrophe is one.
fn folded(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{ff07}' | '`' | '\u{b4}' => '\'',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    }
}

fn class_of(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
        '\'' => Class::Apostrophe,
        '\0'..='\x7f' => Class::Gap,
        // Accents written apart, soft hyphen, joiners; the signs that join consonants in Indic scripts.
        '\u{ad}'
        | '\u{300}'..='\u{36f}'
        | '\u{200c}'
        | '\u{200d}'
        | '\u{93c}'
        | '\u{94d}'
        | '\u{9bc}'
        | '\u{9cd}'
        | '\u{a3c}'
        | '\u{a4d}'
        | '\u{abc}'
        | '\u{acd}'
        | '\u{b3c}'
        | '\u{b4d}'
        | '\u{bcd}'
        | '\u{c4d}'
        | '\u{cbc}'
        | '\u{ccd}'
        | '\u{d4d}'
        | '\u{dca}' => Class::Mark,
        // Thai, Lao, Myanmar, Khmer with their marks.
        '\u{e01}'..='\u{e3a}'
        | '\u{e40}'..='\u{e4e}'
        | '\u{e81}'..='\u{ece}'
        | '\u{1000}'..='\u{103f}'
        | '\u{1780}'..='\u{17d3}' => Class::Unspaced,
        // Hiragana, Katakana, Bopomofo, Hangul, Han.
        '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => Class::Unspaced,
        c if c.is_alphanumeric() => Class::Letter,
        _ => Class::Gap,
    }
}

/// Appends `c` in lower case as long as the word stays within its bound.
fn push_lower(word: &mut String, c: char) {
    if c.is_ascii() {
        if word.len() < TERM_BYTES_MAX {
            word.push(c.to_ascii_lowercase());
        }
        return;
    }
    for c in c.to_lowercase() {
        if class_of(c) == Class::Letter && word.len() + c.len_utf8() <= TERM_BYTES_MAX {
            word.push(c);
        }
    }
}

/// Writes a word with apostrophes without them and without its ending ('s, 'll, 're, 've, 'd, 'm);
/// nothing is left of "don't".
fn open_apostrophes(word: &str, open: &mut String) {
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

/// The terms of one text with their frequencies; used again from text to text.
#[derive(Debug, Default)]
pub struct TermCounts {
    scratch: Scratch,
    letters: String,
    /// Where each occurrence stands in `letters`; sorted by term after counting.
    spans: Vec<(u32, u32)>,
}

impl TermCounts {
    /// Empty counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the terms of `text` and returns how many there are, repetitions included.
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

    /// The terms counted last, ascending by bytes, each with its frequency.
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
        check("Caroline's dog", &["carolin", "dog"]);
        check("Caroline\u{2019}s dog", &["carolin", "dog"]);
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

    proptest::proptest! {
        #[test]
        fn any_text_gives_terms_within_bounds(text in "\\PC{0,200}|[a-z']{0,80}|.{0,200}") {
            for term in terms(&text) {
                proptest::prop_assert!(!term.is_empty() && term.len() <= TERM_BYTES_MAX);
            }
        }
    }
}
