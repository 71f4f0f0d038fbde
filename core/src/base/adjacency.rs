//! Section 0x4B, adjacency: who is tied to whom, both ways, without the rest of the edge records.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u64 | edges m |
//! | 16 | u32 × (n + 1) | where each event's outgoing edges begin in the edge table |
//! | | u32 × (n + 1) | where each event's incoming edges begin in the lists below |
//! | | u32 × m | outgoing: target |
//! | | u32 × m | incoming: source, ascending within a target |
//! | | u32 × m | incoming: position in the edge table |
//! | | u8 × m | outgoing: type |
//! | | u8 × m | incoming: type |

use super::section::{Section, range};
use crate::error::Result;
use crate::fold::image::Body;
use crate::types::NodeId;

/// The section, in place.
#[derive(Debug, Clone, Copy)]
pub struct Adjacency<'a> {
    section: Section<'a>,
    out_starts: &'a [u32],
    in_starts: &'a [u32],
    out_targets: &'a [u32],
    in_sources: &'a [u32],
    in_positions: &'a [u32],
    out_types: &'a [u8],
    in_types: &'a [u8],
}

/// The edges of one event in one direction: parallel lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neighbours<'a> {
    /// The event at the other end.
    pub others: &'a [u32],
    /// The edges' types.
    pub types: &'a [u8],
    /// Positions in the edge table.
    pub positions: Positions<'a>,
}

/// Where edges stand in the edge table.
#[derive(Debug, Clone, Copy)]
pub enum Positions<'a> {
    /// From here on, one after the other.
    From(u32),
    /// One by one.
    Each(&'a [u32]),
}

impl Default for Positions<'_> {
    fn default() -> Self {
        Self::From(0)
    }
}

impl Positions<'_> {
    /// The position of the i-th edge, which the caller took from the parallel lists.
    pub fn get(&self, i: usize) -> u64 {
        match self {
            Self::From(first) => u64::from(*first) + i as u64,
            Self::Each(each) => each.get(i).map_or(u64::MAX, |&at| at.into()),
        }
    }
}

impl<'a> Adjacency<'a> {
    /// Reads the section's front.
    pub fn read(section: Section<'a>, nodes: u64, edges: u64) -> Result<Self> {
        if (section.u64(0)?, section.u64(8)?) != (nodes, edges) {
            return Err(section.bad(
                0,
                format!("it is of other than the brain's {nodes} events and {edges} edges"),
            ));
        }
        let starts = 4 * (nodes + 1);
        let lists = 16 + 2 * starts;
        Ok(Self {
            section,
            out_starts: section.array(16, nodes + 1)?,
            in_starts: section.array(16 + starts, nodes + 1)?,
            out_targets: section.array(lists, edges)?,
            in_sources: section.array(lists + 4 * edges, edges)?,
            in_positions: section.array(lists + 8 * edges, edges)?,
            out_types: section.array(lists + 12 * edges, edges)?,
            in_types: section.array(lists + 13 * edges, edges)?,
        })
    }

    /// The edges that start at an event, by target, then type.
    #[inline]
    pub fn outgoing(&self, id: NodeId) -> Result<Neighbours<'a>> {
        let Some((from, to)) = bounds(self.out_starts, id) else {
            return Ok(Neighbours::default());
        };
        Ok(Neighbours {
            others: range(&self.section, self.out_targets, from.into(), to.into())?,
            types: range(&self.section, self.out_types, from.into(), to.into())?,
            positions: Positions::From(from),
        })
    }

    /// The edges that end at an event, by source, then type.
    #[inline]
    pub fn incoming(&self, id: NodeId) -> Result<Neighbours<'a>> {
        let Some((from, to)) = bounds(self.in_starts, id) else {
            return Ok(Neighbours::default());
        };
        Ok(Neighbours {
            others: range(&self.section, self.in_sources, from.into(), to.into())?,
            types: range(&self.section, self.in_types, from.into(), to.into())?,
            positions: Positions::Each(range(
                &self.section,
                self.in_positions,
                from.into(),
                to.into(),
            )?),
        })
    }
}

fn bounds(starts: &[u32], id: NodeId) -> Option<(u32, u32)> {
    let at = usize::try_from(id.0).ok()?;
    Some((*starts.get(at)?, *starts.get(at.checked_add(1)?)?))
}

/// Gathers the lists while edges are written in their order.
#[derive(Debug, Default)]
pub struct Builder {
    out_starts: Vec<u32>,
    in_counts: Vec<u32>,
    targets: Vec<u32>,
    types: Vec<u8>,
}

impl Builder {
    /// For a brain of that many events.
    pub fn new(nodes: u64) -> Self {
        Self {
            in_counts: vec![0; nodes as usize + 1],
            ..Self::default()
        }
    }

    /// Begins the next event's edges.
    pub fn begin(&mut self) {
        self.out_starts.push(self.targets.len() as u32);
    }

    /// An edge of the event begun last.
    pub fn push(&mut self, target: u32, edge_type: u8) {
        self.targets.push(target);
        self.types.push(edge_type);
        self.in_counts[target as usize + 1] += 1;
    }

    /// Writes the section.
    pub fn write(mut self, body: &mut Body<'_>) -> Result<()> {
        let (nodes, edges) = (self.in_counts.len() - 1, self.targets.len());
        self.out_starts.push(edges as u32);
        let mut in_starts = self.in_counts;
        for i in 0..nodes {
            in_starts[i + 1] += in_starts[i];
        }
        let mut next = in_starts.clone();
        let (mut sources, mut positions) = (vec![0u32; edges], vec![0u32; edges]);
        let mut in_types = vec![0u8; edges];
        for source in 0..nodes {
            for edge in self.out_starts[source]..self.out_starts[source + 1] {
                let slot = &mut next[self.targets[edge as usize] as usize];
                sources[*slot as usize] = source as u32;
                positions[*slot as usize] = edge;
                in_types[*slot as usize] = self.types[edge as usize];
                *slot += 1;
            }
        }
        body.u64(nodes as u64)?;
        body.u64(edges as u64)?;
        body.array(&self.out_starts)?;
        body.array(&in_starts)?;
        body.array(&self.targets)?;
        body.array(&sources)?;
        body.array(&positions)?;
        body.bytes(&self.types)?;
        body.bytes(&in_types)
    }
}
