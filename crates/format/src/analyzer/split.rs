//! Words in any script and writing: version 2 of the rules.
//!
//! A *run* is a sequence of letters and digits of any script. Runs that `-`, `_`, `.` or `&` join are a *unit*, and so
//! is a run whose letters change case (`maxRetryCount`) or that mixes letters and digits (`B12`). Runs are the words of
//! a text; the parts of a run and the unit as one word are asides, so that a unit is found however it is written.
//!
//! Not here: the term of a word (`analysis`), numbers and dates (`numerals`).

use super::english::is_stop_word;
use super::letters::{for_each_folded, normalized, written_with_e};
use super::numerals::{self, NumeralRole};
use super::words::{Class, TERM_BYTES_MAX, class_of};
use super::{CHARACTER, UNIT, WITH_E};

/// Parts of a unit that is also one word; longer ones are paths and addresses.
const PARTS_MAX: usize = 8;
/// Changes between letters and digits of a run that is taken apart; others are keys and hashes.
const CHANGES_MAX: usize = 3;
/// Characters of a sentence that are read to find out whether it is a question: a text may have no end of a sentence.
const ASKED_CHARS_MAX: usize = 1_000;
/// Letters of the shortest run that is taken for a hash if all are hexadecimal digits.
const HASH_CHARS_MIN: usize = 7;
/// Stop words that, first in a sentence that is no question, are names of persons.
const SENTENCE_NAMES: [&str; 2] = ["may", "will"];
/// What French, Italian and Catalan write before a vowel with an apostrophe.
#[rustfmt::skip]
const ELISIONS: [&str; 26] = [
    "all", "bell", "c", "com", "d", "dall", "dell", "dov", "j", "jusqu", "l", "lorsqu", "m", "n", "nell", "presqu",
    "puisqu", "qu", "quand", "quell", "quest", "quoiqu", "s", "sull", "t", "un",
];

/// What a split needs from text to text.
#[derive(Debug, Default)]
pub(super) struct SplitBuffers {
    /// The folded run, then the unit.
    run: String,
    letters: Vec<Letter>,
    parts: Vec<(u32, u32)>,
    unit: String,
    /// The word with ä as ae; empty if it is the same.
    with_e: String,
}

/// One letter of a folded run.
#[derive(Debug, Clone, Copy)]
struct Letter {
    at: u32,
    kind: LetterKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LetterKind {
    Upper,
    /// In lower case, or of a script without.
    Lower,
    Digit,
    Apostrophe,
}

/// Calls `f` with each word, folded, apostrophes included, or with `None` and a complete term.
pub(super) fn for_each_word(
    text: &str,
    splitting: &mut SplitBuffers,
    term: &mut String,
    f: impl FnMut(Option<&str>, &mut String),
) {
    for_each_word_by(text, splitting, term, true, f);
}

/// `for_each_word`, with or without the short way for plain words.
fn for_each_word_by(
    text: &str,
    splitting: &mut SplitBuffers,
    term: &mut String,
    has_short_way: bool,
    mut f: impl FnMut(Option<&str>, &mut String),
) {
    let text = if text.is_ascii() {
        text.into()
    } else {
        normalized(text)
    };
    let mut walk = TextWalk {
        text: &text,
        at: 0,
        is_first: true,
        has_lower: text.chars().any(char::is_lowercase),
        has_short_way,
        joined_until: 0,
        splitting,
        term,
        f: &mut f,
    };
    walk.all();
}

struct TextWalk<'w, F> {
    text: &'w str,
    at: usize,
    /// True if nothing stands before in the sentence.
    is_first: bool,
    /// False for a text that is all in capitals: they tell nothing.
    has_lower: bool,
    has_short_way: bool,
    /// The end of the last group of numbers that were read as one.
    joined_until: usize,
    splitting: &'w mut SplitBuffers,
    term: &'w mut String,
    f: &'w mut F,
}

