//! The language of a text.
//!
//! A short turn has too few letters for a detector, so that the small words and verbs of the languages with a table
//! decide first.

use whatlang::{Lang, detect};

use super::languages::{TABLES, WordMark};
use crate::language::TurnLanguage;

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
    let mut marks = [MarkCount::default(); TABLES.len()];
    let mut is_near = [false; TABLES.len()];
    for word in text.split_whitespace().take(64) {
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
            .replace('\u{2019}', "'");
        words += usize::from(!word.is_empty());
        let is_english = ENGLISH.contains(&word.as_str());
        english += usize::from(is_english);
        for (is_near, table) in is_near.iter_mut().zip(TABLES) {
            *is_near |= table.is_of_neighbour(&word);
        }
        for (marks, table) in marks.iter_mut().zip(TABLES) {
            match table.mark_of(&word) {
                WordMark::Own => marks.own += 1,
                WordMark::Shared => marks.shared += 1,
                WordMark::None => marks.english += usize::from(is_english),
            }
        }
    }
    if let Some(at) = marked(&marks, words).filter(|at| !is_near[*at]) {
        return TurnLanguage::Other(TABLES[at].code);
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

/// How many words of a text are marks of a language, of others as well, and of English alone.
#[derive(Debug, Clone, Copy, Default)]
struct MarkCount {
    own: usize,
    shared: usize,
    english: usize,
}

/// The language with a table that the small words of a text mark: they are a quarter, and more than those of English
/// and of the other languages.
fn marked(marks: &[MarkCount; TABLES.len()], words: usize) -> Option<usize> {
    let weight = |marks: &MarkCount| 2 * marks.own + marks.shared;
    let (at, best) = marks
        .iter()
        .enumerate()
        .max_by_key(|(_, marks)| weight(marks))?;
    let is_one = marks
        .iter()
        .filter(|other| weight(other) == weight(best))
        .count()
        == 1;
    let is_enough = best.own > best.english && weight(best) * 2 >= words;
    (is_one && is_enough).then_some(at)
}

fn code(lang: Lang) -> [u8; 3] {
    let mut bytes = [b'u', b'n', b'd'];
    for (to, from) in bytes.iter_mut().zip(lang.code().bytes()) {
        *to = from;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_tell_the_language_of_a_short_turn() {
        for (text, code) in [
            ("Ich mag Tee.", Some(b"deu")),
            ("Wir nutzen yarn", Some(b"deu")),
            ("On a choisi Postgres.", Some(b"fra")),
            ("J'utilise vim", Some(b"fra")),
            ("Usamos pnpm.", Some(b"spa")),
            ("Me gusta el café", Some(b"spa")),
            ("See ya! Take care!", None),
            ("He has come to use a code plane", None),
            ("On a plane", None),
            ("Die hard fan", None),
            ("Vim, not emacs", None),
        ] {
            let found = language_of(text);
            let wanted = code.map(|code| TurnLanguage::Other(*code));
            match wanted {
                Some(wanted) => assert_eq!(found, wanted, "{text}"),
                None => assert!(found.is_english(), "{text}: {found:?}"),
            }
        }
        let italian = language_of("Mi piace la pizza e vivo a Bologna con mia sorella");
        assert_ne!(italian, TurnLanguage::Other(*b"spa"));
    }

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
