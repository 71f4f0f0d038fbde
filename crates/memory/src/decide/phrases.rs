//! The words of a fact as decisions compare them: heads of phrases, names, verbs, marks of change.

use std::collections::BTreeSet;

use crate::relations::looks_technical;
use crate::slots::values::value_word;
use crate::text::predicate::is_adverb;
use crate::text::tokens::Token;
use crate::text::verbs::{base_form, is_plain_verb};

use super::words::{BESIDE_MARKS, CHANGE_MARKS, REPEATED_TIMES, TIME_WORDS};

/// Words that are before a noun and begin a phrase.
const INDEFINITE: [&str; 20] = [
    "a", "an", "their", "his", "her", "my", "our", "its", "some", "this", "these", "any", "every",
    "each", "no", "one", "two", "several", "many", "few",
];

/// The mark of change whose words may stand apart in other languages.
const NO_LONGER: &str = "no longer";

/// Words from which on a sentence gives reasons.
const REASONS: [&str; 6] = ["because", "since", "due", "thanks", "so", "when"];

/// The words of a text, in the roles that they have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phrases {
    /// Words that carry a value, in their base forms and in order, each with the word before it.
    words: Vec<(String, String)>,
    /// Last nouns of their phrases.
    heads: BTreeSet<String>,
    /// Words of names: with a capital, and with no "a" or "their" before.
    names: BTreeSet<String>,
    /// Words with a capital as no person or place has it: "PostgreSQL".
    technical: BTreeSet<String>,
    /// Verbs, as words of values.
    verbs: BTreeSet<String>,
    /// Words in "-ing", and words that only verbs of the table are.
    actions: BTreeSet<String>,
    /// Words that give a time or a reason and narrow nothing.
    aside: BTreeSet<String>,
    /// Values between which an "and" stands.
    joined: BTreeSet<String>,
    /// True if the text has a mark of change.
    pub(crate) is_change: bool,
    /// True if the text speaks of something beside what is there.
    pub(crate) is_beside: bool,
    /// True if the text is about a state of the past: "lived in Rome".
    pub(crate) is_past: bool,
}

impl Phrases {
    /// Reads the tokens; `written` are those of the text where they are a gloss.
    pub(crate) fn of(tokens: &[Token], written: &[Token]) -> Self {
        let mut out = Self {
            is_change: [tokens, written]
                .iter()
                .any(|all| has_mark(all, CHANGE_MARKS)),
            is_beside: [tokens, written]
                .iter()
                .any(|all| has_mark(all, BESIDE_MARKS)),
            is_past: is_past_state(tokens),
            ..Self::default()
        };
        let mut before = String::new();
        let (mut is_indefinite, mut is_reason) = (false, false);
        for (at, token) in tokens.iter().enumerate() {
            is_reason |= token.is_any(&REASONS);
            let word = value_word(token);
            let Some(word) = word else {
                is_indefinite = token.is_any(&INDEFINITE);
                if !token.is("the") {
                    before.clone_from(&token.lower);
                }
                continue;
            };
            let is_name = token.is_capital() && !is_indefinite && at > 0;
            if is_name {
                out.names.insert(word.clone());
            }
            if looks_technical(&token.text) {
                out.technical.insert(word.clone());
            }
            let is_verb = !token.is_capital() && is_plain_verb(&token.lower);
            let is_infinitive = at > 0 && tokens[at - 1].is("to");
            if !token.is_capital() && (is_infinitive || token.lower.ends_with("ing")) {
                out.actions.insert(word.clone());
            }
            if is_verb {
                out.verbs.extend([word.clone(), base_form(&token.lower).0]);
            }
            let is_time = TIME_WORDS.contains(&word.as_str())
                || word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
            if is_reason || is_time {
                out.aside.insert(word.clone());
            }
            let is_repeated = REPEATED_TIMES.contains(&word.as_str());
            if ends_phrase(tokens, at) && !is_repeated {
                out.heads.insert(word.clone());
            }
            let joins = tokens.get(at + 1).is_some_and(|t| t.is_any(&["and", "or"]));
            // "Two cats and a dog": the article says nothing.
            let mut behind = tokens.iter().skip(at + 2).take(3);
            if joins && let Some(next) = behind.find_map(value_word) {
                out.joined.extend([word.clone(), next]);
            }
            out.words.push((word, std::mem::take(&mut before)));
            if token.breaks() {
                is_indefinite = false;
            }
        }
        out
    }

