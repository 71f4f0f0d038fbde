//! The section as it is read: a search among the hashes, and the list of one.

use std::ops::Range;

use super::{EventList, VALUES_VERSION};
use crate::base::section::{Section, range};
use crate::error::Result;

/// The section, in place.
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
    /// Reads the section's front; `None` if another version made it.
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

    /// What the lists are of, ascending.
    pub fn hashes(&self) -> &'a [u64] {
        self.hashes
    }

    /// The events that no list tells of, ascending.
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

    /// The number of events in the list of a hash.
    pub fn count(&self, hash: u64) -> Result<u64> {
        let Ok(at) = self.hashes.binary_search(&hash) else {
            return Ok(0);
        };
        let count = EventList::count_of(self.bytes(at..at + 1)?);
        count.map(u64::from).map_err(|why| self.section.bad(0, why))
    }

    /// The list at a place among all, below `hashes().len()`.
    pub fn list(&self, at: usize) -> Result<EventList<'a>> {
        EventList::read(self.bytes(at..at + 1)?).map_err(|why| self.section.bad(0, why))
    }

    /// The events of a block of a list, in place of what `out` held.
    pub fn decode(&self, list: &EventList<'_>, block: u32, out: &mut Vec<u32>) -> Result<()> {
        let decoded = list.decode(block, out);
        decoded.map_err(|why| self.section.bad(0, why))
    }

    /// Appends all events of a list.
    pub fn append_all(&self, list: &EventList<'_>, out: &mut Vec<u32>) -> Result<()> {
        list.append_all(out).map_err(|why| self.section.bad(0, why))
    }

    /// Where lists begin, from the start of the lists on, and where the last of them ends.
    pub(super) fn starts(&self, places: Range<usize>) -> Result<&'a [u64]> {
        range(
            &self.section,
            self.starts,
            places.start as u64,
            places.end as u64 + 1,
        )
    }

    /// The bytes of the lists at these places, one after the other.
    pub(super) fn bytes(&self, places: Range<usize>) -> Result<&'a [u8]> {
        let starts = self.starts(places)?;
        let (from, to) = (starts[0], starts[starts.len() - 1]);
        let len = to
            .checked_sub(from)
            .ok_or_else(|| self.section.bad(16, "lists that run backwards"))?;
        self.section.slice(self.lists.saturating_add(from), len)
    }

    /// True if the lists end where the section does.
    pub fn ends_with_its_lists(&self) -> bool {
        let end = self
            .starts
            .last()
            .and_then(|end| end.checked_add(self.lists));
        end == Some(self.section.bytes.len() as u64)
    }
}
