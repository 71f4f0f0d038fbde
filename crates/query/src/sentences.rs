//! Splits a text into sentences: after `.`, `!` and `?` before white space, after their full-width forms, and at line
//! ends. An abbreviation splits a sentence in two; that costs little and needs no list per language.

use std::ops::Range;

/// The non-empty sentences, trimmed.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    sentence_ranges(text).map(|range| &text[range])
}

/// Where the non-empty sentences are, without white space around them.
pub fn sentence_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let from = at;
            at += end(&text[from..]);
            let sentence = &text[from..at];
            let start = from + sentence.len() - sentence.trim_start().len();
            let end = from + sentence.trim_end().len();
            if start < end {
                return Some(start..end);
            }
        }
        None
    })
}

/// Where the first sentence ends.
fn end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        let next = chars.peek().map(|(_, c)| *c);
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            return after;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        let rows: [(&str, &[&str]); 6] = [
            ("One. Two! Three?", &["One.", "Two!", "Three?"]),
            ("Version 1.2 is out", &["Version 1.2 is out"]),
            ("a line\nanother line\n\n", &["a line", "another line"]),
            ("日本語です。次の文。", &["日本語です。", "次の文。"]),
            ("...", &["..."]),
            ("", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(sentences(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
