//! Words of a gloss that stand elsewhere, or are others, in English.

use crate::text::tokens::Token;

use super::pairs::has;
use super::reading::ClauseReading;
use super::verbs::VerbTense;
use super::words::is_unit;

/// Takes relative dates out of the words: in English they stand behind the object.
pub(super) fn times(words: &mut Vec<Token>) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let next = words.get(at + 1);
        let count = match () {
            () if has("yesterday today tomorrow", &words[at].lower) => 1,
            () if words[at].is("since")
                && next.is_some_and(|next| next.has_digit() || next.is("yesterday")) =>
            {
                2
            }
            () if words[at].is("for")
                && words.get(at + 2).is_some_and(|unit| is_unit(&unit.lower)) =>
            {
                3
            }
            () if words[at].is("last") || words[at].is("next") => 2,
            () if next.is_some_and(|next| is_unit(&next.lower))
                && words.get(at + 2).is_some_and(|ago| ago.is("ago")) =>
            {
                3
            }
            () => 0,
        };
        if count == 0 || at + count > words.len() {
            at += 1;
            continue;
        }
        out.extend(words.drain(at..at + count).map(|mut token| {
            token.tail.clear();
            token
        }));
    }
    out
}

/// Makes the first prepositions those that the English verb has: "habite à" is "live in", "déménagé en" is "moved to".
pub(super) fn directed(verb: &str, words: &mut Vec<Token>) {
    let is = |verbs: &str| verb.split(' ').any(|word| has(verbs, word));
    let instead = words.iter().position(|word| word.is("over"));
    if let Some(at) = instead.filter(|_| is("use used")) {
        words[at].set("instead");
        words.insert(at + 1, Token::new("of"));
    }
    let (from, to) = match () {
        () if is("live born work study grew grow") => ("to", "in"),
        () if is("switch switched move moved travel traveled fly flew go went") => ("in", "to"),
        () if is("suffer suffered") => ("of", "from"),
        () if is("play played") => {
            if words
                .first()
                .is_some_and(|word| has("to of in", &word.lower))
            {
                words.remove(0);
            }
            return;
        }
        () => return,
    };
    if let Some(word) = words.iter_mut().find(|word| word.is(from)) {
        word.set(to);
    }
    let origin = words.iter_mut().find(|word| to == "to" && word.is("of"));
    if let Some(word) = origin {
        word.set("from");
    }
}

/// "Trabajo en un script": the language has one word for "at" and "on", and the noun decides.
pub(super) fn working_on(reading: &ClauseReading<'_>, words: &mut [Token]) {
    let places = reading.table.workplaces;
    if places.is_empty() || reading.base != "work" {
        return;
    }
    let Some(at) = words.iter().position(|word| word.is("in")) else {
        return;
    };
    let noun = words[at + 1..]
        .iter()
        .find(|word| !has("a the this their my", &word.lower));
    if noun.is_some_and(|noun| !noun.is_capital() && !has(places, &noun.lower)) {
        words[at].set("on");
    }
}

/// "Ich komme aus Bayern", "soy de Sevilla": where one is from. What one drives is an object: "fahre nach Rom" has
/// none.
pub(super) fn coming_from(
    verb: String,
    reading: &ClauseReading<'_>,
    words: &mut [Token],
) -> Option<String> {
    let is_place = words
        .get(1)
        .is_some_and(|word| word.is_capital() || word.is("the"));
    let is_present = reading.tense == VerbTense::Present;
    let Some(first) = words.first_mut() else {
        return Some(verb);
    };
    match verb.as_str() {
        "come" if first.is("from") && is_present => Some("am".into()),
        "come" if first.is("of") && is_place && is_present => {
            first.set("from");
            Some("am".into())
        }
        "come" => None,
        "am" if first.is("of") && is_place => {
            first.set("from");
            Some(verb)
        }
        "drive" if !has("a an the my", &first.lower) => None,
        "speak" | "speaks" if has("of about with to in at", &first.lower) => None,
        _ => Some(verb),
    }
}
