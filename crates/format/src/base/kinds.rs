//! Section 0x4C, kinds: the events of each type.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u32 × 257 | where each type's events begin |
//! | 1036 | u32 × n | events, by type, then id |

use super::section::{Section, range};
use crate::base::image::Body;
use crate::error::Result;
use crate::types::EventType;

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Kinds<'a> {
    section: Section<'a>,
    starts: &'a [u32],
    members: &'a [u32],
}

impl<'a> Kinds<'a> {
    /// Checks the counts and the bounds of the arrays.
    pub fn read(section: Section<'a>, nodes: u64) -> Result<Self> {
        if section.u64(0)? != nodes {
            return Err(section.bad(0, format!("it must cover the base's {nodes} events")));
        }
        Ok(Self {
            section,
            starts: section.array(8, 257)?,
            members: section.array(8 + 257 * 4, nodes)?,
        })
    }

    /// The events of a type, ascending.
    pub fn members(&self, event_type: EventType) -> Result<&'a [u32]> {
        let t = usize::from(event_type.0);
        range(
            &self.section,
            self.members,
            self.starts[t].into(),
            self.starts[t + 1].into(),
        )
    }
}

/// Writes the section from each event's type.
pub fn write(body: &mut Body<'_>, types: &[u8]) -> Result<()> {
    let grouped = group(256, types.iter().map(|&t| usize::from(t)));
    body.u64(types.len() as u64)?;
    body.array(&grouped.starts)?;
    body.array(&grouped.members)
}

/// Positions grouped by a key.
pub(crate) struct Groups {
    /// Where each group begins, then the end of the last.
    pub(crate) starts: Vec<u32>,
    /// Positions, by group, then ascending.
    pub(crate) members: Vec<u32>,
}

/// Groups the positions of `keys` by a counting sort.
pub(crate) fn group(groups: usize, keys: impl Iterator<Item = usize> + Clone) -> Groups {
    let mut starts = vec![0u32; groups + 1];
    let mut n = 0;
    for key in keys.clone() {
        starts[key + 1] += 1;
        n += 1;
    }
    for i in 0..groups {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut members = vec![0u32; n];
    for (position, key) in keys.enumerate() {
        members[next[key] as usize] = position as u32;
        next[key] += 1;
    }
    Groups { starts, members }
}
