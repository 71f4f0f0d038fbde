//! Whether the turns that a fact cites say it.
//!
//! A model adds what it knows, or repeats the examples of its prompt. A fact must have three quarters of its content
//! words, and every name, number and quotation, from the turns that it cites.

use std::collections::HashSet;

use amem_format::analyzer::is_stop_word;

use crate::language::TurnLanguage;
use crate::patterns::languages::{forms_in_facts, words_of_facts};
use crate::text::tokens::{Token, tokens};
use crate::text::verbs::base_form;

/// The share of content words that the turns must have.
const SHARE_MIN: f32 = 0.75;

/// What the cited turns say.
#[derive(Debug)]
pub(crate) struct Grounds {
    /// Words in their base forms.
    bases: HashSet<String>,
    /// Words in lower case.
    words: HashSet<String>,
    text: String,
    /// Words of names that a fact may use for its speakers.
    speakers: HashSet<String>,
}

/// Words that stand for a speaker, and words that the rewriting of persons adds.
const FREE: [&str; 9] = [
    "user",
    "assistant",
    "agent",
    "others",
    "named",
    "called",
    "asks",
    "wants",
    "name",
];

impl Grounds {
    /// The grounds of some turns: their texts, and the names of their speakers.
    pub(crate) fn of<'t>(
        texts: impl Iterator<Item = (&'t str, TurnLanguage)>,
        speakers: impl Iterator<Item = &'t str>,
    ) -> Self {
        let texts: Vec<_> = texts.collect();
        let is_foreign = texts.iter().any(|(_, language)| !language.is_english());
        let text = texts
            .iter()
            .map(|(text, _)| *text)
            .collect::<Vec<_>>()
            .join("\n");
        let mut words: HashSet<String> = tokens(&text).iter().map(bare).collect();
        if is_foreign {
            // "Ich wohne" says "User wohnt", which no ending of English tells.
            let parts: Vec<String> = words
                .iter()
                .flat_map(|word| word.split('\''))
                .map(str::to_owned)
                .collect();
            words.extend(parts.iter().flat_map(|word| forms_in_facts(word)));
            words.extend(parts);
            words.extend(words_of_facts());
        }
        let bases = words.iter().map(|word| base_form(word).0).collect();
        let speakers = speakers.flat_map(|name| {
            name.split_whitespace()
                .map(str::to_lowercase)
                .collect::<Vec<_>>()
        });
        let speakers = speakers.chain(FREE.map(str::to_owned)).collect();
        Self {
            bases,
            words,
            text: text.to_lowercase(),
            speakers,
        }
    }

    /// Why the turns do not say the fact; `None` if they do.
    pub(crate) fn failure(&self, fact: &str) -> Option<String> {
        let tokens = tokens(fact);
        for (at, token) in tokens.iter().enumerate() {
            let word = bare(token);
            let is_name = token.is_capital() && at > 0;
            if (is_name || token.has_digit()) && !self.has(&word) {
                return Some(format!("{:?} is in none of the turns", token.text));
            }
        }
        for quotation in quotations(fact) {
            if !self.text.contains(&quotation.to_lowercase()) {
                return Some(format!("the turns do not say {quotation:?}"));
            }
        }
        let mut missing: Vec<&str> = Vec::new();
        let mut wanted = 0;
        for token in tokens.iter().filter(|token| self.is_wanted(token)) {
            wanted += 1;
            if !self.says(&bare(token)) {
                missing.push(&token.text);
            }
        }
        let share = if wanted == 0 {
            1.0
        } else {
            (wanted - missing.len()) as f32 / wanted as f32
        };
        let found = wanted - missing.len();
        (share < SHARE_MIN).then(|| {
            format!(
                "{found} of {wanted} words are from the turns; missing: {}",
                missing.join(", ")
            )
        })
    }

    /// True if the turns must say the word.
    fn is_wanted(&self, token: &Token) -> bool {
        let word = bare(token);
        !word.is_empty() && !is_stop_word(&word) && !self.speakers.contains(&word)
    }

    /// True if the turns have the word, in any of its forms.
    fn says(&self, word: &str) -> bool {
        self.words.contains(word) || self.bases.contains(&base_form(word).0) || self.has(word)
    }

    fn has(&self, word: &str) -> bool {
        let parts = || {
            word.split(['-', '/', '.', ','])
                .filter(|part| !part.is_empty())
        };
        self.words.contains(word)
            || self.speakers.contains(word)
            || parts().all(|part| self.words.contains(part) || self.text.contains(part))
    }
}

fn bare(token: &Token) -> String {
    token
        .lower
        .strip_suffix("'s")
        .unwrap_or(&token.lower)
        .to_owned()
}

/// The texts between quotation marks.
fn quotations(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\u{201c}', '\u{201d}'])
        .skip(1)
        .step_by(2)
        .filter(|quotation| quotation.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_most_words_are_from_the_turns() {
        let turn = "I moved from Lisbon to Porto in March, my 2 cats hate the \"new place\"";
        let grounds = Grounds::of(
            [(turn, TurnLanguage::English)].into_iter(),
            ["Mia"].into_iter(),
        );
        for (fact, is_grounded) in [
            ("User moved from Lisbon to Porto in March", true),
            ("Mia moved to Porto", true),
            ("User's cats hate the \"new place\"", true),
            ("User has 2 cats", true),
            ("User moved to Paris", false),
            ("User has 3 cats", false),
            ("User's cats hate the \"old place\"", false),
            ("User's name is Alice", false),
            ("User works as a software engineer", false),
            ("User enjoys sailing near Porto with friends", false),
        ] {
            assert_eq!(
                grounds.failure(fact).is_none(),
                is_grounded,
                "{fact}: {:?}",
                grounds.failure(fact)
            );
        }
    }
}
