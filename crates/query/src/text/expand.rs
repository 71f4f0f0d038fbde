//! The group of terms that one term of a question means: itself, its other spellings, and what the dictionaries have
//! that is likely the same word.
//!
//! | added | to a term | weight |
//! |---|---|---|
//! | forms: the same first letters, and about as long | of four letters and more, in no English question | `FORM` |
//! | compounds: the term is their start or end, or they are its start or end | likewise | `COMPOUND` |
//! | hashes that it begins | of seven and more hexadecimal digits | `HASH` |
//! | typos: one edit away, the three commonest | of four letters and more that no text has | `TYPO` |
//!
//! Promises: a group has terms of the texts below the bound alone, of the scope if there is one; a dictionary is
//! searched, never read through: where more than `ADDED_MAX` of its terms begin or end alike, the first are compared.
//! Not here: the score of a group (`list`).

use amem_format::analyzer::{Analyzer, Scratch, UNIT, is_aside};
use amem_format::dictionary::{Dictionary, TermEnd};
use amem_format::error::Result;

use super::languages::Language;
use super::list::Occurrences;
use super::terms::{Member, QueryTerm};
use super::typos;

/// Terms that are read of a dictionary for one kind of addition.
pub(super) const ADDED_MAX: usize = 256;

const FORM: f32 = 0.7;
/// Of a question without stop words, which may be English.
pub(super) const OPEN_FORM: f32 = 0.5;
pub(super) const COMPOUND: f32 = 0.5;
const HASH: f32 = 0.9;
pub(super) const TYPO: f32 = 0.8;

/// Letters of a term that has forms, and of a question that may be English.
const FORM_LETTERS_MIN: usize = 4;
const OPEN_LETTERS_MIN: usize = 5;
/// Letters that forms share, at most and at least: all but the last of a short term.
const SHARED_LETTERS_MAX: usize = 5;
const SHARED_LETTERS_MIN: usize = 4;
/// Letters by which a form is longer or shorter.
const FORM_DISTANCE_MAX: usize = 5;
/// Letters of a part of a compound, and those that the compound has beside it.
const PART_LETTERS_MIN: usize = 4;
const COMPOUND_LETTERS_MIN: usize = 6;
const REST_LETTERS_MIN: usize = 3;
/// What German and its neighbours put between the parts of a compound.
const LINKS: [&str; 6] = ["", "s", "es", "n", "en", "e"];
/// Digits of a hash that is cut short, and of a whole one.
const HASH_START_MIN: usize = 7;
const HASH_DIGITS_MIN: usize = 16;
/// Letters of a term that may be a typo.
const TYPO_LETTERS_MIN: usize = 4;
const TYPOS_MAX: usize = 3;

/// A term and what is searched with it.
pub(super) struct ExpandedTerm {
    pub(super) members: Vec<Member>,
    /// No text has the term or a form of it: other words are searched, in case it has a typo.
    pub(super) is_guess: bool,
}

impl ExpandedTerm {
    /// The term alone.
    pub(super) fn exact(term: &QueryTerm) -> Self {
        Self {
            members: vec![(term.term.clone(), 1.0)],
            is_guess: false,
        }
    }
}

/// The group of a term.
pub(super) fn group(
    texts: &Occurrences<'_, '_>,
    term: &QueryTerm,
    language: Language,
) -> Result<ExpandedTerm> {
    let exact = std::iter::once(&term.term).chain(&term.spellings);
    let mut group = GroupBuilder {
        texts,
        members: exact.map(|term| (term.clone(), 1.0)).collect(),
    };
    let mut is_known = false;
    for (term, _) in &group.members {
        is_known |= texts.has(term)?;
    }
    group.add_forms(&term.term, language)?;
    group.add_hashes(&term.term)?;
    let exact = 1 + term.spellings.len();
    let is_guess = !is_known && group.members.len() == exact;
    if !is_known {
        group.add_typos(&term.term)?;
    }
    Ok(ExpandedTerm {
        members: group.members,
        is_guess,
    })
}

/// A term of a dictionary.
struct FoundTerm {
    term: Box<str>,
    /// True if a text is known to have it.
    is_used: bool,
}

impl FoundTerm {
    fn used(term: &str) -> Self {
        Self {
            term: term.into(),
            is_used: true,
        }
    }
}

struct GroupBuilder<'g> {
    texts: &'g Occurrences<'g, 'g>,
    members: Vec<Member>,
}