impl<F: FnMut(Option<&str>, &mut String)> TextWalk<'_, F> {
    fn all(&mut self) {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            if byte == b' ' {
                self.at += 1;
                continue;
            }
            if self.has_short_way && byte.is_ascii_alphabetic() && self.plain_word() {
                continue;
            }
            let Some(c) = self.peek(self.at) else { break };
            match class(c) {
                Class::Letter => {
                    if c.is_ascii_digit() && self.numeral() {
                        continue;
                    }
                    self.unit();
                }
                Class::Unspaced => self.unspaced(),
                Class::Symbol => self.symbol(c),
                Class::Gap => self.gap(c),
                Class::Mark | Class::Apostrophe => self.at += c.len_utf8(),
            }
        }
    }

    fn peek(&self, at: usize) -> Option<char> {
        self.text.get(at..).and_then(|rest| rest.chars().next())
    }

    fn is_letter(&self, at: usize) -> bool {
        self.peek(at).is_some_and(|c| class(c) == Class::Letter)
    }

    /// A word of ASCII letters in one case behind the first that nothing joins to another: most words of most texts.
    /// False if what stands here is something else.
    fn plain_word(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let lower = bytes[start + 1..]
            .iter()
            .take_while(|b| b.is_ascii_lowercase());
        let end = start + 1 + lower.count();
        let is_end = match bytes.get(end) {
            None | Some(b' ' | b',' | b'!' | b'?' | b';' | b')' | b'"' | b'\n') => true,
            Some(b'.' | b'-' | b'_' | b'&') => self.joined(end).is_none(),
            Some(b':' | b'/' | b'(') => true,
            _ => false,
        };
        if !is_end || end - start > TERM_BYTES_MAX {
            return false;
        }
        let is_capital = bytes[start].is_ascii_uppercase();
        self.at = end;
        if is_capital {
            let SplitBuffers { run, .. } = &mut *self.splitting;
            run.clear();
            run.push_str(&self.text[start..end]);
            run.make_ascii_lowercase();
            if self.is_name(start, self.is_first, false) {
                self.term.clear();
                self.term.push_str(&self.splitting.run);
                (self.f)(None, self.term);
            } else {
                (self.f)(Some(&self.splitting.run), self.term);
            }
        } else {
            (self.f)(Some(&self.text[start..end]), self.term);
        }
        self.is_first = false;
        if numerals::may_be_month(self.text, end) {
            if !is_capital {
                self.splitting.run.clear();
                self.splitting.run.push_str(&self.text[start..end]);
            }
            self.month();
        }
        true
    }

    /// True if the run, which starts at `start` with a capital, is a stop word that is a name: capitals say so where
    /// they need not stand.
    fn is_name(&self, start: usize, is_first: bool, is_loud: bool) -> bool {
        let run = &self.splitting.run;
        let word = run.strip_suffix("'s").unwrap_or(run);
        let is_plain = word.len() == run.len();
        self.has_lower
            && is_stop_word(word)
            && word != "i"
            && (is_loud
                || is_plain && !is_first
                || SENTENCE_NAMES.contains(&word) && (!is_first || !is_asked(self.text, start)))
    }

    /// The date that starts with the month that was just read, if it is one.
    fn month(&mut self) {
        let Self {
            text,
            at,
            splitting,
            term,
            f,
            ..
        } = self;
        numerals::read_month(text, *at, &splitting.run, &mut |_, date| {
            term.clear();
            term.push(UNIT);
            term.push_str(date);
            f(None, term);
        });
    }

    fn gap(&mut self, c: char) {
        self.at += c.len_utf8();
        let ends = match c {
            '.' | '!' | '?' | ':' | ';' => self
                .peek(self.at)
                .is_none_or(|next| !next.is_alphanumeric()),
            '\n' | '"' | '(' | '[' | '{' | '«' | '“' | '„' | '•' | '…' => true,
            _ => false,
        };
        self.is_first |= ends;
    }

    /// An emoji; of two letters of a flag, one term.
    fn symbol(&mut self, c: char) {
        self.at += c.len_utf8();
        self.term.clear();
        self.term.push(c);
        let is_flag = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
        if is_flag(c)
            && let Some(next) = self.peek(self.at).filter(|&next| is_flag(next))
        {
            self.term.push(next);
            self.at += next.len_utf8();
        }
        (self.f)(None, self.term);
    }

    /// A run of characters of a script without spaces: its pairs, and each character as an aside.
    fn unspaced(&mut self) {
        let start = self.at;
        let mut last = None;
        let mut count = 0;
        while let Some(c) = self.peek(self.at) {
            match class(c) {
                Class::Unspaced => {}
                Class::Mark => {
                    self.at += c.len_utf8();
                    continue;
                }
                _ => break,
            }
            self.at += c.len_utf8();
            let mut folded = c;
            for_each_folded(c, |c| folded = c);
            if let Some(last) = last.replace(folded) {
                self.term.clear();
                self.term.extend([last, folded]);
                (self.f)(None, self.term);
            }
            count += 1;
        }
        if count == 1 {
            self.term.clear();
            self.term.extend(last);
            (self.f)(None, self.term);
        } else {
            let text = self.text;
            for c in text[start..self.at].chars() {
                if class(c) == Class::Unspaced {
                    self.term.clear();
                    self.term.push(CHARACTER);
                    for_each_folded(c, |c| self.term.push(c));
                    (self.f)(None, self.term);
                }
            }
        }
        self.is_first = false;
    }

    /// A number, time or date that is written in several ways; false if there is none, or its words still count.
    fn numeral(&mut self) -> bool {
        let read = numerals::read(self.text, self.at, self.joined_until, &mut |role, term| {
            self.term.clear();
            self.term
                .extend((role == NumeralRole::Aside).then_some(UNIT));
            self.term.push_str(term);
            // Numbers are ASCII; of two that are this long the ends are not compared.
            self.term.truncate(TERM_BYTES_MAX);
            (self.f)(None, self.term);
        });
        self.joined_until = self.joined_until.max(read.joined_until);
        if let Some(end) = read.end {
            self.at = end;
            self.is_first = false;
        }
        read.end.is_some()
    }

    /// A unit: its parts, and itself.
    fn unit(&mut self) {
        self.splitting.unit.clear();
        self.splitting.unit.push(UNIT);
        let (mut runs, mut has_letters) = (0, false);
        let is_first = self.is_first;
        loop {
            let start = self.at;
            self.read_run();
            self.split_run();
            has_letters |= self
                .splitting
                .letters
                .iter()
                .any(|l| l.kind != LetterKind::Digit);
            self.tell_run(start, is_first && runs == 0);
            if runs == 0 && self.joined(self.at).is_none() {
                break;
            }
            runs += 1;
            let SplitBuffers { unit, run, .. } = &mut *self.splitting;
            if unit.len() <= TERM_BYTES_MAX {
                unit.push_str(run);
            }
            match self.joined(self.at) {
                Some(next) => self.at = next,
                None => break,
            }
        }
        let unit = &self.splitting.unit;
        let is_word = (2..=PARTS_MAX).contains(&runs) && has_letters;
        if is_word && unit.len() <= TERM_BYTES_MAX && !unit.contains('\'') {
            (self.f)(Some(unit), self.term);
        }
        self.is_first = false;
        if numerals::may_be_month(self.text, self.at) {
            self.month();
        }
    }

    /// The start of the run that a sign at `at` joins to the one before.
    fn joined(&self, at: usize) -> Option<usize> {
        let sign = self.text.as_bytes().get(at)?;
        (matches!(sign, b'-' | b'_' | b'.' | b'&') && self.is_letter(at + 1)).then_some(at + 1)
    }

    /// Reads a run into the buffers, folded and without elisions.
    fn read_run(&mut self) {
        let SplitBuffers {
            run,
            letters,
            with_e,
            ..
        } = &mut *self.splitting;
        run.clear();
        letters.clear();
        with_e.clear();
        let mut has_e = false;
        let text = self.text;
        let mut chars = text[self.at..].char_indices().peekable();
        let mut end = text.len() - self.at;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|&(_, next)| next);
            let goes_on = next.is_some_and(|next| class(next) == Class::Letter);
            let is_point = c == '.'
                && letters
                    .last()
                    .is_some_and(|last| last.kind == LetterKind::Digit)
                && next.is_some_and(|next| next.is_ascii_digit());
            match class(c) {
                Class::Letter => {
                    let kind = match c {
                        c if c.is_ascii_digit() => LetterKind::Digit,
                        c if c.is_uppercase() => LetterKind::Upper,
                        _ => LetterKind::Lower,
                    };
                    for_each_folded(c, |c| {
                        if run.len() + c.len_utf8() <= TERM_BYTES_MAX && class(c) == Class::Letter {
                            letters.push(Letter {
                                at: run.len() as u32,
                                kind,
                            });
                            run.push(c);
                            with_e.push(c);
                        }
                    });
                    if let Some(e) = written_with_e(c) {
                        with_e.push(e);
                        has_e = true;
                    }
                }
                Class::Mark => {}
                Class::Apostrophe if goes_on && run.len() < TERM_BYTES_MAX => {
                    let opens =
                        next.is_some_and(is_vowel) && ELISIONS.binary_search(&run.as_str()).is_ok();
                    if opens {
                        run.clear();
                        letters.clear();
                        with_e.clear();
                        has_e = false;
                    } else {
                        letters.push(Letter {
                            at: run.len() as u32,
                            kind: LetterKind::Apostrophe,
                        });
                        run.push('\'');
                        with_e.push('\'');
                    }
                }
                Class::Gap if is_point && run.len() < TERM_BYTES_MAX => {
                    letters.push(Letter {
                        at: run.len() as u32,
                        kind: LetterKind::Digit,
                    });
                    run.push('.');
                    with_e.push('.');
                }
                _ => {
                    end = at;
                    break;
                }
            }
        }
        match has_e {
            true => with_e.insert(0, WITH_E),
            false => with_e.clear(),
        }
        self.at += end;
    }

    /// Finds the parts of the run.
    fn split_run(&mut self) {
        let SplitBuffers {
            run,
            letters,
            parts,
            ..
        } = &mut *self.splitting;
        parts.clear();
        let is_digit = |letter: &Letter| letter.kind == LetterKind::Digit;
        let pairs = || letters.windows(2);
        let changes = pairs()
            .filter(|p| is_digit(&p[0]) != is_digit(&p[1]))
            .count();
        let is_hash = changes > 0
            && letters.len() >= HASH_CHARS_MIN
            && run.bytes().all(|b| b.is_ascii_hexdigit());
        let by_digits = changes <= CHANGES_MAX && !is_hash;
        let mut start = 0;
        for at in 1..letters.len() {
            let (before, this) = (letters[at - 1].kind, letters[at].kind);
            let next = letters.get(at + 1).map(|letter| letter.kind);
            // "PDFs" is one word, "HTTPServer" are two.
            let is_plural = || at + 2 == letters.len() && run.ends_with('s');
            let is_joint = match (before, this) {
                (LetterKind::Apostrophe, _) | (_, LetterKind::Apostrophe) => false,
                (LetterKind::Digit, LetterKind::Digit) => false,
                (LetterKind::Digit, _) | (_, LetterKind::Digit) => by_digits,
                (LetterKind::Lower, LetterKind::Upper) => !is_hash && changes <= CHANGES_MAX,
                (LetterKind::Upper, LetterKind::Upper) => {
                    next == Some(LetterKind::Lower) && !is_plural() && changes <= CHANGES_MAX
                }
                _ => false,
            };
            if is_joint {
                parts.push((start, letters[at].at));
                start = letters[at].at;
            }
        }
        parts.push((start, run.len() as u32));
    }

    /// Tells of the parts of a run and of itself.
    fn tell_run(&mut self, start: usize, is_first: bool) {
        let SplitBuffers {
            run,
            letters,
            parts,
            with_e,
            ..
        } = &*self.splitting;
        if run.is_empty() {
            return;
        }
        if let [_] = parts[..] {
            let is_upper = |letter: &Letter| letter.kind == LetterKind::Upper;
            let word = run.strip_suffix("'s").unwrap_or(run);
            let is_loud = word.len() > 1 && letters.iter().take(word.len()).all(is_upper);
            let is_name =
                letters.first().is_some_and(is_upper) && self.is_name(start, is_first, is_loud);
            if is_name {
                self.term.clear();
                self.term.push_str(word);
                (self.f)(None, self.term);
                return;
            }
            (self.f)(Some(run), self.term);
            // The first character makes it an aside of the same stem.
            if with_e.len() > WITH_E.len_utf8() && with_e.len() <= TERM_BYTES_MAX {
                (self.f)(Some(with_e), self.term);
            }
            return;
        }
        (self.f)(Some(run), self.term);
        let SplitBuffers {
            run, parts, unit, ..
        } = &mut *self.splitting;
        for &(from, to) in &*parts {
            // The unit's buffer has room for a part with its mark behind what it is needed for.
            let len = unit.len();
            unit.push(UNIT);
            unit.push_str(&run[from as usize..to as usize]);
            (self.f)(Some(&unit[len..]), self.term);
            unit.truncate(len);
        }
    }
}

