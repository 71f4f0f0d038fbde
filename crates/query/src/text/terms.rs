//! The terms of a question.

use std::collections::BTreeMap;

use amem_format::analyzer::{
    ANALYZER_VERSION, Analyzer, CHARACTER, STOP_WORD, Scratch, TERM_BYTES_MAX, UNIT, WITH_E,
};

use super::languages::{self, Language};

/// The terms of a query text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextQuery {
    question: Box<str>,
    language: Language,
    version: u32,
    terms: Vec<QueryTerm>,
}

/// One term of a question, and how else it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term.
    pub term: Box<str>,
    /// Terms that are the same word: an event with one of them counts as one with the term.
    pub spellings: Vec<Box<str>>,
    /// What it counts: how often the question has it, and less for what only supports other terms.
    pub weight: f32,
    /// True if it only supports others: a character of a longer run, a part of a unit.
    pub is_support: bool,
}

/// The weight of a character of a run: its pairs say more. Pairs alone miss words that stand next to others than in the
/// question (R@5 of Chinese sentences 87.6 without, 89.5 with).
const CHARACTER_WEIGHT: f32 = 0.4;

/// The weight of a part of a unit, of a unit beside its words, and of a stop word in capitals as a stop word.
const UNIT_WEIGHT: f32 = 0.5;

/// Characters of questions in Chinese and Japanese that say nothing alone, folded.
const COMMON_CHARACTERS: &str =
    "的了是在和与有为什么哪谁多少几何时如被到个一这那吗呢中年上不由因从于の";

/// A term of a group with its weight; 1 for the term itself.
pub(super) type Member = (Box<str>, f32);

impl TextQuery {
    /// Analyzes `text`. Stop words are terms only if there is nothing else.
    pub fn new(text: &str) -> Self {
        Self::of_version(text, ANALYZER_VERSION)
    }

    /// The same question by the rules of another version of the analyzer.
    pub(crate) fn for_version(&self, version: u32) -> Self {
        if version == self.version {
            self.clone()
        } else {
            Self::of_version(&self.question, version)
        }
    }

    fn of_version(text: &str, version: u32) -> Self {
        let analyzer = Analyzer::of_version(version).unwrap_or_default();
        let mut terms = QuestionTerms::default();
        analyzer.for_each_term(text, &mut Scratch::default(), |term| terms.take(term));
        let language = languages::of(text);
        let is_loud = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
        Self {
            question: text.into(),
            language,
            version,
            terms: terms.terms(language, is_loud),
        }
    }

    /// True if there are no terms: no event matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, ascending.
    pub fn terms(&self) -> impl Iterator<Item = &QueryTerm> {
        self.terms.iter()
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// True if forms and typos of the terms are searched, too: indexes of version 1 have no order for that.
    pub(super) fn is_expanded(&self) -> bool {
        self.version > 1
    }
}

/// Collects the terms of a question in the order of its words.
#[derive(Default)]
struct QuestionTerms {
    words: BTreeMap<Box<str>, QuestionWord>,
    characters: BTreeMap<Box<str>, u32>,
    stop_words: BTreeMap<Box<str>, u32>,
    last: Option<Box<str>>,
}

#[derive(Default)]
struct QuestionWord {
    spellings: Vec<Box<str>>,
    weight: f32,
    is_said: bool,
}

impl QuestionTerms {
    fn word(&mut self, term: &str) -> &mut QuestionWord {
        let word = self.words.entry(term.into()).or_default();
        for aside in asides_of(term) {
            push_once(&mut word.spellings, &aside);
        }
        word
    }

    fn take(&mut self, term: &str) {
        if term.starts_with(STOP_WORD) {
            *self.stop_words.entry(term.into()).or_default() += 1;
        } else if let Some(spelling) = term.strip_prefix(WITH_E) {
            let last = self.last.as_ref().and_then(|last| self.words.get_mut(last));
            if let Some(last) = last {
                push_once(&mut last.spellings, spelling);
            }
        } else if let Some(character) = term.strip_prefix(CHARACTER) {
            if !COMMON_CHARACTERS.contains(character) {
                *self.characters.entry(term.into()).or_default() += 1;
            }
        } else if let Some(unit) = term.strip_prefix(UNIT) {
            self.word(unit).weight += UNIT_WEIGHT;
        } else {
            let word = self.word(term);
            word.weight += 1.0;
            word.is_said = true;
            self.last = Some(term.into());
        }
    }

    fn terms(self, language: Language, is_loud: bool) -> Vec<QueryTerm> {
        if self.words.is_empty() {
            // A stop word may also stand in the index as a name: of "WHO" first of all.
            let term = |(stop_word, times): (Box<str>, u32)| {
                let name: Box<str> = stop_word.trim_start_matches(STOP_WORD).into();
                let weight = times as f32;
                let whole = |term, spellings, weight, is_support| QueryTerm {
                    term,
                    spellings,
                    weight,
                    is_support,
                };
                match is_loud {
                    true => vec![
                        whole(stop_word, Vec::new(), weight * UNIT_WEIGHT, true),
                        whole(name, Vec::new(), weight, false),
                    ],
                    false => vec![whole(stop_word, vec![name], weight, false)],
                }
            };
            let mut terms: Vec<_> = self.stop_words.into_iter().flat_map(term).collect();
            terms.sort_by(|a, b| a.term.cmp(&b.term));
            return terms;
        }
        // A unit of stop words, such as "to-do", has no words beside it: it is what is asked for.
        let has_words = self.words.values().any(|word| word.is_said);
        let is_left_out = |word: &str| language.leaves_out(word);
        let is_all = self.words.keys().all(|word| is_left_out(word));
        let words = self.words.into_iter();
        let words = words.filter(|(word, _)| is_all || !is_left_out(word));
        let words = words.map(|(term, word)| QueryTerm {
            term,
            spellings: word.spellings,
            weight: word.weight,
            is_support: has_words && !word.is_said,
        });
        let characters = self.characters.into_iter();
        // The marks of characters are before every letter.
        let characters = characters.map(|(term, times)| QueryTerm {
            term,
            spellings: Vec::new(),
            weight: times as f32 * CHARACTER_WEIGHT,
            is_support: true,
        });
        characters.chain(words).collect()
    }
}

/// The asides that are the same word as a term: as part of a unit, with ä for its ae, and of a single character the one
/// within a run.
fn asides_of(term: &str) -> impl Iterator<Item = String> {
    let is_character = term.chars().count() == 1 && !term.is_ascii();
    let has_e = ["ae", "oe", "ue", "aa"]
        .iter()
        .any(|pair| term.contains(pair));
    let marks = [(UNIT, true), (CHARACTER, is_character), (WITH_E, has_e)];
    let fits = term.len() < TERM_BYTES_MAX;
    let marks = marks
        .into_iter()
        .filter(move |&(_, is_same)| is_same && fits);
    marks.map(move |(mark, _)| format!("{mark}{term}"))
}

fn push_once(list: &mut Vec<Box<str>>, term: &str) {
    if !list.iter().any(|known| **known == *term) {
        list.push(term.into());
    }
}
