//! Light stemming of Arabic: the article and conjunctions before a word, a few endings behind it.
//!
//! After the stemmer "light10" (Larkey, Ballesteros and Connell, Light Stemming for Arabic Information Retrieval,
//! 2007). Letters come folded (`letters`): no hamza forms, ه for ة. Covered by `ANALYZER_VERSION`.
//! Not here: broken plurals, roots.

/// True if a folded word is written in Arabic letters.
pub(super) fn is_arabic(word: &str) -> bool {
    word.starts_with(|c| ('\u{620}'..='\u{6d3}').contains(&c))
}

/// Articles, with a conjunction or preposition before them; two letters must remain.
const ARTICLES: [&str; 5] = ["وال", "بال", "كال", "فال", "ال"];
/// Endings that are cut one after the other; two letters must remain.
const ENDINGS: [&str; 9] = ["ها", "ان", "ات", "ون", "ين", "يه", "هم", "ه", "ي"];

/// The word without its article and endings.
pub(super) fn stem(word: &str) -> &str {
    let mut word = word;
    let letters = |word: &str| word.chars().count();
    if let Some(rest) = word.strip_prefix('و')
        && letters(rest) >= 3
        && !word.starts_with("وال")
    {
        word = rest;
    }
    for article in ARTICLES.iter().copied().chain(["لل"]) {
        if let Some(rest) = word.strip_prefix(article)
            && letters(rest) >= 2
        {
            word = rest;
            break;
        }
    }
    for ending in ENDINGS {
        if let Some(rest) = word.strip_suffix(ending)
            && letters(rest) >= 2
        {
            word = rest;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_meet() {
        for (forms, stemmed) in [
            (
                &["قهوه", "القهوه", "والقهوه", "بالقهوه", "للقهوه"][..],
                "قهو",
            ),
            (&["مدرسه", "مدرسات", "المدرسه"], "مدرس"),
            (&["من"], "من"),
        ] {
            for form in forms {
                assert_eq!(stem(form), stemmed, "{form}");
            }
        }
        assert!(is_arabic("قهوه") && !is_arabic("coffee") && !is_arabic(""));
    }
}
