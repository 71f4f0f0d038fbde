//! Terms that differ from one by a typo: one letter more, less or other, or two neighbours exchanged (Damerau, A
//! technique for computer detection and correction of spelling errors, 1964). The first letter is the same.
//!
//! A term with a typo shares what stands before it and what stands behind it. A search narrows the terms by the letters
//! from the start until few remain, then those by the letters from the end, and reads both. Where many remain on both
//! sides, it follows the letters that the dictionary has at the place of the typo, and reads no other term.
//! Not here: which of them a question means (`expand`).

use amem_format::dictionary::{Dictionary, TermEnd};
use amem_format::error::Result;

/// Terms that are read rather than searched.
const FEW: u32 = 96;

/// Collects the terms of a dictionary at distance 1 of `term`.
pub(super) fn collect<D: Dictionary>(
    dictionary: &D,
    term: &str,
    found: &mut Vec<Box<str>>,
) -> Result<()> {
    // Where each letter starts, and where the last one ends.
    let starts: Vec<usize> = term
        .char_indices()
        .map(|(at, _)| at)
        .chain([term.len()])
        .collect();
    let all = starts.len() - 1;
    let search = TypoSearch {
        dictionary,
        term,
        starts: &starts,
    };
    // From this letter on, a typo is among the terms that were read, and so is one up to two letters before `until`.
    let mut from = all + 1;
    let mut ranges = vec![dictionary.all()];
    for at in 1..=all {
        match search.narrowed(ranges[at - 1], TermEnd::Start, at, found)? {
            Some(range) => ranges.push(range),
            None => {
                from = at;
                break;
            }
        }
    }
    let mut until = 0;
    let mut range = dictionary.all();
    for at in (1..=all.min(from + 1)).rev() {
        match search.narrowed(range, TermEnd::Finish, at, found)? {
            Some(narrowed) => range = narrowed,
            None => {
                until = at;
                break;
            }
        }
    }
    let first = until.saturating_sub(1).max(1);
    for (at, &range) in ranges.iter().enumerate().skip(first) {
        search.without(range, at, found)?;
        search.with_others(range, at, found)?;
    }
    found.sort_unstable();
    found.dedup();
    Ok(())
}

struct TypoSearch<'s, D> {
    dictionary: &'s D,
    term: &'s str,
    starts: &'s [usize],
}

impl<D: Dictionary> TypoSearch<'_, D> {
    /// The part of the term from one letter on, up to another.
    fn part(&self, from: usize, to: usize) -> &str {
        &self.term[self.starts[from]..self.starts[to]]
    }

    fn letters(&self) -> usize {
        self.starts.len() - 1
    }

    /// Of a range, the terms that have the letters of the term before `at`, or those from `at` on; `None` if they are
    /// so few that they were read, or none at all.
    fn narrowed(
        &self,
        range: D::Range,
        end: TermEnd,
        at: usize,
        found: &mut Vec<Box<str>>,
    ) -> Result<Option<D::Range>> {
        let part = match end {
            TermEnd::Start => self.part(0, at),
            TermEnd::Finish => self.part(at, self.letters()),
        };
        let Some(narrowed) = self.dictionary.narrowed(range, end, part.as_bytes())? else {
            return Ok(None);
        };
        if self
            .dictionary
            .count(narrowed)
            .is_none_or(|count| count > FEW)
        {
            return Ok(Some(narrowed));
        }
        let letters: Vec<char> = self.term.chars().collect();
        let mut other = Vec::new();
        let take = &mut |term: &[u8]| {
            let term = str_of(term);
            other.clear();
            other.extend(term.chars());
            if is_typo(&letters, &other) {
                found.push(term.into());
            }
            true
        };
        self.dictionary
            .for_each(narrowed, end, part.as_bytes(), take)?;
        Ok(None)
    }

    /// Without the letter `at`, or with it behind the next one.
    fn without(&self, range: D::Range, at: usize, found: &mut Vec<Box<str>>) -> Result<()> {
        let all = self.letters();
        if at < all {
            self.check(range, &[self.part(0, at), self.part(at + 1, all)], found)?;
        }
        if at + 1 < all {
            let exchanged = [self.part(at + 1, at + 2), self.part(at, at + 1)];
            let parts = [
                self.part(0, at),
                exchanged[0],
                exchanged[1],
                self.part(at + 2, all),
            ];
            self.check(range, &parts, found)?;
        }
        Ok(())
    }

    /// With another letter than the one `at`, or one more before it: each letter that follows in the dictionary.
    fn with_others(&self, range: D::Range, at: usize, found: &mut Vec<Box<str>>) -> Result<()> {
        let (all, before) = (self.letters(), self.part(0, at));
        let mut key = before.to_owned();
        loop {
            let Some(term) = self
                .dictionary
                .first_from(range, TermEnd::Start, key.as_bytes())?
            else {
                return Ok(());
            };
            let Some(letter) = str_of(term)
                .strip_prefix(before)
                .map(|rest| rest.chars().next())
            else {
                return Ok(());
            };
            let Some(letter) = letter else {
                // The term itself ends here.
                key.push('\0');
                continue;
            };
            let mut bytes = [0; 4];
            let other: &str = letter.encode_utf8(&mut bytes);
            if at < all && other != self.part(at, at + 1) {
                self.check(range, &[before, other, self.part(at + 1, all)], found)?;
            }
            self.check(range, &[before, other, self.part(at, all)], found)?;
            key.truncate(before.len());
            match next_letter(letter) {
                Some(next) => key.push(next),
                None => return Ok(()),
            }
        }
    }

    /// Adds the term of these parts if the dictionary has it.
    fn check(&self, range: D::Range, parts: &[&str], found: &mut Vec<Box<str>>) -> Result<()> {
        let candidate = parts.concat();
        if candidate == self.term {
            return Ok(());
        }
        let first = self
            .dictionary
            .first_from(range, TermEnd::Start, candidate.as_bytes())?;
        if first == Some(candidate.as_bytes()) {
            found.push(candidate.into());
        }
        Ok(())
    }
}

/// True if one typo behind the first letter makes the other word.
fn is_typo(word: &[char], other: &[char]) -> bool {
    let same = word.iter().zip(other).take_while(|(a, b)| a == b).count();
    if same == 0 {
        return false;
    }
    match (&word[same..], &other[same..]) {
        ([], rest) | (rest, []) => rest.len() == 1,
        (x @ [a, behind_a @ ..], y @ [b, behind_b @ ..]) => {
            let exchanged = || {
                behind_a.first() == Some(b)
                    && behind_b.first() == Some(a)
                    && behind_a[1..] == behind_b[1..]
            };
            behind_a == behind_b || behind_a == y || x == behind_b || exchanged()
        }
    }
}

fn str_of(term: &[u8]) -> &str {
    // Terms of a damaged dictionary need not be text.
    std::str::from_utf8(term).unwrap_or("")
}

fn next_letter(letter: char) -> Option<char> {
    ((letter as u32 + 1)..=u32::from(char::MAX)).find_map(char::from_u32)
}
