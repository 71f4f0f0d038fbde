//! The tokenizer of the reference's text index: no stemming, its own stop words. Exports need it for byte equality.
//!
//! Not here: the text index of amemd (`amem_query::text`).

/// The stop words of the reference, sorted.
const STOP_WORDS: [&str; 68] = [
    "a", "about", "all", "also", "an", "and", "are", "as", "at", "be", "been", "being", "both",
    "but", "by", "can", "could", "did", "do", "does", "each", "few", "for", "from", "had", "has",
    "have", "how", "if", "in", "into", "is", "it", "its", "just", "may", "might", "more", "most",
    "must", "need", "no", "not", "of", "on", "or", "other", "shall", "should", "some", "such",
    "than", "that", "the", "this", "to", "too", "very", "was", "were", "what", "when", "where",
    "which", "who", "will", "with", "would",
];

/// Minimum length of an indexed word, in bytes.
const WORD_BYTES_MIN: usize = 2;

/// Calls `word` for each indexed word of a text, in order.
pub(super) fn for_each_word(text: &str, mut word: impl FnMut(&str)) {
    // Lower-case the whole text at once: final sigma depends on the preceding letter.
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| w.len() >= WORD_BYTES_MIN && STOP_WORDS.binary_search(w).is_err())
        .for_each(&mut word);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        for_each_word(text, |w| out.push(w.to_owned()));
        out
    }

    #[test]
    fn words_are_lowered_split_and_sifted() {
        assert_eq!(
            words("The Größe, of v1.2_x a é ΣΑΣ"),
            ["größe", "v1", "é", "σας"]
        );
        assert!(words("the of and to a I").is_empty());
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