    /// True if the text has all these words.
    fn has_all(&self, value: &BTreeSet<String>) -> bool {
        value
            .iter()
            .all(|word| self.words.iter().any(|(own, _)| own == word))
    }

    /// The heads among the words of a value; all of them if the text does not write them.
    fn heads_of<'v>(&self, value: &'v BTreeSet<String>) -> BTreeSet<&'v String> {
        let is_verb = |word: &&String| self.verbs.contains(*word) || self.actions.contains(*word);
        let is_head = |word: &&String| self.heads.contains(*word) || is_verb(word);
        let heads: BTreeSet<&String> = value.iter().filter(is_head).collect();
        match heads.is_empty() || !self.has_all(value) {
            true => value.iter().collect(),
            false => heads,
        }
    }

    /// True if two values have the same head noun; a verb alone counts where a value has nothing else.
    pub(crate) fn share_head(
        &self,
        own: &BTreeSet<String>,
        other: &Self,
        value: &BTreeSet<String>,
    ) -> bool {
        if own == value {
            return true;
        }
        let nouns = |phrases: &Self, words: &BTreeSet<String>| -> BTreeSet<String> {
            let heads = phrases.heads_of(words).into_iter().cloned();
            let heads: BTreeSet<String> = heads.collect();
            let nouns: BTreeSet<String> = heads
                .iter()
                .filter(|head| !phrases.verbs.contains(*head) && !phrases.actions.contains(*head))
                .cloned()
                .collect();
            if nouns.is_empty() { heads } else { nouns }
        };
        !nouns(self, own).is_disjoint(&nouns(other, value))
    }

    /// The first head of a value, in the order of the text.
    pub(crate) fn first_head(&self, value: &BTreeSet<String>) -> Option<&str> {
        let is_verb = |word: &String| self.verbs.contains(word) || self.actions.contains(word);
        let is_it = |word: &String| value.contains(word) && self.heads.contains(word);
        let mut words = self.words.iter().map(|(word, _)| word);
        words
            .find(|word| is_it(word) && !is_verb(word))
            .map(String::as_str)
    }

    /// The words of a value that narrow it: without times and reasons.
    pub(crate) fn narrowing(&self, words: &BTreeSet<String>) -> BTreeSet<String> {
        words.difference(&self.aside).cloned().collect()
    }

    /// A value without the words behind its last name that give a time; as it is if it has no name.
    pub(crate) fn without_times(&self, value: &BTreeSet<String>) -> BTreeSet<String> {
        let is_time = |word: &String| {
            let is_listed = [TIME_WORDS, REPEATED_TIMES]
                .iter()
                .any(|list| list.contains(&word.as_str()));
            (is_listed || is_count(word)) && !self.names.contains(word)
        };
        let has_name = value.iter().any(|word| self.names.contains(word));
        let keeps = |word: &&String| !has_name || !is_time(word);
        value.iter().filter(keeps).cloned().collect()
    }

    /// True if the other text has every word of this one but its verbs.
    pub(crate) fn is_said_by(&self, other: &Self) -> bool {
        let mut own = self.words.iter().map(|(word, _)| word);
        own.all(|word| {
            self.verbs.contains(word) || other.words.iter().any(|(theirs, _)| theirs == word)
        })
    }

    /// True if the value begins with the words of another: "Porto, Portugal" with "Porto", "New York" not with "York".
    pub(crate) fn begins_with(&self, value: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
        let words = self.words.iter().map(|(word, _)| word);
        let own = words.filter(|word| value.contains(*word)).take(other.len());
        own.filter(|word| other.contains(*word)).count() == other.len()
    }

    /// True if every word of a value is of a name.
    pub(crate) fn is_name(&self, value: &BTreeSet<String>) -> bool {
        let is_digit = |word: &String| word.chars().all(|c| c.is_ascii_digit());
        value.iter().any(|word| self.names.contains(word))
            && value
                .iter()
                .all(|word| self.names.contains(word) || is_digit(word))
    }

    /// True if a word of the value is of software.
    pub(crate) fn is_technical(&self, value: &BTreeSet<String>) -> bool {
        value.iter().any(|word| self.technical.contains(word))
    }

    /// True if the text joins words of the value with "and".
    pub(crate) fn is_joined(&self, value: &BTreeSet<String>) -> bool {
        value
            .iter()
            .filter(|word| self.joined.contains(*word))
            .count()
            > 1
    }

    /// True if "and" stands beside a word of the value.
    pub(crate) fn joins_any(&self, value: &BTreeSet<String>) -> bool {
        !self.joined.is_disjoint(value)
    }

    /// True if "and" joins words of which the other text has some and not all.
    pub(crate) fn joins_beside(&self, other: &Self) -> bool {
        let has = |word: &&String| other.has_word(word);
        self.joined.iter().any(|word| has(&word)) && !self.joined.iter().all(|word| has(&word))
    }

    /// The word before a value, without "the".
    pub(crate) fn before(&self, value: &BTreeSet<String>) -> Option<&str> {
        let first = self.words.iter().find(|(word, _)| value.contains(word));
        first.map(|(_, before)| before.as_str())
    }

    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|(own, _)| own == word)
    }

    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.contains(verb)
    }
}

