//! The language of a turn: patterns are of one language, a fact has that of its turn.

use whatlang::{Lang, detect};

/// The language of a turn, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnLanguage {
    /// English: patterns apply.
    English,
    /// Another, by its ISO 639-3 code.
    Other([u8; 3]),
    /// Too short to say: patterns apply.
    Unknown,
}

/// Function words of English that other languages seldom have.
const ENGLISH: [&str; 44] = [
    "the", "and", "i", "i'm", "my", "is", "are", "was", "with", "have", "has", "of", "to", "for",
    "that", "it", "this", "on", "at", "from", "not", "but", "we", "you", "they", "he", "she", "be",
    "been", "just", "really", "like", "love", "about", "what", "when", "because", "im", "i've",
    "don't", "in", "a", "user", "works",
];

/// Letters below which a detector guesses.
const LETTERS_MIN: usize = 24;

/// The language of a text.
pub(crate) fn language_of(text: &str) -> TurnLanguage {
    let (mut words, mut english) = (0_usize, 0_usize);
    for word in text.split_whitespace().take(64) {
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
            .replace('\u{2019}', "'");
        words += usize::from(!word.is_empty());
        english += usize::from(ENGLISH.contains(&word.as_str()));
    }
    // A quarter of function words settles it; the detector costs more than all patterns.
    if english * 4 >= words && english >= 2 {
        return TurnLanguage::English;
    }
    if text.chars().filter(|c| c.is_alphabetic()).count() < LETTERS_MIN && text.is_ascii() {
        return TurnLanguage::Unknown;
    }
    match detect(text) {
        Some(info) if info.lang() == Lang::Eng => TurnLanguage::English,
        Some(info) if info.is_reliable() || !text.is_ascii() || english == 0 => {
            TurnLanguage::Other(code(info.lang()))
        }
        _ => TurnLanguage::Unknown,
    }
}

fn code(lang: Lang) -> [u8; 3] {
    let mut bytes = [b'u', b'n', b'd'];
    for (to, from) in bytes.iter_mut().zip(lang.code().bytes()) {
        *to = from;
    }
    bytes
}

impl TurnLanguage {
    /// True if patterns of English apply.
    pub fn is_english(self) -> bool {
        matches!(self, Self::English | Self::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_and_short_texts_pass_the_gate() {
        for (text, is_english) in [
            ("I live in Porto and work at Fennel Labs.", true),
            ("My name is Bob", true),
            ("Bob, 34", true),
            ("Just moved to Berlin!", true),
            (
                "Ich wohne seit vier Jahren in Berlin und arbeite als Lehrer.",
                false,
            ),
            (
                "J'habite à Lyon depuis 2016 et je travaille dans une banque.",
                false,
            ),
            (
                "Vivo en Madrid y trabajo como profesora de matemáticas.",
                false,
            ),
            ("Я живу в Москве и работаю врачом.", false),
            ("我住在上海，我喜欢喝茶。", false),
        ] {
            assert_eq!(
                language_of(text).is_english(),
                is_english,
                "{text}: {:?}",
                language_of(text)
            );
        }
    }
}
