//! Clauses: the independent parts of a sentence, each a fact of its own.
//!
//! "I live in Porto and I work at Fennel Labs" is two facts; replacing one must not lose the other. A sentence is split
//! only where both parts have a subject and a verb.

use crate::text::tokens::Token;

use crate::text::verbs::is_plain_verb;

/// Words that open a sentence and say nothing.
const INTERJECTIONS: [&str; 53] = [
    "hi",
    "hey",
    "hello",
    "yeah",
    "yes",
    "yep",
    "yup",
    "no",
    "nope",
    "nah",
    "oh",
    "wow",
    "woah",
    "whoa",
    "well",
    "so",
    "and",
    "but",
    "or",
    "ok",
    "okay",
    "thanks",
    "thank",
    "sure",
    "right",
    "cool",
    "great",
    "awesome",
    "nice",
    "haha",
    "lol",
    "aww",
    "aw",
    "ah",
    "um",
    "uh",
    "hmm",
    "absolutely",
    "definitely",
    "totally",
    "exactly",
    "sorry",
    "please",
    "anyway",
    "btw",
    "fyi",
    "plus",
    "also",
    "true",
    "indeed",
    "actually",
    "wait",
    "correction",
];

/// Phrases that open a sentence and say nothing.
const OPENERS: [&[&str]; 14] = [
    &["by", "the", "way"],
    &["good", "morning"],
    &["good", "evening"],
    &["of", "course"],
    &["for", "sure"],
    &["to", "be", "honest"],
    &["in", "fact"],
    &["as", "for", "me"],
    &["for", "the", "record"],
    &["guess", "what"],
    &["good", "to", "see", "you"],
    &["nice", "to", "meet", "you"],
    &["good", "to", "hear", "from", "you"],
    &["no", "worries"],
];

/// Words that may stand between an opener's comma and a name: "Thanks, Caroline!".
const ADDRESS_WORDS_MAX: usize = 2;

/// The sentence without what opens it: interjections, and the name of who is addressed.
pub(crate) fn without_openers(mut tokens: &[Token]) -> &[Token] {
    loop {
        let before = tokens.len();
        if let Some(opener) = OPENERS.iter().find(|opener| starts_with(tokens, opener)) {
            tokens = &tokens[opener.len()..];
            tokens = without_address(tokens);
        } else if tokens.first().is_some_and(|first| first.text.is_empty()) {
            tokens = &tokens[1..];
        } else if let [first, rest @ ..] = tokens
            && !rest.is_empty()
            && first.is_any(&INTERJECTIONS)
            && (first.breaks() || !is_subject_of(first, rest))
        {
            tokens = without_address(rest);
        }
        if tokens.len() == before {
            return tokens;
        }
    }
}

/// True if a sentence begins with words that say that something else is wrong.
pub(crate) fn is_correcting(sentence: &[Token]) -> bool {
    let mut words = sentence.iter().filter(|token| !token.text.is_empty());
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    if first.is_any(&["nope", "nah", "actually", "wait", "correction", "wrong"]) {
        return first.breaks() || first.is("actually");
    }
    // "no cats" is none, and "no we use" is one.
    first.is("no")
        && (first.breaks() || second.is_any(&["i", "we", "my", "our", "it", "that", "not"]))
}

/// True if the interjection is part of a clause: "great food is …", "no cats".
fn is_subject_of(first: &Token, rest: &[Token]) -> bool {
    let keeps = [
        "no",
        "great",
        "nice",
        "cool",
        "awesome",
        "right",
        "true",
        "sure",
        "sorry",
        "definitely",
        "absolutely",
        "totally",
        "please",
        "wait",
        "correction",
    ];
    first.is_any(&keeps) && !rest[0].is("i") && !rest[0].is("my") && !rest[0].is_capital()
}

/// Without a name that is addressed: "Caroline, I …" behind "Thanks,".
fn without_address(tokens: &[Token]) -> &[Token] {
    let names = tokens.iter().take(ADDRESS_WORDS_MAX);
    let count = names
        .take_while(|token| token.is_capital() && !token.is("i"))
        .count();
    let ends = count > 0 && tokens[count - 1].tail.contains([',', '!', '.']);
    // Not all of a sentence: "Hi, Bob" may be a name, but it is no fact either.
    if ends { &tokens[count..] } else { tokens }
}

