//! Lists of words, and pairs of words and what stands for them: what tables are made of.

/// Pairs of words of the language, separated by spaces, and what stands for each of them.
pub(super) type Pairs = &'static [(&'static str, &'static str)];

/// True if a list of words has a word.
pub(super) fn has(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|known| known == word)
}

/// What stands for a word in pairs.
pub(super) fn pair(pairs: Pairs, word: &str) -> Option<&'static str> {
    let found = pairs.iter().find(|(words, _)| has(words, word))?;
    Some(found.1)
}
