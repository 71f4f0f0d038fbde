//! The dictionary of a base's terms: a binary search in either order.

use super::Terms;
use crate::dictionary::{Dictionary, End};
use crate::error::Result;

impl Dictionary for Terms<'_> {
    type Range = (u32, u32);

    fn all(&self) -> Self::Range {
        (0, self.len())
    }

    fn count(&self, (from, to): Self::Range) -> Option<u32> {
        Some(to - from)
    }

    fn narrowed(&self, range: Self::Range, end: End, part: &[u8]) -> Result<Option<Self::Range>> {
        let from = self.place(range, end, |term| end.cmp(term, part).is_lt())?;
        let is_before = |term: &[u8]| end.has(term, part);
        let to = self.place((from, range.1), end, is_before)?;
        Ok((from < to).then_some((from, to)))
    }

    fn first_from<'s>(
        &'s self,
        range: Self::Range,
        end: End,
        key: &'s [u8],
    ) -> Result<Option<&'s [u8]>> {
        let place = self.place(range, end, |term| end.cmp(term, key).is_lt())?;
        (place < range.1).then(|| self.at(end, place)).transpose()
    }

    fn for_each(
        &self,
        range: Self::Range,
        end: End,
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
    fn at(&self, end: End, place: u32) -> Result<&'a [u8]> {
        match end {
            End::Start => self.term(place),
            End::Finish => self.term(self.by_ending(place)?),
        }
    }

    /// The first place of a range whose term is not before what is searched.
    fn place(
        &self,
        (mut from, mut to): (u32, u32),
        end: End,
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
