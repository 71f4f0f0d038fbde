//! Lookups: a binary search among the hashes, then the list of one hash.

use std::ops::Range;

use super::{EventList, VALUES_VERSION};
use crate::base::section::{Section, range};
use crate::error::Result;

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct ValueIndex<'a> {
    section: Section<'a>,
    hashes: &'a [u64],
    starts: &'a [u64],
    unlisted: &'a [u32],
    /// Where the lists begin in the section.
    lists: u64,
}

impl<'a> ValueIndex<'a> {
    /// Checks the bounds of the arrays; `None` if another version wrote the section.
    pub fn read(section: Section<'a>) -> Result<Option<Self>> {
        if section.u32(0)? != VALUES_VERSION {
            return Ok(None);
        }
        let (unlisted, count) = (u64::from(section.u32(4)?), section.u64(8)?);
        let hashes = section.array(16, count)?;
        let starts_at = 16 + 8 * count;
        let starts = section.array(starts_at, count.saturating_add(1))?;
        let unlisted_at = starts_at + 8 * (count + 1);
        Ok(Some(Self {
            section,
            hashes,
            starts,
            unlisted: section.array(unlisted_at, unlisted)?,
            lists: unlisted_at + 4 * unlisted,
        }))
    }

    /// The hashes of path and value, ascending.
    pub fn hashes(&self) -> &'a [u64] {
        self.hashes
    }

    /// Events with too many values for the lists, ascending.
    pub fn unlisted(&self) -> &'a [u32] {
        self.unlisted
    }

    /// The list of a hash; `None` if there is none.
    pub fn find(&self, hash: u64) -> Result<Option<EventList<'a>>> {
        match self.hashes.binary_search(&hash) {
            Ok(at) => self.list(at).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The number of events with a hash.
    pub fn count(&self, hash: u64) -> Result<u64> {
        let Ok(at) = self.hashes.binary_search(&hash) else {
            return Ok(0);
        };
        let count = EventList::count_of(self.bytes(at..at + 1)?);
        count.map(u64::from).map_err(|why| self.section.bad(0, why))
    }

    /// The list at an index below `hashes().len()`.
    pub fn list(&self, at: usize) -> Result<EventList<'a>> {
        EventList::read(self.bytes(at..at + 1)?).map_err(|why| self.section.bad(0, why))
    }

    /// Replaces the contents of `out` with the events of a block.
    pub fn decode(&self, list: &EventList<'_>, block: u32, out: &mut Vec<u32>) -> Result<()> {
        let decoded = list.decode(block, out);
        decoded.map_err(|why| self.section.bad(0, why))
    }

    /// Appends all events of a list.
    pub fn append_all(&self, list: &EventList<'_>, out: &mut Vec<u32>) -> Result<()> {
        list.append_all(out).map_err(|why| self.section.bad(0, why))
    }

    /// Where each list of a range begins, then the end of the last; relative to the lists.
    pub(super) fn starts(&self, places: Range<usize>) -> Result<&'a [u64]> {
        range(
            &self.section,
            self.starts,
            places.start as u64,
            places.end as u64 + 1,
        )
    }

    /// The bytes of a range of lists.
    pub(super) fn bytes(&self, places: Range<usize>) -> Result<&'a [u8]> {
        let starts = self.starts(places)?;
        let (from, to) = (starts[0], starts[starts.len() - 1]);
        let len = to
            .checked_sub(from)
            .ok_or_else(|| self.section.bad(16, "offsets of lists descend"))?;
        self.section.slice(self.lists.saturating_add(from), len)
    }

    /// True if the lists end exactly where the section does.
    pub fn ends_with_its_lists(&self) -> bool {
        let end = self
            .starts
            .last()
            .and_then(|end| end.checked_add(self.lists));
        end == Some(self.section.bytes.len() as u64)
    }
}