fn starts_with(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && words.iter().zip(tokens).all(|(word, token)| token.is(word))
}

/// Words that join two clauses.
const JOINERS: [&str; 4] = ["and", "but", "so", "plus"];

/// The clauses of a sentence.
pub(crate) fn clauses(tokens: &[Token]) -> Vec<&[Token]> {
    let mut out = Vec::new();
    let mut start = 0;
    for at in 1..tokens.len() {
        let Some(next) = split_at(tokens, start, at) else {
            continue;
        };
        out.push(&tokens[start..at]);
        start = next;
    }
    out.push(&tokens[start..]);
    out
}

/// Where the next clause begins, if one ends before `at`.
fn split_at(tokens: &[Token], start: usize, at: usize) -> Option<usize> {
    let token = &tokens[at];
    let ends = tokens[at - 1].tail.ends_with([',', ';', ':', ')']);
    let next = if token.is_dash() || token.is_any(&JOINERS) {
        at + 1
    } else if ends {
        at
    } else {
        return None;
    };
    let (left, right) = (&tokens[start..at], tokens.get(next..)?);
    // A clause below "when" or "because" goes with the one that it explains.
    let is_below = left[0].is_any(&[
        "when", "if", "because", "since", "while", "although", "though", "after", "before", "as",
    ]);
    let has_subject = left
        .iter()
        .any(|token| token.is_any(&["i", "my", "we", "our"]) || token.is("user"))
        || token.is_dash()
        || left[0].is_capital() && left.len() > 2;
    (!is_below && left.len() >= 3 && has_subject && begins_clause(right)).then_some(next)
}

/// True if a clause of its own begins here: a subject of the first person, and a verb near.
fn begins_clause(tokens: &[Token]) -> bool {
    let Some(first) = tokens.first() else {
        return false;
    };
    if first.is("i") || first.is("we") {
        return tokens.len() >= 3;
    }
    if !first.is("my") && !first.is("our") {
        return false;
    }
    let before_break = tokens.iter().take(6).enumerate().skip(2);
    for (at, token) in before_break {
        let is_verb = is_plain_verb(&token.lower);
        if is_verb && tokens.len() > at + 1 {
            return true;
        }
        if tokens[at - 1].tail.ends_with(',') {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::{join, tokens};

    #[test]
    fn openers_and_addresses_are_left_out() {
        for (text, expected) in [
            ("Hi, I'm Alice.", "I am Alice."),
            ("Thanks, Caroline! ", ""),
            ("Hey Mel, I moved.", "I moved."),
            ("Yeah, by the way, my dog is ill", "my dog is ill"),
            ("Wow, I love it", "I love it"),
            ("Great food is my hobby", "Great food is my hobby"),
            ("So I quit", "I quit"),
        ] {
            let all = tokens(text);
            assert_eq!(join(without_openers(&all)), expected, "{text}");
        }
    }

    #[test]
    fn sentences_split_where_both_sides_are_clauses() {
        for (text, expected) in [
            (
                "I live in Porto and I work at Fennel Labs",
                "I live in Porto|I work at Fennel Labs",
            ),
            (
                "I'm allergic to peanuts, and my son Jonas is ill",
                "I am allergic to peanuts,|my son Jonas is ill",
            ),
            ("I love my dog and my cat", "I love my dog and my cat"),
            (
                "I like tea and coffee, but I hate soda",
                "I like tea and coffee,|I hate soda",
            ),
            (
                "When I was ten, I moved to Rome",
                "When I was ten, I moved to Rome",
            ),
            (
                "I'm keen on art - I would love to paint",
                "I am keen on art|I would love to paint",
            ),
        ] {
            let all = tokens(text);
            let found: Vec<String> = clauses(&all)
                .iter()
                .map(|c| join(c))
                .map(|c| c.trim_end_matches(" and").to_owned())
                .collect();
            let found = found.join("|").replace(" |", "|");
            assert_eq!(found, expected, "{text}");
        }
    }
}
