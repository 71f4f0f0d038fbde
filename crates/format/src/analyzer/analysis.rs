//! Turns a text into terms.
//!
//! The Snowball stemmer cuts English endings, a light one Arabic articles and endings; irregular forms become their
//! base form, and contractions are dropped ("don't") or expanded ("Teresa's" is "teresa"). English stop words are
//! asides; version 1 drops them.
//!
//! Promises: the same text gives the same terms on every machine; the rules change only together with
//! `ANALYZER_VERSION`, which every stored index names.
//! Not here: word boundaries and spelling (`split`, `letters`; of version 1: `words`), stemming of other languages.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::english::{is_stop_word, regular_form};
use super::split::{SplitBuffers, for_each_word};
use super::words::for_each_word_of_version_1;
use super::{
    ANALYZER_VERSION, ANALYZER_VERSION_MIN, STOP_WORD, TERM_BYTES_MAX, UNIT, WITH_E, arabic,
};

/// Words in the cache of terms; about a megabyte.
const KNOWN_WORDS_MAX: usize = 8192;

/// Analyzes texts. Stateless: caches are in `Scratch`.
pub struct Analyzer {
    stemmer: Stemmer,
    version: u32,
}

/// Buffers that are reused from text to text.
#[derive(Debug, Default)]
pub struct Scratch {
    buffers: WordBuffers,
    /// A cache of terms by word, empty for what has none: stemming is most of the work.
    known: HashMap<Box<str>, Box<str>>,
}

/// Buffers of word boundaries.
#[derive(Debug, Default)]
pub(super) struct WordBuffers {
    word: String,
    term: String,
    splitting: SplitBuffers,
}

impl Default for Analyzer {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Analyzer(version {})", self.version)
    }
}

