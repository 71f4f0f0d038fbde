//! Questions about the past.

/// Words that ask of what was so before, in the languages of patterns.
const WORDS: &[&str] = &[
    "before",
    "earlier",
    "formerly",
    "former",
    "initially",
    "original",
    "originally",
    "previous",
    "previously",
    "prior",
    "past",
    "once",
    "history",
    "used",
    "früher",
    "vorher",
    "zuvor",
    "ursprünglich",
    "damals",
    "ehemals",
    "avant",
    "auparavant",
    "autrefois",
    "précédemment",
    "antes",
    "anteriormente",
    "originalmente",
];
/// Of "used", only "used to" and "did use".
const USED: &str = "used";

/// True if a question is about what was so before.
pub(super) fn asks_of_past(question: &str) -> bool {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_used_to = |at: usize| words.get(at + 1).is_some_and(|next| *next == "to");
    words.iter().enumerate().any(|(at, word)| match *word {
        USED => is_used_to(at),
        word => WORDS.contains(&word),
    })
}

#[cfg(test)]
mod tests {
    use super::asks_of_past;

    #[test]
    fn questions_about_the_past_are_known_by_their_words() {
        for question in [
            "where did she live before?",
            "what database did we use previously",
            "What did we used to call it?",
            "Wo habe ich früher gewohnt?",
        ] {
            assert!(asks_of_past(question), "{question}");
        }
        for question in ["what is used for the cart?", "where do I live", ""] {
            assert!(!asks_of_past(question), "{question}");
        }
    }
}
