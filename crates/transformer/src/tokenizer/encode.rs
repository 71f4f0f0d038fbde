//! From a text to tokens.

use std::ops::ControlFlow;

use xxhash_rust::xxh3::Xxh3;

use super::vocabulary::Vocabulary;
use super::words::WordRules;

/// Makes tokens of texts.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    pub(super) rules: WordRules,
    pub(super) vocabulary: Vocabulary,
    /// Longer words are unknown.
    pub(super) word_chars_max: usize,
    /// In front of every text.
    pub(super) first: u32,
    /// Behind every text.
    pub(super) last: u32,
    pub(super) unknown: u32,
    /// Tokens that are found in a text as they are written, before it is split into words: `[MASK]` and such.
    pub(super) literals: Vec<(Box<str>, u32)>,
    /// Their first characters.
    pub(super) literal_fronts: Vec<char>,
}

impl Tokenizer {
    /// The tokens of a text, with the first and the last one; `tokens_max` at most.
    pub(crate) fn encode(&self, text: &str, tokens_max: usize) -> Vec<u32> {
        let mut out = vec![self.first];
        // It breaks off when the tokens are enough: nothing is left to do then.
        let _ = self.append(text, tokens_max.saturating_sub(1), &mut out);
        out.push(self.last);
        out
    }

    /// True if a text has a token of its own.
    pub(crate) fn has_tokens(&self, text: &str) -> bool {
        self.encode(text, 3).len() > 2
    }

    fn append(&self, text: &str, tokens_max: usize, out: &mut Vec<u32>) -> ControlFlow<()> {
        let mut rest = text;
        while !rest.is_empty() {
            let (words, literal, behind) = self.split_at_literal(rest);
            self.rules.each(words, self.word_chars_max, |word| {
                self.append_word(word, out);
                full(out, tokens_max)
            })?;
            out.extend(literal);
            full(out, tokens_max)?;
            rest = behind;
        }
        ControlFlow::Continue(())
    }

    /// The text in front of the first literal, the literal's token, and the text behind. Of literals at one place the
    /// longest counts.
    fn split_at_literal<'a>(&self, text: &'a str) -> (&'a str, Option<u32>, &'a str) {
        let mut from = 0;
        while let Some(found) = text[from..].find(&self.literal_fronts[..]) {
            let (front, behind) = text.split_at(from + found);
            let here = self.literals.iter();
            let here = here.filter(|(literal, _)| behind.starts_with(&**literal));
            if let Some((literal, token)) = here.max_by_key(|(literal, _)| literal.len()) {
                return (front, Some(*token), &behind[literal.len()..]);
            }
            from = front.len() + behind.chars().next().map_or(1, char::len_utf8);
        }
        (text, None, "")
    }

    fn append_word(&self, word: &str, out: &mut Vec<u32>) {
        let before = out.len();
        let is_long = word.chars().nth(self.word_chars_max).is_some();
        if is_long || self.vocabulary.split(word, out).is_none() {
            out.truncate(before);
            out.push(self.unknown);
        }
    }

    /// Adds all that decides about tokens to a hash.
    pub(crate) fn hash(&self, hash: &mut Xxh3) {
        let rules = self.rules;
        let switches = [
            rules.clean,
            rules.ideographs,
            rules.strip_accents,
            rules.lower_case,
        ];
        hash.update(&switches.map(u8::from));
        for number in [self.first, self.last, self.unknown] {
            hash.update(&number.to_le_bytes());
        }
        hash.update(&(self.word_chars_max as u64).to_le_bytes());
        let literals = self.literals.iter().map(|(text, token)| (&**text, *token));
        for part in [literals.collect(), self.vocabulary.entries()] {
            hash.update(&(part.len() as u64).to_le_bytes());
            for (text, token) in part {
                hash.update(&token.to_le_bytes());
                hash.update(&(text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
    }
}

/// Breaks if there are enough tokens, and drops those past the limit.
fn full(out: &mut Vec<u32>, tokens_max: usize) -> ControlFlow<()> {
    if out.len() >= tokens_max {
        out.truncate(tokens_max);
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer() -> Tokenizer {
        let pieces = "[PAD] [UNK] [CLS] [SEP] [MASK] [MASKS] a b ##b ab ##c , ] [".split(' ');
        Tokenizer {
            rules: WordRules {
                clean: true,
                ideographs: true,
                strip_accents: true,
                lower_case: true,
            },
            vocabulary: Vocabulary::new(pieces.map(str::to_owned).zip(0..), "##"),
            word_chars_max: 5,
            first: 2,
            last: 3,
            unknown: 1,
            literal_fronts: vec!['['],
            literals: vec![
                ("[MASK]".into(), 4),
                ("[MASKS]".into(), 5),
                ("[SEP]".into(), 3),
            ],
        }
    }

    fn check(text: &str, tokens_max: usize, expected: &[u32]) {
        let found = tokenizer().encode(text, tokens_max);
        assert_eq!(found, expected, "{text:?} {tokens_max}");
    }

    #[test]
    fn texts_become_tokens_within_the_limit() {
        check("", 8, &[2, 3]);
        check("A abc, b", 8, &[2, 6, 9, 10, 11, 7, 3]);
        check("A abc, b", 5, &[2, 6, 9, 10, 3]);
        check("A abc, b", 4, &[2, 6, 9, 3]);
        check("A abc, b", 3, &[2, 6, 3]);
    }

    #[test]
    fn long_and_unknown_words_are_one_token() {
        check("abbbb", 9, &[2, 9, 8, 8, 8, 3]);
        check("abbbbb", 9, &[2, 1, 3]);
        check("abx a", 9, &[2, 1, 6, 3]);
    }

    #[test]
    fn literals_are_found_as_they_are_written() {
        check("a[MASK]b", 9, &[2, 6, 4, 7, 3]);
        check("[MASKS][mask][SEP]", 9, &[2, 5, 13, 1, 12, 3, 3]);
        check("[MASK][MASK][MASK]", 4, &[2, 4, 4, 3]);
    }

    #[test]
    fn a_text_of_spaces_has_no_tokens() {
        assert!(!tokenizer().has_tokens(" \n\0 "));
        assert!(tokenizer().has_tokens("é"));
    }
}
