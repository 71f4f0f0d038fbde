//! How the tokens of a text are counted.
//!
//! A count by script, not by a model's own tokens: an ASCII character is a quarter of a token, any other character one
//! token. Models' tokenizers cut English into pieces of four characters and more, and scripts beyond ASCII into about
//! one piece per character; what they have in one piece more than that is room left over.
//! Why: docs/decisions/0029-contexts.md.

/// The quarters of a token that a text counts as: they add up over its parts.
pub(super) fn quarter_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let starts = text.bytes().filter(|&b| (b as i8) >= -0x40).count();
    ascii + 4 * (starts - ascii)
}

/// The tokens that a text counts as: its ASCII characters divided by 4, plus its other characters, rounded up.
pub fn count_tokens(text: &str) -> usize {
    quarter_tokens(text).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_script() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("four", 1),
            ("fours", 2),
            ("naïve", 2),
            ("备份", 2),
            ("القهوة", 6),
            ("कॉफ़ी", 5),
            ("🚀", 1),
            ("копия", 5),
        ] {
            assert_eq!(count_tokens(text), tokens, "{text}");
        }
    }
}
