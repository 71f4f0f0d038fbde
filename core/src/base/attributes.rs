//! Section 0x45, attributes: the JSON object of each event that has one.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events with attributes k |
//! | 8 | u64 × (k + 1) | where each object begins in the texts |
//! | | u32 × k | events, ascending |
//! | | | texts |

use super::section::{Section, range};
use crate::error::Result;
use crate::fold::image::Body;
use crate::types::NodeId;

/// The section, in place.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    section: Section<'a>,
    starts: &'a [u64],
    ids: &'a [u32],
    texts: u64,
}

impl<'a> Attributes<'a> {
    /// Reads the section's front.
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
            .ok_or_else(|| self.section.bad(8, "texts that run backwards"))?;
        self.section
            .str(self.texts.saturating_add(from), len)
            .map(Some)
    }

    /// The events that have attributes, ascending.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }
}

/// Where an id stands in an ascending list; at once if the list has every id.
pub(crate) fn position(ids: &[u32], id: NodeId) -> Option<usize> {
    let id = u32::try_from(id.0).ok()?;
    if ids.get(id as usize) == Some(&id) {
        return Some(id as usize);
    }
    ids.binary_search(&id).ok()
}

/// Writes the section from (event, JSON), ascending, in two passes.
pub fn write<'a, I: Iterator<Item = Result<(u32, std::borrow::Cow<'a, str>)>>>(
    body: &mut Body<'_>,
    entries: impl Fn() -> I,
) -> Result<()> {
    let (mut ids, mut starts) = (Vec::new(), vec![0u64]);
    for entry in entries() {
        let (id, json) = entry?;
        ids.push(id);
        starts.push(starts[starts.len() - 1] + json.len() as u64);
    }
    body.u64(ids.len() as u64)?;
    body.array(&starts)?;
    body.array(&ids)?;
    for entry in entries() {
        body.bytes(entry?.1.as_bytes())?;
    }
    Ok(())
}
