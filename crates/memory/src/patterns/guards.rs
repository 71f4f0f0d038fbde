//! What is no fact although a trigger fires: questions, conditions, hedges, quoted speech, sentences about the reader.

use crate::text::tokens::Token;

use super::content::is_content;
use crate::text::predicate::Predicate;

/// Words that make a clause uncertain, or a condition.
const HEDGES: [&str; 22] = [
    "if",
    "unless",
    "whether",
    "wish",
    "maybe",
    "perhaps",
    "might",
    "possibly",
    "suppose",
    "imagine",
    "wonder",
    "unsure",
    "guess",
    "hopefully",
    "pretend",
    "hypothetically",
    "otherwise",
    "supposedly",
    "apparently",
    "somehow",
    "presumably",
    "kidding",
];

/// Words that speak to the reader.
const READER: [&str; 8] = [
    "you",
    "your",
    "yours",
    "yourself",
    "u",
    "ya",
    "ur",
    "yourselves",
];

/// Words that begin a question that has no mark.
const QUESTIONS: [&str; 12] = [
    "do", "does", "did", "are", "is", "have", "has", "can", "could", "would", "will", "should",
];

/// True if the sentence asks, or sets a condition.
pub(crate) fn refuses_sentence(tokens: &[Token]) -> bool {
    let asks = tokens.iter().any(|token| token.tail.contains('?'));
    let starts = |words: &[&str]| tokens.first().is_some_and(|first| first.is_any(words));
    let inverted = starts(&QUESTIONS)
        && tokens
            .get(1)
            .is_some_and(|t| t.is_any(&["i", "you", "we", "he", "she", "they", "it", "there"]));
    let wonders = starts(&["what", "who", "where", "why", "how", "which", "whose"]);
    let conditional = starts(&["if", "unless", "whenever", "suppose", "imagine", "let"]);
    asks || inverted || wonders || conditional
}

/// True if the clause is uncertain, or about the reader.
pub(crate) fn refuses_clause(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        if token.is_any(&READER) {
            // "you know" is a filler.
            return !tokens
                .get(at + 1)
                .is_some_and(|next| next.is("know") && next.breaks());
        }
        let is_kind = token.is_any(&["kind", "sort"])
            && tokens.get(at + 1).is_some_and(|next| next.is("of"))
            && at > 0
            && !tokens[at - 1].is_any(&[
                "a",
                "some",
                "any",
                "this",
                "what",
                "the",
                "my",
                "favorite",
                "favourite",
                "of",
            ]);
        let is_unsure = token.is("sure") && at > 0 && tokens[at - 1].is("not");
        token.is_any(&HEDGES) || is_kind || is_unsure
    })
}

/// Families that are facts when negated: what is not liked, owned, eaten, used.
const NEGATABLE: [&str; 12] = [
    "preference",
    "possession",
    "activity",
    "health",
    "tool",
    "workplace",
    "home",
    "skill",
    "relation",
    "correction",
    "profession",
    "status",
];

/// True if a negated predicate of the family is no fact.
pub(crate) fn refuses_negation(predicate: &Predicate, family: &str) -> bool {
    let is_wish =
        family == "plan" && matches!(&*predicate.base, "plan" | "want" | "intend" | "need");
    predicate.is_negated && !is_wish && !NEGATABLE.contains(&family)
}

/// Words behind a verb that stand for something outside of the sentence.
const POINTERS: [&str; 6] = ["it", "them", "him", "her", "one", "ones"];
/// Objects that name nothing.
const INDEFINITE: [&str; 6] = [
    "something",
    "anything",
    "everything",
    "nothing",
    "stuff",
    "things",
];
const DEMONSTRATIVES: [&str; 4] = ["this", "that", "these", "those"];

/// True if the object of the verb is a pronoun: what it means is in another sentence.
pub(crate) fn points_elsewhere(rest: &[Token]) -> bool {
    if hangs_on_pronoun(rest) {
        return true;
    }
    let near = rest.iter().take(3).enumerate();
    for (at, token) in near {
        let next = rest.get(at + 1);
        if at < 2 && token.is_any(&INDEFINITE) {
            return true;
        }
        if token.is_any(&POINTERS) {
            // "her mother", "one of my cats" go on.
            let goes_on = token.is("her")
                && next.is_some_and(|n| {
                    !n.is_any(&["to", "in", "at", "for", "with", "and", "last", "on"])
                })
                || token.is("one")
                    && next.is_some_and(|n| {
                        n.is("of")
                            || !n.is_any(&["in", "at", "for", "with", "and", "last", "on", "a"])
                                && !token.breaks()
                    });
            if !goes_on || token.breaks() {
                return true;
            }
        }
        if token.is_any(&DEMONSTRATIVES) {
            let stands_alone = token.breaks()
                || next.is_none_or(|n| {
                    n.is_any(&[
                        "in", "at", "for", "with", "and", "on", "a", "an", "the", "last", "to",
                        "from", "is", "was", "when", "because", "so", "as", "since",
                    ])
                });
            // "that I like" and "this week" point nowhere.
            if stands_alone {
                return true;
            }
        }
        if token.breaks() {
            break;
        }
    }
    false
}

/// Words that end the part of a clause that its verb governs.
const PART_ENDS: [&str; 9] = [
    "and", "but", "when", "because", "since", "so", "while", "where", "which",
];

/// True if the part behind the verb says little but a pronoun: "so close to finishing it", "this app".
fn hangs_on_pronoun(rest: &[Token]) -> bool {
    let end = rest
        .iter()
        .position(|token| token.is_any(&PART_ENDS) || token.is_dash());
    let part = &rest[..end.unwrap_or(rest.len())];
    let broken = part
        .iter()
        .position(Token::breaks)
        .map_or(part.len(), |at| at + 1);
    let part = &part[..broken];
    let content = part.iter().filter(|token| is_content(token)).count();
    let mut pointers = part.iter().enumerate();
    let has_pointer = pointers.any(|(at, token)| {
        let is_last = at + 1 == part.len();
        let is_like = token.is("something") && part.get(at + 1).is_some_and(|next| next.is("like"));
        is_like
            || token.is_any(&["it", "them", "him"])
            || is_last && token.is_any(&DEMONSTRATIVES)
            || token.is_any(&DEMONSTRATIVES) && part.get(at + 1).is_some_and(|next| next.is("next"))
    });
    let is_shown = part
        .first()
        .is_some_and(|token| token.is_any(&["this", "these", "those"]))
        && !part.get(1).is_some_and(|token| {
            token.is_any(&[
                "week", "month", "year", "morning", "weekend", "summer", "winter",
            ])
        });
    // "their work": of those in another sentence, unless something before them is named.
    let owned = part
        .iter()
        .position(|token| token.is_any(&["their", "his", "theirs"]));
    let is_foreign = owned.is_some_and(|at| !part[..at].iter().any(is_content));
    is_foreign || has_pointer && content <= 2 || is_shown && content <= 1
}

/// Which tokens stand inside quotation marks.
pub(crate) fn quoted(tokens: &[Token]) -> Vec<bool> {
    let mut is_open = false;
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        let opens = token.lead.contains(['"', '\u{201c}', '\u{00ab}']);
        let closes = token.tail.contains(['"', '\u{201d}', '\u{00bb}']);
        if opens {
            is_open = true;
        }
        out.push(is_open);
        if closes {
            is_open = false;
        }
    }
    // A mark that is never closed quotes nothing.
    if is_open {
        out.fill(false);
    }
    out
}
