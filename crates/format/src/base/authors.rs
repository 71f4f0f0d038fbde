//! Section 0x58, authors: which actor recorded each event.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u64 | actors a |
//! | 16 | u32 × n | the actor of each event; 0 if unknown |
//! | | u32 × (a + 2) | where each actor's events begin, from actor 0 on |
//! | | u32 × n | events, by actor, then id |

use super::kinds::group;
use super::section::{Section, range};
use crate::base::image::Body;
use crate::error::Result;
use crate::types::{ActorId, NodeId};

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Authors<'a> {
    section: Section<'a>,
    actors: &'a [u32],
    starts: &'a [u32],
    members: &'a [u32],
}

impl<'a> Authors<'a> {
    /// Checks the counts and the bounds of the arrays.
    pub fn read(section: Section<'a>, nodes: u64) -> Result<Self> {
        if section.u64(0)? != nodes {
            return Err(section.bad(0, format!("it must cover the base's {nodes} events")));
        }
        let groups = section
            .u64(8)?
            .checked_add(2)
            .ok_or_else(|| section.bad(8, "the count overflows"))?;
        let actors = section.array(16, nodes)?;
        let starts: &[u32] = section.array(16 + nodes * 4, groups)?;
        Ok(Self {
            section,
            actors,
            starts,
            members: section.array(16 + nodes * 4 + groups * 4, nodes)?,
        })
    }

    /// The actor of an event; 0 if it is unknown.
    #[inline]
    pub fn of(&self, id: NodeId) -> ActorId {
        ActorId(self.actors.get(id.0 as usize).copied().unwrap_or_default())
    }

    /// The events of an actor, ascending.
    pub fn members(&self, actor: ActorId) -> Result<&'a [u32]> {
        let at = actor.0 as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&from), Some(&to)) => range(&self.section, self.members, from.into(), to.into()),
            _ => Ok(&[]),
        }
    }
}

/// Writes the section from each event's actor; `count` is the number of actors.
pub fn write(body: &mut Body<'_>, count: u64, actors: &[u32]) -> Result<()> {
    // Of a damaged base, an actor may be past the last: it counts as unknown.
    let known = |&actor: &u32| if u64::from(actor) <= count { actor } else { 0 };
    let actors: Vec<u32> = actors.iter().map(known).collect();
    let groups = count as usize + 1;
    let grouped = group(groups, actors.iter().map(|&actor| actor as usize));
    body.u64(actors.len() as u64)?;
    body.u64(count)?;
    body.array(&actors)?;
    body.array(&grouped.starts)?;
    body.array(&grouped.members)
}
