//! Sentences of a text.

use super::tokens::{Token, join, plain_tokens, tokens};

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 24] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "e.g", "i.e", "etc", "vs", "no", "inc",
    "ltd", "co", "corp", "approx", "a.m", "p.m", "u.s", "dept", "mt", "ph.d",
];

/// The sentences of a text, in order; none is empty. Lines end sentences, marks of lists are left out.
pub(crate) fn sentences(text: &str) -> Vec<Vec<Token>> {
    sentences_by(text, tokens, ends_sentence)
}

/// The same, as texts.
pub fn sentence_texts(text: &str) -> Vec<String> {
    sentences(text)
        .iter()
        .map(|sentence| join(sentence))
        .collect()
}

/// The sentences of a text in another language than English, where a full stop marks an ordinal: "am 3. März".
pub(crate) fn plain_sentences(text: &str) -> Vec<Vec<Token>> {
    let is_ordinal = |token: &Token| {
        token.tail == "." && token.text.len() < 3 && token.text.chars().all(|c| c.is_ascii_digit())
    };
    sentences_by(text, plain_tokens, |token| {
        ends_sentence(token) && !is_ordinal(token)
    })
}

fn sentences_by(
    text: &str,
    tokens: fn(&str) -> Vec<Token>,
    ends_sentence: impl Fn(&Token) -> bool,
) -> Vec<Vec<Token>> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches(['-', '*', '>', '\u{2022}', '#', ' ', '\t']);
        let mut sentence: Vec<Token> = Vec::new();
        let all = tokens(line);
        let count = all.len();
        for (at, token) in all.into_iter().enumerate() {
            let ends = ends_sentence(&token) && at + 1 < count;
            sentence.push(token);
            if ends {
                push(&mut sentence, &mut out);
            }
        }
        push(&mut sentence, &mut out);
    }
    out
}

fn push(sentence: &mut Vec<Token>, out: &mut Vec<Vec<Token>>) {
    let sentence = std::mem::take(sentence);
    if sentence.iter().any(|token| !token.text.is_empty()) {
        out.push(sentence);
    }
}

fn ends_sentence(token: &Token) -> bool {
    if token.tail.contains(['!', '?', ';', '\u{2026}']) || token.tail.contains("..") {
        return true;
    }
    if !token.tail.contains('.') {
        return false;
    }
    let is_initial = token.text.chars().count() == 1 && token.is_capital() && !token.is("i");
    !is_initial && !ABBREVIATIONS.contains(&token.lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_marks_and_lines_but_not_at_abbreviations() {
        let of = |text: &str| -> Vec<String> { sentences(text).iter().map(|s| join(s)).collect() };
        assert_eq!(
            of("Hi! I met Dr. Who at 9.30 a.m. today. He left...\n- a list\n\n* of J. Doe"),
            [
                "Hi!",
                "I met Dr. Who at 9.30 a.m. today.",
                "He left...",
                "a list",
                "of J. Doe"
            ]
        );
        assert!(of(" \n ... \n").is_empty());
    }
}
