//! Case folding for `icontains`.
//!
//! Each character is lower-cased, upper-cased and lower-cased again, in full: `ß`, `ẞ` and `SS` are equal, as are the
//! three sigmas. A combining dot above after an `i` is dropped; otherwise `İ` would match neither `i` nor `I`. Folding
//! depends on no language and no neighbour, so part of a text folds to part of its folding.
//! Not here: accents, widths and normal forms; `é` as one character and as two are different texts.

use std::borrow::Cow;

const DOT_ABOVE: char = '\u{307}';

/// The folded text.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(lower) {
        if c != DOT_ABOVE || !folded.ends_with('i') {
            folded.push(c);
        }
    }
    Cow::Owned(folded)
}

fn lower(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_one_word_fold_to_one() {
        for (a, b) in [
            ("ASCII Z", "ascii z"),
            ("Straße", "STRASSE"),
            ("STRAẞE", "strasse"),
            ("İstanbul", "istanbul"),
            ("ISTANBUL", "ıstanbul"),
            ("i\u{307}stanbul", "İSTANBUL"),
            ("ΟΔΟΣ", "οδος"),
            ("οδοσ", "οδος"),
            ("ÉCOLE", "école"),
            ("ﬁn", "FIN"),
            ("ДА", "да"),
            ("Ǆ", "ǆ"),
            ("ǅ", "ǆ"),
        ] {
            assert_eq!(fold(a), fold(b), "{a} {b}");
        }
        assert_ne!(fold("é"), fold("e"));
        assert_ne!(fold("o\u{307}"), fold("o"));
    }

    #[test]
    fn folding_any_character_twice_changes_nothing_more() {
        for c in '\0'..=char::MAX {
            let once = fold(&c.to_string()).into_owned();
            assert_eq!(fold(&once), once, "{c:?}");
        }
        assert_eq!(fold("I\u{307}\u{307}"), "i");
    }

    #[test]
    fn upper_and_lower_case_of_any_character_fold_to_one() {
        for c in '\0'..=char::MAX {
            let folded = fold(&c.to_string()).into_owned();
            let upper: String = c.to_uppercase().collect();
            let lower: String = c.to_lowercase().collect();
            assert_eq!(fold(&upper), folded, "{c:?}");
            assert_eq!(fold(&lower), folded, "{c:?}");
        }
    }
}
