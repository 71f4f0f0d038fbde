//! Section 0x45, attributes: the JSON object of each event that has one.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events with attributes k |
//! | 8 | u64 × (k + 1) | where each object begins in the texts |
//! | | u32 × k | events, ascending |
//! | | | texts |

use std::borrow::Cow;
use std::ops::Range;

use super::section::{Section, range};
use crate::base::image::Body;
use crate::error::Result;
use crate::types::NodeId;

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct AttributeTexts<'a> {
    section: Section<'a>,
    starts: &'a [u64],
    ids: &'a [u32],
    texts: u64,
}

impl<'a> AttributeTexts<'a> {
    /// Checks the bounds of the arrays.
    pub fn read(section: Section<'a>) -> Result<Self> {
        let count = section.u64(0)?;
        let starts = section.array(8, count.saturating_add(1))?;
        let ids = section.array(8 + 8 * (count + 1), count)?;
        Ok(Self {
            section,
            starts,
            ids,
            texts: 8 + 8 * (count + 1) + 4 * count,
        })
    }

    /// An event's attributes as JSON.
    pub fn get(&self, id: NodeId) -> Result<Option<&'a str>> {
        let Some(at) = position(self.ids, id) else {
            return Ok(None);
        };
        let [from, to] = match range(&self.section, self.starts, at as u64, at as u64 + 2)? {
            &[from, to] => [from, to],
            _ => return Ok(None),
        };
        let len = to
            .checked_sub(from)
            .ok_or_else(|| self.section.bad(8, "offsets of texts descend"))?;
        self.section
            .str(self.texts.saturating_add(from), len)
            .map(Some)
    }

    /// The events that have attributes, ascending.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }

    /// The JSON of a range of objects.
    fn texts(&self, places: Range<usize>) -> Result<&'a [u8]> {
        let (from, to) = (self.starts[places.start], self.starts[places.end]);
        let len = to
            .checked_sub(from)
            .ok_or_else(|| self.section.bad(8, "offsets of texts descend"))?;
        self.section.slice(self.texts.saturating_add(from), len)
    }
}

/// The index of an id in an ascending list; without a search if the list has every id.
pub(crate) fn position(ids: &[u32], id: NodeId) -> Option<usize> {
    let id = u32::try_from(id.0).ok()?;
    if ids.get(id as usize) == Some(&id) {
        return Some(id as usize);
    }
    ids.binary_search(&id).ok()
}

/// Writes the section: the objects of an older base, and of events (ascending) that changed or lost theirs. Returns the
/// number of events with attributes.
pub fn write(
    body: &mut Body<'_>,
    older: Option<AttributeTexts<'_>>,
    newer: &[(u32, Option<Cow<'_, str>>)],
) -> Result<u64> {
    let old_ids = older.map_or(&[][..], |o| o.ids);
    let mut pieces = Vec::new();
    let mut from = 0;
    for (id, json) in newer {
        let to = from + old_ids[from..].partition_point(|old| old < id);
        pieces.push((from..to, json.as_ref().map(|json| (*id, json))));
        from = to + usize::from(old_ids.get(to) == Some(id));
    }
    pieces.push((from..old_ids.len(), None));
    let (mut ids, mut starts) = (Vec::new(), vec![0u64]);
    let mut end = 0;
    for (range, change) in &pieces {
        ids.extend_from_slice(&old_ids[range.clone()]);
        if let Some(older) = older {
            let first = older.starts[range.start];
            let moved = older.starts[range.start + 1..=range.end].iter();
            starts.extend(moved.map(|at| at.wrapping_sub(first).wrapping_add(end)));
            end = starts[starts.len() - 1];
        }
        if let Some((id, json)) = change {
            ids.push(*id);
            end += json.len() as u64;
            starts.push(end);
        }
    }
    body.u64(ids.len() as u64)?;
    body.array(&starts)?;
    body.array(&ids)?;
    for (range, change) in &pieces {
        if let Some(older) = older {
            body.bytes(older.texts(range.clone())?)?;
        }
        if let Some((_, json)) = change {
            body.bytes(json.as_bytes())?;
        }
    }
    Ok(ids.len() as u64)
}
