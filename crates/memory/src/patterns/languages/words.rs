//! Small words and phrases of a table, and their glosses.

use std::collections::HashMap;

use crate::text::tokens::Token;

use super::pairs::{Pairs, has};

/// Words of the longest phrase.
const PHRASE_WORDS_MAX: usize = 5;

const UNITS: &str =
    "day days week weeks month months year years summer winter spring autumn weekend night";
const WEEKDAYS: &str = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";
const MONTHS: &str =
    "January February March April May June July August September October November December";
const NUMBERS: &str = "a one two three four five six seven eight nine ten eleven twelve";

/// True for "3." in "am 3. März": its full stop ends nothing.
pub(super) fn is_ordinal(token: &Token) -> bool {
    token.tail == "." && token.text.len() < 3 && token.text.chars().all(|c| c.is_ascii_digit())
}

/// True if a word is a unit of time in English.
pub(super) fn is_unit(word: &str) -> bool {
    has(UNITS, word)
}

/// The glosses of a table.
pub(super) struct GlossDictionary {
    words: HashMap<&'static str, &'static str>,
    /// By their first word, or by the sign that it is.
    phrases: HashMap<&'static str, Vec<(Vec<&'static str>, &'static str)>>,
    professions: HashMap<&'static str, &'static str>,
    has_compounds: bool,
}

impl GlossDictionary {
    pub(super) fn of(words: Pairs, known: Pairs, professions: Pairs, has_compounds: bool) -> Self {
        let split = |pairs: Pairs| -> HashMap<&'static str, &'static str> {
            let words = pairs.iter().flat_map(|(words, gloss)| {
                words.split_ascii_whitespace().map(|word| (word, *gloss))
            });
            words.collect()
        };
        let mut phrases: HashMap<&'static str, Vec<(Vec<&'static str>, &'static str)>> =
            HashMap::new();
        for (phrase, gloss) in known {
            let parts: Vec<&str> = phrase.split_ascii_whitespace().collect();
            if let Some(first) = parts.first() {
                phrases.entry(first).or_default().push((parts, gloss));
            }
        }
        for same in phrases.values_mut() {
            same.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        Self {
            words: split(words),
            phrases,
            professions: split(professions),
            has_compounds,
        }
    }

    /// The gloss of one word, if it has one.
    pub(super) fn word(&self, word: &str) -> Option<&'static str> {
        self.words.get(word).copied()
    }

    /// The profession that a word names: what it is more exactly, and the English word.
    pub(super) fn profession<'w>(&self, word: &'w str) -> Option<(&'w str, &'static str)> {
        if let Some(english) = self.professions.get(word) {
            return Some(("", english));
        }
        if !self.has_compounds {
            return None;
        }
        let mut ends = word
            .char_indices()
            .skip(3)
            .filter(|(at, _)| word.len() - at > 3);
        ends.find_map(|(at, _)| Some((&word[..at], *self.professions.get(&word[at..])?)))
    }

    /// The phrase at the start of tokens: how many they are, and its gloss.
    pub(super) fn phrase(&self, tokens: &[Token]) -> Option<(usize, String)> {
        let first = tokens.first()?;
        let signs = ["#", "%", "@", "&"];
        let by_word = self.phrases.get(first.lower.as_str());
        let by_sign = signs.iter().filter_map(|sign| self.phrases.get(sign));
        by_word
            .into_iter()
            .chain(by_sign)
            .flatten()
            .filter(|(words, _)| words.len() <= tokens.len().min(PHRASE_WORDS_MAX))
            .filter_map(|(words, gloss)| Some((words.len(), self.filled(words, gloss, tokens)?)))
            .max_by_key(|(count, _)| *count)
    }

    /// The gloss of a phrase with the words that its signs stand for, if the tokens are the phrase.
    fn filled(&self, words: &[&str], gloss: &str, tokens: &[Token]) -> Option<String> {
        let mut values: Vec<(&str, String)> = Vec::new();
        for (at, (word, token)) in words.iter().zip(tokens).enumerate() {
            if at + 1 < words.len() && token.breaks() && !is_ordinal(token) {
                return None;
            }
            let plain = self.word(&token.lower).unwrap_or(&token.lower);
            let value = match *word {
                "#" if token.has_digit() || has(NUMBERS, plain) => plain,
                "%" if has(UNITS, plain) => plain,
                "@" if has(WEEKDAYS, plain) => plain,
                "&" if has(MONTHS, plain) => plain,
                "#" | "%" | "@" | "&" => return None,
                word if token.is(word) => continue,
                _ => return None,
            };
            values.push((word, value.to_owned()));
        }
        let mut out: Vec<String> = Vec::new();
        for word in gloss.split_ascii_whitespace() {
            let sign = values.iter().position(|(sign, _)| *sign == word);
            out.push(match sign {
                Some(at) => values.remove(at).1,
                None => word.to_owned(),
            });
        }
        Some(out.join(" "))
    }
}
