//! Terms that differ from one by a typo: one letter more, less or other, or two neighbours exchanged (Damerau, A
//! technique for computer detection and correction of spelling errors, 1964). The first letter is the same.
//!
//! Terms that share the first half are found in the order of starts, the others in that of ends. Either way a search
//! follows the letters that the dictionary has behind the part that is equal, and reads no other term.
//! Not here: which of them a question means (`expand`).

use amem_format::dictionary::{Dictionary, End};
use amem_format::error::Result;

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
    let letters = starts.len() - 1;
    let half = letters / 2;
    let search = Search {
        dictionary,
        term,
        starts: &starts,
    };
    let mut range = dictionary.all();
    for at in 1..=letters {
        let Some(narrowed) =
            dictionary.narrowed(range, End::Start, term[..starts[at]].as_bytes())?
        else {
            break;
        };
        range = narrowed;
        search.without(range, at, found)?;
        if at >= half {
            search.with_others_behind(range, at, found)?;
        }
    }
    let mut range = dictionary.all();
    for at in (1..=letters).rev() {
        let Some(narrowed) =
            dictionary.narrowed(range, End::Finish, term[starts[at]..].as_bytes())?
        else {
            break;
        };
        range = narrowed;
        if at <= half {
            search.with_others_before(range, at, found)?;
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(())
}

struct Search<'s, D> {
    dictionary: &'s D,
    term: &'s str,
    starts: &'s [usize],
}

impl<D: Dictionary> Search<'_, D> {
    /// The part of the term from one letter on, up to another.
    fn part(&self, from: usize, to: usize) -> &str {
        &self.term[self.starts[from]..self.starts[to]]
    }

    fn letters(&self) -> usize {
        self.starts.len() - 1
    }

    /// Without the letter `at`, or with it behind the next one.
    fn without(&self, range: D::Range, at: usize, found: &mut Vec<Box<str>>) -> Result<()> {
        let all = self.letters();
        if at < all {
            self.check(
                (range, End::Start),
                &[self.part(0, at), self.part(at + 1, all)],
                found,
            )?;
        }
        if at + 1 < all {
            let exchanged = [self.part(at + 1, at + 2), self.part(at, at + 1)];
            let parts = [
                self.part(0, at),
                exchanged[0],
                exchanged[1],
                self.part(at + 2, all),
            ];
            self.check((range, End::Start), &parts, found)?;
        }
        Ok(())
    }

    /// With another letter than the one `at`, or one more before it: each letter that follows in the dictionary.
    fn with_others_behind(
        &self,
        range: D::Range,
        at: usize,
        found: &mut Vec<Box<str>>,
    ) -> Result<()> {
        let (all, before) = (self.letters(), self.part(0, at));
        let mut key = before.to_owned();
        loop {
            let Some(term) = self
                .dictionary
                .first_from(range, End::Start, key.as_bytes())?
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
                self.check(
                    (range, End::Start),
                    &[before, other, self.part(at + 1, all)],
                    found,
                )?;
            }
            self.check(
                (range, End::Start),
                &[before, other, self.part(at, all)],
                found,
            )?;
            key.truncate(before.len());
            match next_letter(letter) {
                Some(next) => key.push(next),
                None => return Ok(()),
            }
        }
    }

    /// With another letter than the one before `at`, or one more behind it: each letter that stands there in the
    /// dictionary.
    fn with_others_before(
        &self,
        range: D::Range,
        at: usize,
        found: &mut Vec<Box<str>>,
    ) -> Result<()> {
        let (all, behind) = (self.letters(), self.part(at, self.letters()));
        let mut key = behind.as_bytes().to_vec();
        loop {
            let Some(term) = self.dictionary.first_from(range, End::Finish, &key)? else {
                return Ok(());
            };
            let Some(letter) = str_of(term)
                .strip_suffix(behind)
                .map(|rest| rest.chars().next_back())
            else {
                return Ok(());
            };
            if let Some(letter) = letter {
                let mut bytes = [0; 4];
                let other: &str = letter.encode_utf8(&mut bytes);
                if at >= 2 && other != self.part(at - 1, at) {
                    self.check(
                        (range, End::Finish),
                        &[self.part(0, at - 1), other, behind],
                        found,
                    )?;
                }
                self.check(
                    (range, End::Finish),
                    &[self.part(0, at), other, self.part(at, all)],
                    found,
                )?;
            }
            // Behind every term that ends like this one: its end, with the least that is greater before it.
            let taken = letter.map_or(0, char::len_utf8);
            let mut end = term[term.len() - behind.len() - taken..].to_vec();
            if taken == 0 {
                end.insert(0, 0);
                key = end;
                continue;
            }
            // Bytes are compared from the last one on, so that the first weighs least; none of UTF-8 is the greatest.
            end[0] += 1;
            key = end;
        }
    }

    /// Adds the term of these parts if the dictionary has it.
    fn check(
        &self,
        (range, end): (D::Range, End),
        parts: &[&str],
        found: &mut Vec<Box<str>>,
    ) -> Result<()> {
        let candidate = parts.concat();
        if candidate == self.term {
            return Ok(());
        }
        let first = self
            .dictionary
            .first_from(range, end, candidate.as_bytes())?;
        if first == Some(candidate.as_bytes()) {
            found.push(candidate.into());
        }
        Ok(())
    }
}

fn str_of(term: &[u8]) -> &str {
    // Terms of a damaged dictionary need not be text.
    std::str::from_utf8(term).unwrap_or("")
}

fn next_letter(letter: char) -> Option<char> {
    ((letter as u32 + 1)..=u32::from(char::MAX)).find_map(char::from_u32)
}
