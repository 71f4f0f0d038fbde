//! Reads a text from its start.

use super::calendar::Problem;

/// Reads a text from its start.
pub(super) struct Scanner<'a> {
    text: &'a str,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text
    }

    pub(super) fn is_done(&self) -> bool {
        self.text.is_empty()
    }

    /// Continues at the rest of the text that a caller has found.
    pub(super) fn skip_to(&mut self, rest: &'a str) {
        self.text = rest;
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.text = self.text.get(bytes..).unwrap_or_default();
    }

    pub(super) fn leading_digits(&self) -> &'a str {
        let end = self.text.bytes().take_while(u8::is_ascii_digit).count();
        &self.text[..end]
    }

    pub(super) fn digits(&mut self, count: usize) -> Option<i16> {
        let found = self.leading_digits().get(..count)?;
        self.advance(count);
        found.parse().ok()
    }

    pub(super) fn digits_up_to(&mut self, count: usize) -> Option<i16> {
        let found = self.leading_digits();
        if found.is_empty() || found.len() > count {
            return None;
        }
        self.digits(found.len())
    }

    pub(super) fn one_of(&mut self, wanted: &str) -> Option<char> {
        let first = self.text.chars().next().filter(|c| wanted.contains(*c))?;
        self.advance(first.len_utf8());
        Some(first)
    }

    pub(super) fn exactly(&mut self, wanted: char) -> Option<()> {
        let rest = self.text.strip_prefix(wanted)?;
        self.text = rest;
        Some(())
    }

    pub(super) fn skip_spaces(&mut self) -> bool {
        let rest = self.text.trim_start();
        let has_spaces = rest.len() < self.text.len();
        self.text = rest;
        has_spaces
    }

    pub(super) fn letters(&mut self) {
        self.text = self
            .text
            .trim_start_matches(|c: char| c.is_ascii_alphabetic());
    }

    /// Microseconds; digits past them are cut off.
    pub(super) fn fraction(&mut self) -> Result<i64, Problem> {
        if self.one_of(".,").is_none() {
            return Ok(0);
        }
        let digits = self.leading_digits();
        if digits.is_empty() {
            return Err(Problem::Form);
        }
        self.advance(digits.len());
        let (mut micros, mut unit) = (0, 100_000);
        for digit in digits.bytes() {
            micros += i64::from(digit - b'0') * unit;
            unit /= 10;
        }
        Ok(micros)
    }

    /// True for pm, false for am.
    pub(super) fn half_of_day(&mut self) -> Option<bool> {
        let rest = self.text.trim_start();
        let word: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphabetic() || *c == '.')
            .collect();
        let is_afternoon = match word.to_ascii_lowercase().replace('.', "").as_str() {
            "am" => false,
            "pm" => true,
            _ => return None,
        };
        self.text = rest.get(word.len()..).unwrap_or_default();
        Some(is_afternoon)
    }
}
