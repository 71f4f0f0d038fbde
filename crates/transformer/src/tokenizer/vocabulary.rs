//! From a word to pieces: the longest piece at the front, then the longest that continues it, until the word's end.

use std::collections::HashMap;

/// The pieces of words and their tokens.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Pieces at the front of a word.
    fronts: HashMap<Box<str>, u32>,
    /// Pieces that continue a word, without the mark.
    rests: HashMap<Box<str>, u32>,
    /// Bytes of the longest piece.
    piece_bytes_max: usize,
}

impl Vocabulary {
    /// Pieces with their tokens; one that begins with `mark` continues a word.
    pub(super) fn new(pieces: impl Iterator<Item = (String, u32)>, mark: &str) -> Self {
        let mut vocabulary = Self::default();
        for (piece, token) in pieces {
            let longest = vocabulary.piece_bytes_max.max(piece.len());
            vocabulary.piece_bytes_max = longest;
            // Some words begin with the mark themselves: they are in both tables.
            if let Some(rest) = piece.strip_prefix(mark) {
                vocabulary.rests.insert(rest.into(), token);
            }
            vocabulary.fronts.insert(piece.into(), token);
        }
        vocabulary
    }

    /// The token of a whole entry.
    pub(super) fn token(&self, entry: &str) -> Option<u32> {
        self.fronts.get(entry).copied()
    }

    /// Every entry with its token, in the order of the tokens.
    pub(super) fn entries(&self) -> Vec<(&str, u32)> {
        let mut entries: Vec<_> = self.fronts.iter().map(|(e, t)| (&**e, *t)).collect();
        entries.sort_unstable_by_key(|(entry, token)| (*token, *entry));
        entries
    }

    /// Appends the tokens of a word's pieces; `None` if a part of the word is no piece, and some may be appended then.
    pub(super) fn split(&self, word: &str, out: &mut Vec<u32>) -> Option<()> {
        let mut rest = word;
        while !rest.is_empty() {
            let pieces = if rest.len() == word.len() {
                &self.fronts
            } else {
                &self.rests
            };
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let ends: Vec<usize> = ends
                .take_while(|end| *end <= self.piece_bytes_max)
                .collect();
            let longest = ends.into_iter().rev().find_map(|end| {
                let token = pieces.get(&rest[..end])?;
                Some((end, *token))
            });
            let (end, token) = longest?;
            out.push(token);
            rest = &rest[end..];
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let pieces = [
            "un", "##aff", "##able", "unaff", "##a", "##b", "a", "##", "é", "##é",
        ];
        let owned = pieces.into_iter().map(str::to_owned);
        Vocabulary::new(owned.zip(0..), "##")
    }

    fn check(word: &str, expected: Option<&[u32]>) {
        let mut out = Vec::new();
        let found = vocabulary().split(word, &mut out).map(|()| out);
        assert_eq!(found.as_deref(), expected, "{word}");
    }

    #[test]
    fn the_longest_piece_is_taken_first() {
        check("unaffable", Some(&[3, 2]));
        check("unable", Some(&[0, 2]));
        check("unab", Some(&[0, 4, 5]));
        check("aéé", Some(&[6, 9, 9]));
        check("", Some(&[]));
    }

    #[test]
    fn a_word_with_an_unknown_part_has_no_pieces() {
        check("unz", None);
        check("b", None);
        check("zun", None);
    }

    #[test]
    fn entries_are_in_the_order_of_their_tokens() {
        let vocabulary = vocabulary();
        assert_eq!(vocabulary.entries()[1], ("##aff", 1));
        assert_eq!(vocabulary.token("##"), Some(7));
        assert_eq!(vocabulary.token("aff"), None);
    }
}
