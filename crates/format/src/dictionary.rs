//! Dictionaries of terms, searched by the start and by the end of a term.
//!
//! Both indexes have one: the base's is sorted (`base::terms`), the delta's is a pair of ordered sets. Searches narrow
//! a *range*: what they have found of a term's start or end stays known for its longer ones.
//!
//! Promises: a search reads a few terms, however many there are.
//! Not here: which terms a question means (`amem_query::text`).

pub use crate::analyzer::TermEnd;
use crate::base::terms::Terms;
use crate::delta::{DeltaTerms, TermsBelow};
use crate::error::Result;

/// Terms in two orders.
pub trait Dictionary {
    /// The places of terms that are next to each other in an order.
    type Range: Copy;

    /// All terms.
    fn all(&self) -> Self::Range;

    /// The number of terms in a range; `None` if counting would mean reading them.
    fn count(&self, range: Self::Range) -> Option<u32>;

    /// Of a range, the places of the terms with `part` at an end; `None` if there are none.
    fn narrowed(
        &self,
        range: Self::Range,
        end: TermEnd,
        part: &[u8],
    ) -> Result<Option<Self::Range>>;

    /// Of a range, the first term in the order of an end that does not come before `key`.
    fn first_from<'s>(
        &'s self,
        range: Self::Range,
        end: TermEnd,
        key: &'s [u8],
    ) -> Result<Option<&'s [u8]>>;

    /// Calls `f` with the terms with `part` at an end until it returns false.
    fn for_each(
        &self,
        range: Self::Range,
        end: TermEnd,
        part: &[u8],
        f: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<()>;
}

impl Dictionary for Terms<'_> {
    type Range = (u32, u32);

    fn all(&self) -> Self::Range {
        (0, self.len())
    }

    fn count(&self, (from, to): Self::Range) -> Option<u32> {
        Some(to - from)
    }

    fn narrowed(
        &self,
        range: Self::Range,
        end: TermEnd,
        part: &[u8],
    ) -> Result<Option<Self::Range>> {
        let from = self.place(range, end, |term| end.cmp(term, part).is_lt())?;
        let is_before = |term: &[u8]| end.has(term, part);
        let to = self.place((from, range.1), end, is_before)?;
        Ok((from < to).then_some((from, to)))
    }

    fn first_from<'s>(
        &'s self,
        range: Self::Range,
        end: TermEnd,
        key: &'s [u8],
    ) -> Result<Option<&'s [u8]>> {
        let place = self.place(range, end, |term| end.cmp(term, key).is_lt())?;
        (place < range.1).then(|| self.at(end, place)).transpose()
    }

    fn for_each(
        &self,
        range: Self::Range,
        end: TermEnd,
        part: &[u8],
        f: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        let from = self.place(range, end, |term| end.cmp(term, part).is_lt())?;
        for place in from..range.1 {
            let term = self.at(end, place)?;
            if !end.has(term, part) || !f(term) {
                break;
            }
        }
        Ok(())
    }
}

impl<'a> Terms<'a> {
    fn at(&self, end: TermEnd, place: u32) -> Result<&'a [u8]> {
        match end {
            TermEnd::Start => self.term(place),
            TermEnd::Finish => self.term(self.by_ending(place)?),
        }
    }

    /// The first place of a range whose term is not before what is searched.
    fn place(
        &self,
        (mut from, mut to): (u32, u32),
        end: TermEnd,
        is_before: impl Fn(&[u8]) -> bool,
    ) -> Result<u32> {
        while from < to {
            let middle = from + (to - from) / 2;
            if is_before(self.at(end, middle)?) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }
}

impl Dictionary for DeltaTerms {
    type Range = ();

    fn all(&self) -> Self::Range {}

    fn count(&self, (): ()) -> Option<u32> {
        None
    }

    fn narrowed(&self, (): (), end: TermEnd, part: &[u8]) -> Result<Option<()>> {
        let first = self.first_from((), end, part)?;
        Ok(first.filter(|term| end.has(term, part)).map(|_| ()))
    }

    fn first_from<'s>(&'s self, (): (), end: TermEnd, key: &'s [u8]) -> Result<Option<&'s [u8]>> {
        Ok(self.terms_from(end, key).next())
    }

    fn for_each(
        &self,
        (): (),
        end: TermEnd,
        part: &[u8],
        f: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        for term in self.terms_from(end, part) {
            if !end.has(term, part) || !f(term) {
                break;
            }
        }
        Ok(())
    }
}

/// Later events add no term to what a reader sees, and take no room from it.
impl Dictionary for TermsBelow<'_> {
    type Range = ();

    fn all(&self) -> Self::Range {}

    fn count(&self, (): ()) -> Option<u32> {
        None
    }

    fn narrowed(&self, (): (), end: TermEnd, part: &[u8]) -> Result<Option<()>> {
        Ok(self.terms_with(end, part).next().map(|_| ()))
    }

    fn first_from<'s>(&'s self, (): (), end: TermEnd, key: &'s [u8]) -> Result<Option<&'s [u8]>> {
        Ok(self.terms_from(end, key).next())
    }

    fn for_each(
        &self,
        (): (),
        end: TermEnd,
        part: &[u8],
        f: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<()> {
        // Stops when `f` has enough.
        let _ended = self.terms_with(end, part).all(f);
        Ok(())
    }
}