impl Analyzer {
    /// The analyzer of new indexes.
    pub fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            version: ANALYZER_VERSION,
        }
    }

    /// The analyzer of indexes of a version; `None` if the version is not known.
    pub fn of_version(version: u32) -> Option<Self> {
        (ANALYZER_VERSION_MIN..=ANALYZER_VERSION)
            .contains(&version)
            .then(|| Self {
                version,
                ..Self::new()
            })
    }

    /// The version of the rules.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Calls `f` with each word, or with `None` and a complete term.
    pub(super) fn for_each_word(
        &self,
        text: &str,
        buffers: &mut WordBuffers,
        f: impl FnMut(Option<&str>, &mut String),
    ) {
        let WordBuffers {
            word,
            term,
            splitting,
        } = buffers;
        match self.version {
            1 => for_each_word_of_version_1(text, word, term, f),
            _ => for_each_word(text, splitting, term, f),
        }
    }

    /// Calls `f` with each term of `text`, in order, asides and repetitions included.
    pub fn for_each_term(&self, text: &str, scratch: &mut Scratch, mut f: impl FnMut(&str)) {
        let Scratch { buffers, known } = scratch;
        self.for_each_word(text, buffers, |word, term| {
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

    /// The term of a word in lower case; empty if it has none.
    pub(super) fn term_of<'w>(&self, word: &'w str, open: &'w mut String) -> Cow<'w, str> {
        if let Some(mark @ (WITH_E | UNIT)) = word.chars().next() {
            let term = self.term_of(&word[mark.len_utf8()..], open);
            let term = match term.strip_prefix(STOP_WORD) {
                None => &term,
                // "U.S." is no pronoun, but the parts of a word may be articles.
                Some(name) if mark == UNIT => name,
                Some(_) => "",
            };
            let fits = !term.is_empty() && term.len() < TERM_BYTES_MAX;
            return Cow::Owned(if fits {
                format!("{mark}{term}")
            } else {
                String::new()
            });
        }
        let word = if word.contains('\'') {
            expand_contraction(word, open);
            open.as_str()
        } else {
            word
        };
        if !word.bytes().all(|b| b.is_ascii_lowercase()) {
            Cow::Borrowed(match self.version {
                1 => word,
                _ if arabic::is_arabic(word) => arabic::stem(word),
                _ => word,
            })
        } else if is_stop_word(word) {
            match self.version {
                1 => Cow::Borrowed(""),
                _ => Cow::Owned(format!("{STOP_WORD}{word}")),
            }
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
    use crate::analyzer::is_aside;

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        Analyzer::new().for_each_term(text, &mut Scratch::default(), |t| out.push(t.to_owned()));
        out
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let counted: Vec<_> = terms(text).into_iter().filter(|t| !is_aside(t)).collect();
        assert_eq!(counted, expected, "{text:?}");
    }

    /// Terms, and behind a + the asides of units.
    #[track_caller]
    fn check_units(text: &str, expected: &str) {
        let told = terms(text)
            .into_iter()
            .filter_map(|term| match term.strip_prefix(UNIT) {
                Some(unit) => Some(format!("+{unit}")),
                None => (!is_aside(&term)).then_some(term),
            });
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected, "{text:?}");
    }

    #[track_caller]
    fn check_asides(text: &str, expected: &[&str]) {
        let asides: Vec<_> = terms(text).into_iter().filter(|t| is_aside(t)).collect();
        assert_eq!(asides, expected, "{text:?}");
    }

    #[test]
    fn words_are_lowered_and_stemmed() {
        check(
            "Running runners RAN quickly",
            &["run", "runner", "run", "quick"],
        );
        check("", &[]);
        check("...—!?", &[]);
    }

    #[test]
    fn a_unit_is_its_parts_and_one_word() {
        check_units("maxRetryCount", "maxretrycount +max +retri +count");
        check_units("max_retry_count", "max retri count +maxretrycount");
        check_units("HTTPServer PDFs", "httpserver +http +server pdfs");
        check_units("B12 B-12", "b12 +b +12 b 12 +b12");
        check_units("Node.js nodejs", "node js +nodej nodej");
        check_units("e-mails", "e mail +email");
        check_units("v1.2", "v1.2 +v +1.2");
        check_units("31st 100km", "31st +31 +st 100km +100 +km");
        check_units("foo.bar U.S.", "foo bar +foobar u s +us");
        let hash = "9f86d081884c7d659a2feaa0c55ad015";
        check_units(hash, hash);
        check_units("9f86d08", "9f86d08");
        check_units("a1b2c3d4e5 x1y2z3w4", "a1b2c3d4e5 x1y2z3w4");
        check_units(
            "550e8400-e29b-41d4-a716-446655440000",
            "550e8400 e29b +e +29 +b 41d4 +41 +d +4 a716 +a +716 446655440000 +550e8400e29b41d4a716446655440000",
        );
    }

    #[test]
    fn apostrophes_open_or_drop_a_word() {
        check("Teresa's dog", &["teresa", "dog"]);
        check("Teresa\u{2019}s dog", &["teresa", "dog"]);
        check("don't won\u{2019}t can't", &[]);
        check("I'll you're we've he'd I'm", &[]);
        check("o'clock 'quoted' James'", &["oclock", "quot", "jame"]);
        check("L'utilisateur d\u{2019}accord", &["utilisateur", "accord"]);
        check("dell'acqua l'homme", &["acqua", "homm"]);
    }

    #[test]
    fn stop_words_are_asides_unless_they_are_names() {
        check("what did the woman say about it", &["woman", "say"]);
        check_asides("what did it", &["\u{1}what", "\u{1}did", "\u{1}it"]);
        check(
            "I met Will in May.",
            &["met", "will", "may"].map(|w| if w == "met" { "meet" } else { w }),
        );
        check(
            "Ask the WHO or the IT team of the US.",
            &["ask", "who", "it", "team", "us"],
        );
        check("WHO IS IT", &[]);
        check(
            "Will went home. Will you come?",
            &["will", "go", "home", "come"],
        );
        check(
            "Will's dog. It's here. He said it's I.",
            &["will", "dog", "say"],
        );
    }

    #[test]
    fn irregular_forms_meet_their_base() {
        check("went goes going gone", &["go", "go", "go", "go"]);
        check("children child", &["child", "child"]);
        check("bought buying", &["buy", "buy"]);
    }

    #[test]
    fn other_scripts_are_kept() {
        check("Ärger über Straße", &["arger", "uber", "strass"]);
        check_asides("Ärger", &["\u{3}aerger"]);
        check("Привет, МИР", &["привет", "мир"]);
        check("हिन्दी", &["हिनदी"]);
        check("ＡＢＣ1", &["abc1"]);
        check("القهوة قَهْوَة", &["قهو", "قهو"]);
        check("İstanbul ISTANBUL ıstanbul", &["istanbul"; 3]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        check("東京都 猫", &["东京", "京都", "猫"]);
        check_asides("東京 猫", &["\u{2}东", "\u{2}京"]);
        check("Rustは速い", &["rust", "は速", "速い"]);
        check("東。京", &["东", "京"]);
        check("한국어", &["한국", "국어"]);
        check("ﾊﾟｽﾜｰﾄﾞ", &["パス", "スワ", "ワー", "ード"]);
    }

    #[test]
    fn pictures_are_words() {
        check(
            "we ship 🚀 now ❤\u{fe0f}👍🏽🇩🇪",
            &["ship", "🚀", "now", "❤", "👍", "🇩🇪"],
        );
    }

    #[test]
    fn numbers_have_one_spelling() {
        check_units("1,200 1200 1.200", "1200 1200 1200 +1.200");
        check_units("1,200.50", "1200.50 +1200");
        check_units("3.14 3,14", "+3 +14 3.14 +3 +14 3.14");
        check_units("06:40 6:40 6:40 pm", "6:40 6:40 18:40 pm");
        check_units("6 pm", "+18:00 6 pm");
        check_units(
            "+4930901820 +49 30 901820",
            "4930901820 +4930901820 49 30 901820",
        );
        check_units("31.07.2026", "2026-07-31 +2026-07 +2026");
        check_units("2026-07-31T10:20", "2026-07-31 +2026-07 +2026 10:20");
        check_units("31 July 2026", "+2026-07-31 31 juli +2026-07 2026");
        check_units("31. Juli 2026", "+2026-07-31 31 juli +2026-07 2026");
        check_units(
            "July 31st, 2026",
            "juli +2026-07-31 +2026-07 31st +31 +st 2026",
        );
        check_units("March 2026", "march +2026-03 2026");
        check_units("2026年7月31日", "2026-07-31 +2026-07 +2026");
        check_units("3/4/2026", "2026-04-03 +2026-04 2026-03-04 +2026-03 +2026");
        check_units("1.2.3", "+1 +2 +3 1.2.3");
        check_units("30.2.2026 10-15", "+30 +2 +2026 30.2.2026 10 15");
    }

    #[test]
    fn version_1_is_as_it_was() {
        let version_1 = Analyzer::of_version(1).unwrap();
        let mut found = Vec::new();
        let text = "Ärger in Node.js: don't ask WHO, B2B 東京 1,200";
        version_1.for_each_term(text, &mut Scratch::default(), |t| found.push(t.to_owned()));
        assert_eq!(
            found,
            ["ärger", "node", "js", "ask", "b2b", "東京", "1", "200"]
        );
        assert!(Analyzer::of_version(3).is_none() && Analyzer::of_version(0).is_none());
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
        fn any_text_gives_terms_within_bounds(
            text in "\\PC{0,200}|[a-z']{0,80}|.{0,200}|([0-9]{1,80}[.,:/' -]?){0,9}|([0-9]{1,3},){1,30}[0-9]{0,80}[.][0-9]{0,80}",
        ) {
            for term in terms(&text) {
                proptest::prop_assert!(!term.is_empty() && term.len() <= TERM_BYTES_MAX);
            }
        }
    }
}