impl GroupBuilder<'_> {
    /// Adds a term unless the group has it or no text does.
    fn add(&mut self, FoundTerm { term, is_used }: FoundTerm, weight: f32) -> Result<()> {
        let is_new = self.members.iter().all(|(known, _)| *known != term);
        if is_new && (is_used || self.texts.has(&term)?) {
            self.members.push((term, weight));
        }
        Ok(())
    }

    /// Inflected forms and compounds.
    fn add_forms(&mut self, term: &str, language: Language) -> Result<()> {
        let letters = term.chars().count();
        let is_word = term.chars().all(char::is_alphabetic) && !is_aside(term);
        let (letters_min, weight) = match language {
            Language::English => return Ok(()),
            Language::Open => (OPEN_LETTERS_MIN, OPEN_FORM),
            Language::Listed(_) | Language::Other => (FORM_LETTERS_MIN, FORM),
        };
        if !is_word || letters < letters_min {
            return Ok(());
        }
        let shared = (letters - 1).clamp(SHARED_LETTERS_MIN, SHARED_LETTERS_MAX);
        for form in self.with(TermEnd::Start, first_letters(term, shared))? {
            if form.term.chars().count().abs_diff(letters) <= FORM_DISTANCE_MAX {
                self.add(form, weight)?;
            } else if form.term.starts_with(term) {
                self.add(form, COMPOUND)?;
            }
        }
        if letters >= COMPOUND_LETTERS_MIN {
            let ending = ending_of(term);
            for compound in self.with(TermEnd::Finish, &ending)? {
                if compound.term.chars().count() >= ending.chars().count() + REST_LETTERS_MIN {
                    self.add(compound, COMPOUND)?;
                }
            }
            self.add_parts(term)?;
        }
        Ok(())
    }

    /// The longest known start of a compound, and its longest known end.
    fn add_parts(&mut self, term: &str) -> Result<()> {
        let starts: Vec<usize> = term.char_indices().map(|(at, _)| at).collect();
        let Some(last) = starts.len().checked_sub(PART_LETTERS_MIN) else {
            return Ok(());
        };
        let joints = || starts[..=last].iter().skip(PART_LETTERS_MIN);
        for &at in joints().rev() {
            let start = &term[..at];
            let unlinked = LINKS.iter().filter_map(|link| start.strip_suffix(link));
            for part in unlinked.filter(|part| part.chars().count() >= PART_LETTERS_MIN) {
                if self.texts.has(part)? {
                    return self
                        .add(FoundTerm::used(part), COMPOUND)
                        .and_then(|()| self.add_end(term, joints()));
                }
            }
        }
        self.add_end(term, joints())
    }

    fn add_end<'j>(&mut self, term: &str, joints: impl Iterator<Item = &'j usize>) -> Result<()> {
        for &at in joints {
            if self.texts.has(&term[at..])? {
                return self.add(FoundTerm::used(&term[at..]), COMPOUND);
            }
        }
        Ok(())
    }

    fn add_hashes(&mut self, term: &str) -> Result<()> {
        let is_hash = |term: &str| {
            term.bytes().all(|b| b.is_ascii_hexdigit()) && term.bytes().any(|b| b.is_ascii_digit())
        };
        if term.len() < HASH_START_MIN || !is_hash(term) {
            return Ok(());
        }
        for start in [term, &format!("{UNIT}{term}")] {
            for hash in self.with(TermEnd::Start, start)? {
                let digits = hash.term.trim_start_matches(UNIT);
                if hash.term.len() >= HASH_DIGITS_MIN && is_hash(digits) {
                    self.add(hash, HASH)?;
                }
            }
        }
        Ok(())
    }

    fn add_typos(&mut self, term: &str) -> Result<()> {
        let is_word = term.chars().all(char::is_alphabetic) && !is_aside(term);
        if !is_word || term.chars().count() < TYPO_LETTERS_MIN {
            return Ok(());
        }
        let mut found = Vec::new();
        if let Some(base) = self.texts.base() {
            typos::collect(&base, term, &mut found)?;
        }
        if let Some(delta) = self.texts.delta() {
            typos::collect(delta, term, &mut found)?;
        }
        found.sort_unstable();
        found.dedup();
        let mut counted = Vec::with_capacity(found.len());
        for term in found {
            counted.push((self.texts.count(&term)?, term));
        }
        counted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (count, term) in counted.into_iter().take(TYPOS_MAX) {
            let is_used = count > 0;
            self.add(FoundTerm { term, is_used }, TYPO)?;
        }
        Ok(())
    }

    /// The terms of both dictionaries with `part` at an end.
    fn with(&self, end: TermEnd, part: &str) -> Result<Vec<FoundTerm>> {
        let mut found = Vec::new();
        if let Some(base) = self.texts.base() {
            collect(&base, end, part, self.texts.has_all_of_base(), &mut found)?;
        }
        if let Some(delta) = self.texts.delta() {
            // What comes later takes no room: the answer about a moment stays the same.
            let seen = delta.below(self.texts.bound());
            collect(&seen, end, part, false, &mut found)?;
        }
        Ok(found)
    }
}

fn collect<D: Dictionary>(
    dictionary: &D,
    end: TermEnd,
    part: &str,
    is_used: bool,
    found: &mut Vec<FoundTerm>,
) -> Result<()> {
    let mut room = ADDED_MAX;
    // A dictionary has no term twice.
    let before = found.len();
    dictionary.for_each(dictionary.all(), end, part.as_bytes(), &mut |term| {
        room -= 1;
        if let Ok(term) = std::str::from_utf8(term)
            && !found[..before].iter().any(|known| *known.term == *term)
        {
            let term = term.into();
            found.push(FoundTerm { term, is_used });
        }
        room > 0
    })
}

/// A term as the end of a longer word: English endings are cut of long words that are kept of short ones ("Zimmer",
/// "Kinderzimm").
fn ending_of(term: &str) -> String {
    const START: &str = "kakaka";
    if !term.bytes().all(|b| b.is_ascii_lowercase()) {
        return term.into();
    }
    let mut ending = String::new();
    Analyzer::new().for_each_term(&format!("{START}{term}"), &mut Scratch::default(), |long| {
        ending = long.strip_prefix(START).unwrap_or(term).into();
    });
    ending
}

fn first_letters(term: &str, count: usize) -> &str {
    let end = term
        .char_indices()
        .nth(count)
        .map_or(term.len(), |(at, _)| at);
    &term[..end]
}
