//! The term index of the journal's events: in memory, append-only.
//!
//! Each term has a chain of postings, newest first. One thread adds events in the order of their ids; any number of
//! readers read without locks, each up to its own bound.
//!
//! Promises: the postings and lengths of every event below `end()` are visible; adding an event costs in proportion to
//! its text.
//! Not here: when events are added (`View::terms`).

use amem_locks::LockResultExt;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::skiplist::SkipList;
use crate::analyzer::{Analyzer, TermCounts, TermEnd};
use crate::append::{AppendVec, AtomicIndex, NONE, Trie};
use crate::base::terms::{COUNT_MAX, LengthQuarter};
use crate::sync::{AtomicU32, Mutex, Ordering};

/// The term index of the events from `first` on.
#[derive(Debug)]
pub struct DeltaTerms {
    first: u32,
    /// From the hash of a term to its index in `terms`.
    places: Trie<u64>,
    terms: AppendVec<Term>,
    /// The indexes of the terms, by their starts and by their ends.
    by_start: SkipList<u32>,
    by_finish: SkipList<u32>,
    postings: AppendVec<Posting>,
    lengths: AppendVec<Length>,
    /// The lengths of all texts up to the last covered one; only adding locks it.
    quarter: Mutex<LengthQuarter>,
    /// The length that a quarter of the base's texts do not exceed.
    base_quarter: u32,
    /// The number of covered events; stored last.
    covered: AtomicU32,
}

#[derive(Debug)]
struct Term {
    term: Box<str>,
    newest: AtomicIndex,
    /// The first event that has it.
    first: u32,
}

#[derive(Debug)]
struct Posting {
    id: u32,
    tf: u32,
    older: u32,
}

#[derive(Debug)]
struct Length {
    length: u32,
    /// The sum of the lengths before.
    before: u64,
    /// The length that a quarter of all texts up to this one do not exceed, those of the base included.
    quarter: u32,
}

/// The dictionary of the events below a bound.
#[derive(Debug, Clone, Copy)]
pub struct TermsBelow<'a> {
    terms: &'a DeltaTerms,
    bound: u32,
}

impl TermsBelow<'_> {
    /// The terms in the order of an end, from `key` on.
    pub(crate) fn terms_from<'s>(
        &'s self,
        end: TermEnd,
        key: &'s [u8],
    ) -> impl Iterator<Item = &'s [u8]> {
        let places = self.terms.places_from(end, key);
        let terms = places.filter_map(|place| self.terms.terms.get(place));
        let seen = terms.filter(|term| term.first < self.bound);
        seen.map(|term| term.term.as_bytes())
    }

    /// The terms with `part` at an end, in the order of that end.
    pub(crate) fn terms_with<'s>(
        &'s self,
        end: TermEnd,
        part: &'s [u8],
    ) -> impl Iterator<Item = &'s [u8]> {
        let places = self.terms.places_from(end, part);
        let terms = places.filter_map(|place| self.terms.terms.get(place));
        let terms = terms.take_while(move |term| end.has(term.term.as_bytes(), part));
        let seen = terms.filter(|term| term.first < self.bound);
        seen.map(|term| term.term.as_bytes())
    }
}

impl DeltaTerms {
    /// An empty index behind a base that covers the events below `first`, with these lengths.
    pub fn new(first: u32, base: LengthQuarter) -> Self {
        Self {
            base_quarter: base.length(),
            quarter: Mutex::new(base),
            first,
            places: Trie::new(),
            terms: AppendVec::new(),
            by_start: SkipList::default(),
            by_finish: SkipList::default(),
            postings: AppendVec::new(),
            lengths: AppendVec::new(),
            covered: AtomicU32::new(0),
        }
    }

    /// The first event of the index.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The id after the last covered event: the next to add.
    pub fn end(&self) -> u32 {
        self.first + self.covered.load(Ordering::Acquire)
    }

    /// Adds the text of event `end()`, which may be empty. Callers hold the writer's lock.
    ///
    /// # Panics
    /// If `id` is not `end()`.
    pub fn add(&self, id: u32, text: &str, analyzer: &Analyzer, counts: &mut TermCounts) {
        assert_eq!(id, self.end(), "events are added in the order of their ids");
        let length = counts.count(analyzer, text).min(COUNT_MAX);
        for (term, tf) in counts.iter() {
            let (place, key) = self.place(term);
            let tf = tf.min(COUNT_MAX);
            match place.and_then(|place| self.terms.get(place)) {
                Some(known) => {
                    let older = known.newest.get();
                    known
                        .newest
                        .set(self.postings.push(Posting { id, tf, older }));
                }
                None => {
                    let older = NONE;
                    let newest = AtomicIndex::to(self.postings.push(Posting { id, tf, older }));
                    let place = self.terms.push(Term {
                        term: term.into(),
                        newest,
                        first: id,
                    });
                    self.places.insert(key, place);
                    for end in [TermEnd::Start, TermEnd::Finish] {
                        let is_before = self.is_before(end, term.as_bytes());
                        self.ordered(end).insert_after(place, is_before);
                    }
                }
            }
        }
        let before = self.total_length_below(id);
        let quarter = {
            let mut lengths = self.quarter.lock().unpoisoned();
            lengths.add(length);
            lengths.length()
        };
        self.lengths.push(Length {
            length,
            before,
            quarter,
        });
        self.covered.store(id + 1 - self.first, Ordering::Release);
    }

    fn ordered(&self, end: TermEnd) -> &SkipList<u32> {
        match end {
            TermEnd::Start => &self.by_start,
            TermEnd::Finish => &self.by_finish,
        }
    }

