//! Relevance: how well an event answers a question, on one scale for all questions and brains.
//!
//! A score compares the events of one question: its greatest is about the same however badly all of them fit. Relevance
//! is the logistic function of what tells answers from noise: how much of the question, by the rarity of its words, the
//! event has and any event has; how unlikely it is that a text of so large a brain has those words by chance; and the
//! script, as words of some are found less well. Fitted by logistic regression on conversations, coding sessions and
//! sentences in six languages against questions about something else (docs/decisions/0043-relevance-by-rarity.md).

use super::request::Relevance;
use crate::text::{ContainedTerms, FoundTerms, is_foreign};

/// From this relevance of its best hit on, a question is likely one that the events answer: the least of a context by
/// default.
pub const LIKELY_RELEVANCE: f32 = 0.65;
/// The least relevance of each line beside one that reaches `LIKELY_RELEVANCE`.
pub const BESIDE_RELEVANCE: f32 = 0.2;

/// What `covered` and `known` count, and that the question names who spoke.
const COVERED: f32 = 4.1;
const KNOWN: f32 = 1.8;
const NAMED: f32 = 2.25;
/// What a nat counts of the rarities of the words that the event has, and of the number of texts.
const SURPRISE: f32 = 0.13;
const SIZE: f32 = -0.27;
/// Terms of a text of one passage: one of twice as many has twice the chance to have the words.
const PASSAGE_TERMS: f32 = 30.0;
/// Below this number of texts a nat counts more than twice.
const FEW_TEXTS: f32 = 100.0;
const FEW: f32 = 1.3;
const CONSTANT: f32 = -2.4;

/// How much less a question in another language, or another script, than English finds of its words.
const LATIN: f32 = 0.4;
const ALPHABETIC: f32 = 0.75;
const HAN: f32 = 1.4;

/// What is added for the letters of a question, or for its language if they are those of English.
pub(super) fn of_script(question: &str) -> f32 {
    let mut added = if is_foreign(question) { LATIN } else { 0.0 };
    for letter in question.chars().filter(|c| c.is_alphabetic()) {
        let of_letter = match letter {
            '\0'..='\u{7f}' => 0.0,
            '\u{80}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => LATIN,
            '\u{2e80}'..='\u{a4cf}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'.. => HAN,
            _ => ALPHABETIC,
        };
        added = added.max(of_letter);
    }
    added
}

/// The relevance of an event of `length` terms that has `own`, and with its neighbours `near`, of the question's words;
/// `script` is that of the question (`of_script`).
pub(super) fn of(
    found: &FoundTerms<'_>,
    (own, near): (ContainedTerms, ContainedTerms),
    length: u32,
    is_named: bool,
    script: f32,
    meaning: f32,
) -> Relevance {
    let ((nats, own), (_, covered)) = (found.matched(own), found.matched(near));
    let known = found.known();
    let size = found.texts().max(1.0).ln();
    let size = size + FEW * (size - FEW_TEXTS.ln()).min(0.0);
    let words = match covered {
        0.0 => 0.0,
        _ => logistic(
            COVERED * covered
                + KNOWN * known
                + if is_named { NAMED } else { 0.0 }
                + SURPRISE * nats
                + SIZE * size
                - (length as f32 / PASSAGE_TERMS).max(1.0).ln()
                + script
                + CONSTANT,
        ),
    };
    Relevance {
        value: words.max(meaning),
        own,
        covered,
        known,
        is_named,
        meaning,
        is_weak: false,
    }
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_a_question_counts_once() {
        assert_eq!(of_script("which port"), 0.0);
        assert_eq!(of_script("für den Müller"), LATIN);
        assert_eq!(
            of_script("welchen Port hat die Datenbank von Staging"),
            LATIN
        );
        assert_eq!(of_script("какой порт PostgreSQL"), ALPHABETIC);
        assert_eq!(of_script("端口 port"), HAN);
        assert_eq!(of_script("4 + 5?"), 0.0);
    }
}
