//! A clause in the words that the rules of English read.
//!
//! "Seit 2016 arbeite ich bei Kranz" becomes "I work at Kranz since 2016". The gloss decides; nobody reads it.

use crate::text::tokens::{Token, plain_tokens};

use super::elision::with_elisions_apart;
use super::glosser::Glosser;
use super::pairs::has;
use super::reading::{ClauseReading, SubjectKind, read_fact};
use super::tables::TABLES;
use super::word_order::{coming_from, directed, times, working_on};

/// Small words that none of the languages has: a fact with one of them is English. Titles have capitals.
const ENGLISH_ALONE: &str =
    "the with to for of and is are were their from that this be have been not";

/// The gloss of a fact's text, if it is in one of the languages.
pub(crate) fn gloss_of_fact(text: &str) -> Option<Vec<Token>> {
    let plain = plain_tokens(text);
    if plain.iter().any(|token| has(ENGLISH_ALONE, &token.text)) {
        return None;
    }
    let glosses = TABLES.into_iter().filter_map(|table| {
        let tokens = with_elisions_apart(plain.clone(), table);
        let reading = read_fact(table, &tokens)?;
        gloss(&reading)
    });
    // "User will visit Rome": the verb is an English word, too, and nothing else is of the language. "User va a Roma"
    // may be French or Spanish: the language that knows most of the words has it.
    let known = glosses
        .filter(|gloss| gloss.known > 0)
        .max_by_key(|gloss| gloss.known);
    known.map(|gloss| gloss.tokens)
}

/// A glossed clause.
pub(super) struct Gloss {
    pub(super) tokens: Vec<Token>,
    /// True if a word of the list of professions is among them.
    pub(super) has_profession: bool,
    /// How many words are of the language and of no other.
    known: usize,
}

/// Glosses a clause; `None` if its verb is not understood.
pub(super) fn gloss(reading: &ClauseReading<'_>) -> Option<Gloss> {
    let mut glosser = Glosser::of(reading);
    let verb = glosser.verb_phrase()?;
    let is_called = reading.base == "be called" && reading.kind == SubjectKind::One;
    let mut behind = glosser.words(reading.verb + 1..reading.tokens.len());
    let small = glosser.words(reading.group..reading.verb);
    let mut front = glosser.words(0..reading.front);
    behind.splice(0..0, small);
    let mut time = times(&mut behind);
    time.extend(times(&mut front));
    if !front.is_empty() {
        for token in behind.last_mut().into_iter().chain(&mut front) {
            token.tail.clear();
        }
        behind.append(&mut front);
    }
    if !time.is_empty() {
        for token in &mut behind {
            token.tail = token.tail.replace(['.', '!'], "");
        }
        // A preposition keeps the time out of the value of a slot.
        if behind.is_empty() {
            behind.push(Token::new("then"));
        }
        if !has("since for", &time[0].lower) {
            behind.push(Token::new("during"));
        }
        behind.extend(time);
    }
    let mut negation = glosser.negation(&mut behind);
    let mut verb = verb;
    // "Decided not to use": the negation is that of the choice.
    let is_before = reading.tokens[reading.group..reading.verb]
        .iter()
        .any(|token| reading.table.compiled().dictionary.word(&token.lower) == Some("not"));
    if negation == ["not"] && !is_before && verb.starts_with("decided to ") {
        verb = verb.replacen("decided to ", "decided to not ", 1);
        negation.clear();
    }
    directed(&verb, &mut behind);
    working_on(reading, &mut behind);
    let verb = coming_from(verb, reading, &mut behind)?;
    let mut out = glosser.subject(is_called)?;
    if is_called {
        out.extend(["name", "is"].map(Token::new));
    }
    let verb = match is_called {
        true => Vec::new(),
        false => glosser.inflected(verb),
    };
    // "Is not", "does not live": the rules look for a negation behind the first verb.
    let is_being = verb
        .first()
        .is_some_and(|first| has("am is are was", first));
    let is_owned = reading.kind == SubjectKind::Owned && !negation.is_empty();
    let (first, others) = match (is_being, is_owned) {
        (true, _) => (verb.first().cloned(), &verb[1..]),
        (false, true) => (Some("does".to_owned()), &verb[..]),
        (false, false) => (None, &verb[..]),
    };
    let negation = negation.into_iter().map(str::to_owned);
    let all = first
        .into_iter()
        .chain(negation)
        .chain(others.iter().cloned());
    out.extend(all.map(|word| Token::new(&word)));
    // Nothing may end the clause before its object.
    out.extend(behind);
    Some(Gloss {
        tokens: out,
        has_profession: glosser.has_profession,
        known: glosser.known,
    })
}