    fn is_before<'s>(&'s self, end: TermEnd, key: &'s [u8]) -> impl Fn(&u32) -> bool + 's {
        move |&place| {
            let known = self.terms.get(place);
            known.is_some_and(|known| end.cmp(known.term.as_bytes(), key).is_lt())
        }
    }

    /// The terms in the order of an end, from `key` on. Those of events after a reader's bound are among them.
    pub(crate) fn terms_from<'s>(
        &'s self,
        end: TermEnd,
        key: &'s [u8],
    ) -> impl Iterator<Item = &'s [u8]> {
        let places = self.places_from(end, key);
        places.filter_map(|place| Some(self.terms.get(place)?.term.as_bytes()))
    }

    fn places_from<'s>(&'s self, end: TermEnd, key: &'s [u8]) -> impl Iterator<Item = u32> + 's {
        self.ordered(end).range_after(self.is_before(end, key))
    }

    /// The dictionary as a reader up to `bound` sees it: without terms that only later events have.
    pub fn below(&self, bound: u32) -> TermsBelow<'_> {
        TermsBelow { terms: self, bound }
    }

    /// The index of a term, or the free key for it.
    fn place(&self, term: &str) -> (Option<u32>, u64) {
        let mut seed = 0;
        loop {
            let key = xxh3_64_with_seed(term.as_bytes(), seed);
            let Some(place) = self.places.get(key) else {
                return (None, key);
            };
            if self.terms.get(place).is_some_and(|t| *t.term == *term) {
                return (Some(place), key);
            }
            // Another term has this hash.
            seed += 1;
        }
    }

    /// The events below `bound` that contain a term, newest first, each with its term frequency.
    pub fn postings<'a>(
        &'a self,
        term: &str,
        bound: u32,
    ) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let known = self.place(term).0.and_then(|place| self.terms.get(place));
        let mut at = known.map_or(NONE, |term| term.newest.get());
        std::iter::from_fn(move || {
            loop {
                let posting = self.postings.get(at)?;
                at = posting.older;
                if posting.id < bound {
                    return Some((posting.id, posting.tf));
                }
            }
        })
    }

    /// The terms in an event's text, at most 65,535; 0 for events it does not cover.
    #[inline]
    pub fn length_of(&self, id: u32) -> u32 {
        let length = id.checked_sub(self.first).and_then(|i| self.lengths.get(i));
        length.map_or(0, |l| l.length)
    }

    /// The sum of the lengths of the events from `first` up to `bound`.
    pub fn total_length_below(&self, bound: u32) -> u64 {
        let count = bound.saturating_sub(self.first).min(self.lengths.len());
        let last = count.checked_sub(1).and_then(|i| self.lengths.get(i));
        last.map_or(0, |l| l.before + u64::from(l.length))
    }

    /// The length that a quarter of the texts below `bound` do not exceed, those of the base included; `None` if
    /// `bound` is within the base.
    pub fn quarter_below(&self, bound: u32) -> Option<u32> {
        let count = bound.checked_sub(self.first)?.min(self.lengths.len());
        let last = count.checked_sub(1).and_then(|i| self.lengths.get(i));
        Some(last.map_or(self.base_quarter, |last| last.quarter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(first: u32, texts: &[&str]) -> DeltaTerms {
        let delta = DeltaTerms::new(first, LengthQuarter::default());
        let (analyzer, mut counts) = (Analyzer::new(), TermCounts::new());
        for (id, text) in (first..).zip(texts) {
            delta.add(id, text, &analyzer, &mut counts);
        }
        delta
    }

    fn list(delta: &DeltaTerms, term: &str, bound: u32) -> Vec<(u32, u32)> {
        delta.postings(term, bound).collect()
    }

    #[test]
    fn postings_are_newest_first_and_end_at_the_bound() {
        let delta = filled(7, &["dog dog cat", "", "cat", "dog"]);
        assert_eq!((delta.first(), delta.end()), (7, 11));
        assert_eq!(list(&delta, "dog", 100), [(10, 1), (7, 2)]);
        assert_eq!(list(&delta, "dog", 10), [(7, 2)]);
        assert_eq!(list(&delta, "dog", 7), []);
        assert_eq!(list(&delta, "cat", 11), [(9, 1), (7, 1)]);
        assert_eq!(list(&delta, "cow", 11), []);
    }

    #[test]
    fn lengths_and_their_sums_are_kept() {
        let delta = filled(7, &["dog dog cat", "", "cat"]);
        let lengths: Vec<_> = (5..12).map(|id| delta.length_of(id)).collect();
        assert_eq!(lengths, [0, 0, 3, 0, 1, 0, 0]);
        let totals: Vec<_> = (5..12).map(|id| delta.total_length_below(id)).collect();
        assert_eq!(totals, [0, 0, 0, 3, 3, 4, 4]);
        assert_eq!(
            DeltaTerms::new(3, LengthQuarter::default()).total_length_below(9),
            0
        );
    }

    #[test]
    #[should_panic(expected = "in the order of their ids")]
    fn an_event_cannot_be_skipped() {
        let delta = filled(7, &["dog"]);
        delta.add(9, "cat", &Analyzer::new(), &mut TermCounts::new());
    }

    #[test]
    fn readers_see_whole_events_while_one_adds() {
        let delta = DeltaTerms::new(0, LengthQuarter::default());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let end = delta.end();
                        let common = delta.postings("common", end);
                        assert!(common.map(|p| p.0).eq((0..end).rev()));
                        assert_eq!(delta.total_length_below(end), 2 * u64::from(end));
                        if end == 2000 {
                            break;
                        }
                    }
                });
            }
            let (analyzer, mut counts) = (Analyzer::new(), TermCounts::new());
            for id in 0..2000 {
                delta.add(id, &format!("common {id}"), &analyzer, &mut counts);
            }
        });
    }
}