/// True if the sentence from `at` on ends with a question mark, within `ASKED_CHARS_MAX`.
fn is_asked(text: &str, at: usize) -> bool {
    let mut rest = text[at..].chars().take(ASKED_CHARS_MAX);
    rest.find(|c| matches!(c, '.' | '!' | '?' | '\n')) == Some('?')
}

fn is_vowel(c: char) -> bool {
    let mut is_vowel = false;
    for_each_folded(c, |c| {
        is_vowel |= matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'h')
    });
    is_vowel
}

fn class(c: char) -> Class {
    match c {
        '`' => Class::Apostrophe,
        // Emoji and pictures; the selectors of their look, their skins and joiners are marks.
        '\u{fe00}'..='\u{fe0f}'
        | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{640}'
        | '\u{64b}'..='\u{65f}'
        | '\u{670}' => Class::Mark,
        '\u{2600}'..='\u{27bf}'
        | '\u{2b05}'..='\u{2b07}'
        | '\u{2b1b}'..='\u{2b1c}'
        | '\u{2b50}'
        | '\u{2b55}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23fa}'
        | '\u{1f000}'..='\u{1faff}' => Class::Symbol,
        c => class_of(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_words_are_the_same_the_short_way_and_the_long(
            text in "([a-zA-Z]{1,12}|Will|May|it|IT|who|July|of|[0-9]{1,4}|[ '`.,:;!?_&/\n-]|é|猫|🚀){0,60}",
            long in "[a-zA-Z]{50,80}",
        ) {
            let text = format!("{text} {long}");
            let words = |has_short_way| {
                let (mut words, mut term) = (Vec::new(), String::new());
                for_each_word_by(&text, &mut SplitBuffers::default(), &mut term, has_short_way, |word, term| {
                    words.push((word.map(str::to_owned), word.is_none().then(|| term.clone())));
                });
                words
            };
            prop_assert_eq!(words(true), words(false));
        }
    }
}