fn is_count(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
}

/// True if a phrase ends with the word: no noun follows it.
fn ends_phrase(tokens: &[Token], at: usize) -> bool {
    let Some(next) = tokens.get(at + 1) else {
        return true;
    };
    let goes_on = value_word(next).is_some()
        && !is_adverb(next)
        && !next.is_any(&["named", "called", "every", "each", "last", "next"])
        && !value_word(next).is_some_and(|word| REPEATED_TIMES.contains(&word.as_str()))
        && !next.has_digit()
        && (next.is_capital() || !is_plain_verb(&next.lower));
    tokens[at].breaks() || !goes_on
}

/// True if the tokens have one of the phrases; between the words of a negation others may stand ("kein Auto mehr").
fn has_mark(tokens: &[Token], marks: &[&str]) -> bool {
    const APART: [(&str, &str); 5] = [
        ("nicht", "mehr"),
        ("kein", "mehr"),
        ("keine", "mehr"),
        ("keinen", "mehr"),
        ("ne", "plus"),
    ];
    let at = |word: &str| tokens.iter().position(|token| token.is(word));
    let is_apart = |(first, last): &(&str, &str)| {
        at(first).is_some_and(|first| at(last).is_some_and(|last| first < last))
    };
    let begins = |(start, token): (usize, &Token)| {
        marks.iter().any(|mark| {
            let mut words = mark.split(' ');
            words.next() == Some(&*token.lower)
                && words
                    .enumerate()
                    .all(|(at, word)| tokens.get(start + at + 1).is_some_and(|t| t.is(word)))
        })
    };
    tokens.iter().enumerate().any(begins)
        || marks.contains(&NO_LONGER) && APART.iter().any(is_apart)
}

/// True for "lived in Rome", "was a nurse": what was so says nothing of what is.
fn is_past_state(tokens: &[Token]) -> bool {
    const STATES: [&str; 10] = [
        "lived", "resided", "worked", "drove", "weighed", "earned", "dated", "majored", "commuted",
        "studied",
    ];
    let verb = tokens.iter().take(12).position(|token| {
        !token.is_capital() && is_plain_verb(&token.lower) || token.is_any(&STATES)
    });
    verb.is_some_and(|at| {
        let follows = tokens.get(at + 1);
        let is_was = tokens[at].is_any(&["was", "were"])
            && !follows.is_some_and(|next| next.is("born") || next.lower.ends_with("ed"));
        is_was || tokens[at].is_any(&STATES)
    })
}
