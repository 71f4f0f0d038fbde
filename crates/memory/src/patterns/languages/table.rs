//! What a language is made of: the data that the engine reads.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::pairs::{Pairs, has};
use super::verbs::{VerbHit, expanded};
use super::words::GlossDictionary;

/// Where the verb of a main clause stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordOrder {
    /// Second, with participles and infinitives last: German.
    VerbSecond,
    /// Behind its subject: French.
    SubjectFirst,
    /// Its form says who the subject is: Spanish.
    Dropped,
}

/// A language as data. Lists of words are separated by spaces.
pub(crate) struct LanguageTable {
    /// ISO 639-3.
    pub(crate) code: [u8; 3],
    pub(super) order: WordOrder,
    /// Small words that mark a text as one of this language; none is an English word.
    pub(super) function_words: &'static str,
    /// Small words that other languages have as well.
    pub(super) shared_words: &'static str,
    /// Small words of languages that are near, and not of this one.
    pub(crate) neighbours: &'static str,
    /// Endings of regular verbs: see `verbs`.
    pub(super) classes: Pairs,
    /// The English verb with its past, the class, and the stems; a class `=` has forms instead of stems.
    pub(super) verbs: &'static [(&'static str, &'static str, &'static str)],
    /// Parts that leave a verb and stand last: "ziehe … um".
    pub(super) verb_prefixes: &'static str,
    /// Verbs whose subject is what is liked: "me gusta".
    pub(super) dative_verbs: Pairs,
    /// Pronouns for whom that verb speaks, and what a fact has for them.
    pub(super) dative_pronouns: Pairs,
    /// Words and their glosses.
    pub(super) words: Pairs,
    /// Phrases and their glosses: `#` is a number, `%` a unit of time, `@` a weekday, `&` a month.
    pub(super) phrases: Pairs,
    /// Words of professions and their glosses.
    pub(super) professions: Pairs,
    /// True if a noun may be one of the list behind other parts: "Grundschullehrerin".
    pub(super) has_compounds: bool,
    pub(super) first_singular: &'static str,
    pub(super) first_plural: &'static str,
    /// A subject for several people with a verb of one: "on".
    pub(super) impersonal: &'static str,
    /// What follows the speaker where several are meant.
    pub(super) others: &'static str,
    /// First words of "my X", with the article that replaces them; `?` where the noun decides.
    pub(super) possessives: Pairs,
    /// Nouns and their article, where endings do not tell.
    pub(super) articles: Pairs,
    /// What stands between a thing and its owner; empty where the owner comes first.
    pub(super) of: &'static str,
    /// Pronouns of the first person, and what they become behind "I", "we" and another subject: `@` is the speaker,
    /// `!` refuses the clause.
    pub(super) pronouns: &'static [(&'static str, [&'static str; 3])],
    /// Adjectives behind a possessive: its ending, and the one that an adjective in "-en" gets.
    pub(super) adjective_endings: Pairs,
    /// Pronouns and small words between subject and verb.
    pub(super) before_verb: &'static str,
    /// Object pronouns before the verb: what they mean is in another sentence.
    pub(super) pointers: &'static str,
    /// Words that a negation ends: "nicht … mehr", "ne … plus".
    pub(super) no_longer: &'static str,
    /// Openers behind which one says one's name.
    pub(super) greetings: &'static str,
    /// "Is called".
    pub(super) is_called: &'static str,
    /// Openers of two words, joined by `_`.
    pub(super) opening_phrases: &'static str,
    pub(super) openers: &'static str,
    /// Openers that correct what was said, if a comma follows.
    pub(super) corrections: &'static str,
    /// Words of conditions, hedges and reports: a sentence with one states nothing.
    pub(super) refused_in_sentence: &'static str,
    /// Words that begin a question or a command to imagine.
    pub(super) refused_first: &'static str,
    /// Words that speak to the reader.
    pub(super) refused_in_clause: &'static str,
    pub(super) joiners: &'static str,
    /// Words that begin a clause below another.
    pub(super) subordinators: &'static str,
    /// Verbs of the first person that no fact has: behind a joiner they begin another clause.
    pub(super) other_verbs: &'static str,
    /// Nouns of places where one works; "trabajo en un script" is work on something.
    pub(super) workplaces: &'static str,
    /// First words of an adverbial before the subject.
    pub(super) fronted: &'static str,
    /// "Forget", and "remember": what follows is about the speaker.
    pub(super) forget: &'static str,
    pub(super) remember: &'static str,
    /// Words between such a verb and what it names.
    pub(super) that: &'static str,
    /// What is computed once.
    pub(super) compiled: OnceLock<TableIndex>,
}

/// What is computed from a table once.
pub(super) struct TableIndex {
    pub(super) verbs: HashMap<String, Vec<VerbHit>>,
    pub(super) dictionary: GlossDictionary,
    markers: HashSet<String>,
}

impl LanguageTable {
    pub(super) fn compiled(&self) -> &TableIndex {
        self.compiled.get_or_init(|| {
            let verbs = expanded(self.classes, self.verbs);
            let finite = verbs
                .iter()
                .filter(|(_, hits)| hits.iter().any(VerbHit::is_marker));
            let words = finite.map(|(word, _)| word.clone());
            let own = self
                .function_words
                .split_ascii_whitespace()
                .map(str::to_owned);
            let markers = own
                .chain(words.filter(|word| word.len() > 2 && !has(self.shared_words, word)))
                .collect();
            TableIndex {
                dictionary: GlossDictionary::of(
                    self.words,
                    self.phrases,
                    self.professions,
                    self.has_compounds,
                ),
                markers,
                verbs,
            }
        })
    }

    /// True if a word says that the text is in a language that is near.
    pub(crate) fn is_of_neighbour(&self, word: &str) -> bool {
        has(self.neighbours, word)
    }

    /// What a word says of the language of its text.
    pub(crate) fn mark_of(&self, word: &str) -> WordMark {
        if has(self.shared_words, word) {
            return WordMark::Shared;
        }
        let front = word.split_once('\'').map(|(front, _)| front);
        let is_elided = front.is_some_and(|front| has("j l d n qu c m s", front))
            && self.order == WordOrder::SubjectFirst;
        match is_elided || self.compiled().markers.contains(word) {
            true => WordMark::Own,
            false => WordMark::None,
        }
    }
}

/// What a word says of the language of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordMark {
    /// English does not have it.
    Own,
    /// Other languages have it as well.
    Shared,
    None,
}
