//! Word boundaries in any script.
//!
//! Not here: the term of a word (`analysis`).

/// Bytes of one term; longer words are truncated.
pub const TERM_BYTES_MAX: usize = 64;

/// The class of a character for word boundaries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Class {
    /// Part of a word.
    Letter,
    /// A character of a script that puts no spaces between words.
    Unspaced,
    /// Part of a word only between two letters.
    Apostrophe,
    /// A mark that is ignored inside a word.
    Mark,
    /// A picture that is a word by itself; only in version 2.
    Symbol,
    /// Everything else.
    Gap,
}

/// Calls `f` with each word in lower case, apostrophes included, or with `None` and a complete term.
pub(super) fn for_each_word_of_version_1(
    text: &str,
    word: &mut String,
    term: &mut String,
    f: impl FnMut(Option<&str>, &mut String),
) {
    word.clear();
    if text.is_ascii() {
        for_each_ascii_word(text, word, term, f);
    } else {
        for_each_word_of_any_script(text, word, term, f);
    }
}

/// `for_each_word_of_any_script` for ASCII texts.
fn for_each_ascii_word(
    text: &str,
    word: &mut String,
    term: &mut String,
    mut f: impl FnMut(Option<&str>, &mut String),
) {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let mut at = 0;
    while at < bytes.len() {
        if !is_letter(at) {
            at += 1;
            continue;
        }
        word.clear();
        loop {
            let start = at;
            while is_letter(at) {
                at += 1;
            }
            let room = TERM_BYTES_MAX - word.len();
            word.push_str(&text[start..at.min(start + room)]);
            let goes_on = matches!(bytes.get(at), Some(b'\'' | b'`'))
                && is_letter(at + 1)
                && word.len() < TERM_BYTES_MAX;
            if !goes_on {
                break;
            }
            word.push('\'');
            at += 1;
        }
        word.make_ascii_lowercase();
        f(Some(word), term);
    }
    word.clear();
}

fn for_each_word_of_any_script(
    text: &str,
    word: &mut String,
    term: &mut String,
    mut f: impl FnMut(Option<&str>, &mut String),
) {
    let mut pair = Pair::default();
    let mut chars = text.chars().map(folded).peekable();
    while let Some(c) = chars.next() {
        let class = class_of(c);
        if class != Class::Unspaced && class != Class::Mark {
            pair.end(term, &mut f);
        }
        match class {
            Class::Letter => push_lower(word, c),
            Class::Mark => {}
            Class::Apostrophe
                if !word.is_empty()
                    && word.len() < TERM_BYTES_MAX
                    && chars.peek().is_some_and(|&n| class_of(n) == Class::Letter) =>
            {
                word.push('\'');
            }
            Class::Apostrophe | Class::Symbol | Class::Gap | Class::Unspaced => {
                if !word.is_empty() {
                    f(Some(word), term);
                    word.clear();
                }
                if class == Class::Unspaced {
                    pair.push(c, term, &mut f);
                }
            }
        }
    }
    pair.end(term, &mut f);
    if !word.is_empty() {
        f(Some(word), term);
    }
}

/// Bigrams of a run of characters without spaces between words.
#[derive(Default)]
struct Pair {
    last: Option<char>,
    emitted: bool,
}

impl Pair {
    fn push(&mut self, c: char, term: &mut String, f: &mut impl FnMut(Option<&str>, &mut String)) {
        if let Some(last) = self.last {
            term.clear();
            term.push(last);
            term.push(c);
            f(None, term);
            self.emitted = true;
        }
        self.last = Some(c);
    }

    /// Ends a run; a single character is a term by itself.
    fn end(&mut self, term: &mut String, f: &mut impl FnMut(Option<&str>, &mut String)) {
        if let Some(last) = self.last.take()
            && !self.emitted
        {
            term.clear();
            term.push(last);
            f(None, term);
        }
        self.emitted = false;
    }
}

/// Maps full-width ASCII to ASCII, and every apostrophe to `'`.
fn folded(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{ff07}' | '`' | '\u{b4}' => '\'',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    }
}

pub(super) fn class_of(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
        '\'' => Class::Apostrophe,
        '\0'..='\x7f' => Class::Gap,
        // Accents written apart, soft hyphen, joiners; the signs that join consonants in Indic scripts.
        '\u{ad}'
        | '\u{300}'..='\u{36f}'
        | '\u{200c}'
        | '\u{200d}'
        | '\u{93c}'
        | '\u{94d}'
        | '\u{9bc}'
        | '\u{9cd}'
        | '\u{a3c}'
        | '\u{a4d}'
        | '\u{abc}'
        | '\u{acd}'
        | '\u{b3c}'
        | '\u{b4d}'
        | '\u{bcd}'
        | '\u{c4d}'
        | '\u{cbc}'
        | '\u{ccd}'
        | '\u{d4d}'
        | '\u{dca}' => Class::Mark,
        // Thai, Lao, Myanmar, Khmer with their marks.
        '\u{e01}'..='\u{e3a}'
        | '\u{e40}'..='\u{e4e}'
        | '\u{e81}'..='\u{ece}'
        | '\u{1000}'..='\u{103f}'
        | '\u{1780}'..='\u{17d3}' => Class::Unspaced,
        // Hiragana, Katakana, Bopomofo, Hangul, Han.
        '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => Class::Unspaced,
        c if c.is_alphanumeric() => Class::Letter,
        _ => Class::Gap,
    }
}

/// Appends `c` in lower case unless the word would exceed `TERM_BYTES_MAX`.
fn push_lower(word: &mut String, c: char) {
    if c.is_ascii() {
        if word.len() < TERM_BYTES_MAX {
            word.push(c.to_ascii_lowercase());
        }
        return;
    }
    for c in c.to_lowercase() {
        if class_of(c) == Class::Letter && word.len() + c.len_utf8() <= TERM_BYTES_MAX {
            word.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ascii_texts_have_the_words_that_any_script_would_give(
            text in "([a-zA-Z0-9]{1,30}|[ '`.,\n]|'[a-z]){0,60}",
            long in "[a-z']{50,140}",
        ) {
            let text = format!("{text} {long}");
            let (mut ascii, mut any) = (Vec::new(), Vec::new());
            let (mut word, mut term) = (String::new(), String::new());
            for_each_ascii_word(&text, &mut word, &mut term, |w, _| ascii.extend(w.map(str::to_owned)));
            prop_assert!(word.is_empty());
            for_each_word_of_any_script(&text, &mut word, &mut term, |w, _| {
                any.extend(w.map(str::to_owned));
            });
            prop_assert_eq!(ascii, any);
        }
    }
}
