//! Normal forms of texts: when two facts say the same in the same words.

use std::collections::BTreeSet;

use amem_format::analyzer::{Analyzer, TermCounts};

use super::tokens::{Token, tokens};

/// Words in lower case with one space between, punctuation and articles left out.
pub(crate) fn normal_form(text: &str) -> String {
    normal_form_of(&tokens(text))
}

/// The normal form of a text's tokens.
pub(crate) fn normal_form_of(tokens: &[Token]) -> String {
    let mut out = String::new();
    for token in tokens {
        if token.lower.is_empty() || token.is_any(&["a", "an", "the"]) {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&token.lower);
    }
    out
}

/// The stems of the content words of a text.
pub(crate) fn stems(text: &str) -> BTreeSet<String> {
    let mut counts = TermCounts::new();
    counts.count(&Analyzer::new(), text);
    counts.iter().map(|(term, _)| term.to_owned()).collect()
}

/// The share of the smaller set that both have, 0 to 1.
pub(crate) fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    let smaller = a.len().min(b.len());
    if smaller == 0 {
        return 0.0;
    }
    a.intersection(b).count() as f32 / smaller as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_punctuation_and_articles_do_not_count() {
        assert_eq!(
            normal_form("user likes  the Python."),
            normal_form("User likes Python")
        );
        assert_ne!(normal_form("User likes C++"), normal_form("User likes C"));
        assert_ne!(
            normal_form("User does not smoke"),
            normal_form("User does smoke")
        );
        assert!(overlap(&stems("running dogs"), &stems("the dog ran home")) > 0.9);
        assert!(overlap(&stems("cats"), &stems("")) < 0.1);
    }
}
