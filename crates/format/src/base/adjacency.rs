//! Section 0x4B, adjacency: the ends of all edges, in both directions, without the rest of the edge records.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u64 | edges m |
//! | 16 | u32 × (n + 1) | where each event's outgoing edges begin in the edge table |
//! | | u32 × (n + 1) | where each event's incoming edges begin in the lists below |
//! | | u32 × m | outgoing: target |
//! | | u32 × m | incoming: source, ascending within a target |
//! | | u8 × m | outgoing: type |
//! | | u8 × m | incoming: type |
//!
//! A reader finds an incoming edge in the edge table by a binary search among its source's outgoing edges.

use super::section::{Section, range};
use crate::base::image::Body;
use crate::error::{Error, Result};
use crate::types::NodeId;
use amem_kernels::prefetch;

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Adjacency<'a> {
    section: Section<'a>,
    out_starts: &'a [u32],
    in_starts: &'a [u32],
    out_targets: &'a [u32],
    in_sources: &'a [u32],
    out_types: &'a [u8],
    in_types: &'a [u8],
}

/// The edges of one event in one direction, as parallel arrays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neighbours<'a> {
    /// The event at the other end.
    pub others: &'a [u32],
    /// The edges' types.
    pub types: &'a [u8],
    /// For outgoing edges, the position of the first one in the edge table; the others follow it.
    pub first: Option<u32>,
}

impl<'a> Adjacency<'a> {
    /// Checks the counts and the bounds of the arrays.
    pub fn read(section: Section<'a>, nodes: u64, edges: u64) -> Result<Self> {
        if (section.u64(0)?, section.u64(8)?) != (nodes, edges) {
            return Err(section.bad(
                0,
                format!("it must cover the base's {nodes} events and {edges} edges"),
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
            out_types: section.array(lists + 8 * edges, edges)?,
            in_types: section.array(lists + 9 * edges, edges)?,
        })
    }

    /// The outgoing edges of an event, by target, then type.
    #[inline]
    pub fn outgoing(&self, id: NodeId) -> Result<Neighbours<'a>> {
        let Some((from, to)) = bounds(self.out_starts, id) else {
            return Ok(Neighbours::default());
        };
        Ok(Neighbours {
            others: range(&self.section, self.out_targets, from.into(), to.into())?,
            types: range(&self.section, self.out_types, from.into(), to.into())?,
            first: Some(from),
        })
    }

    /// The incoming edges of an event, by source, then type.
    #[inline]
    pub fn incoming(&self, id: NodeId) -> Result<Neighbours<'a>> {
        let Some((from, to)) = bounds(self.in_starts, id) else {
            return Ok(Neighbours::default());
        };
        Ok(Neighbours {
            others: range(&self.section, self.in_sources, from.into(), to.into())?,
            types: range(&self.section, self.in_types, from.into(), to.into())?,
            first: None,
        })
    }

    /// Looks up the position of an edge in the edge table.
    pub fn position(&self, source: NodeId, target: u32, edge_type: u8) -> Result<Option<u64>> {
        let list = self.outgoing(source)?;
        let Some(first) = list.first else {
            return Ok(None);
        };
        let (mut from, mut to) = (0, list.others.len());
        while from < to {
            let middle = (from + to) / 2;
            if (list.others[middle], list.types[middle]) < (target, edge_type) {
                from = middle + 1
            } else {
                to = middle
            }
        }
        let found =
            list.others.get(from) == Some(&target) && list.types.get(from) == Some(&edge_type);
        Ok(found.then(|| u64::from(first) + from as u64))
    }

    /// Where each event's outgoing edges begin, then the end of the last.
    pub(crate) fn out_starts(&self) -> &'a [u32] {
        self.out_starts
    }

    /// Targets and types of a range of the edge table.
    pub(crate) fn out_range(&self, from: u32, to: u32) -> Result<(&'a [u32], &'a [u8])> {
        let (from, to) = (from.into(), to.into());
        Ok((
            range(&self.section, self.out_targets, from, to)?,
            range(&self.section, self.out_types, from, to)?,
        ))
    }
}

impl<'a> Adjacency<'a> {
    /// Prefetches the position of an event's edges.
    #[inline]
    pub(crate) fn expect(&self, id: NodeId, outgoing: bool) {
        let starts = if outgoing {
            self.out_starts
        } else {
            self.in_starts
        };
        prefetch(starts, id.0 as usize);
    }

    /// The other ends and the types of an event's edges; `None` if the arrays are damaged. `outgoing` and `incoming`
    /// report that damage as an error.
    #[inline(always)]
    pub(crate) fn lists(&self, id: NodeId, outgoing: bool) -> Option<(&'a [u32], &'a [u8])> {
        let (starts, others, types) = if outgoing {
            (self.out_starts, self.out_targets, self.out_types)
        } else {
            (self.in_starts, self.in_sources, self.in_types)
        };
        let (from, to) = bounds(starts, id)?;
        let within = from as usize..to as usize;
        Some((others.get(within.clone())?, types.get(within)?))
    }

    /// Prefetches an event's edges.
    #[inline]
    pub(crate) fn expect_edges(&self, id: NodeId, outgoing: bool) {
        let (starts, others, types) = if outgoing {
            (self.out_starts, self.out_targets, self.out_types)
        } else {
            (self.in_starts, self.in_sources, self.in_types)
        };
        if let Some(&from) = starts.get(id.0 as usize) {
            prefetch(others, from as usize);
            prefetch(types, from as usize);
        }
    }
}

#[inline]
fn bounds(starts: &[u32], id: NodeId) -> Option<(u32, u32)> {
    let at = usize::try_from(id.0).ok()?;
    Some((*starts.get(at)?, *starts.get(at.checked_add(1)?)?))
}

/// Writes the section. `starts` has one entry more than there are events; `targets` and `types` are in the order of the
/// edge table.
pub fn write(body: &mut Body<'_>, starts: &[u32], targets: &[u32], types: &[u8]) -> Result<()> {
    let (nodes, edges) = (starts.len() - 1, targets.len());
    let mut in_starts = vec![0u32; nodes + 1];
    for &target in targets {
        // The arrays may come from a damaged older base.
        match in_starts.get_mut(target as usize + 1) {
            Some(count) => *count += 1,
            None => {
                let why = format!("an edge ends at event {target} of {nodes}");
                return Err(Error::corrupt("adjacency", 0, why));
            }
        }
    }
    for i in 0..nodes {
        in_starts[i + 1] += in_starts[i];
    }
    let mut next = in_starts.clone();
    let mut sources = vec![0u32; edges];
    let mut in_types = vec![0u8; edges];
    for (source, bounds) in (0u32..).zip(starts.windows(2)) {
        for edge in bounds[0] as usize..bounds[1] as usize {
            let slot = &mut next[targets[edge] as usize];
            sources[*slot as usize] = source;
            in_types[*slot as usize] = types[edge];
            *slot += 1;
        }
    }
    body.u64(nodes as u64)?;
    body.u64(edges as u64)?;
    body.array(starts)?;
    body.array(&in_starts)?;
    body.array(targets)?;
    body.array(&sources)?;
    body.bytes(types)?;
    body.bytes(&in_types)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::image::SectionWriter;
    use crate::base::section::tag;

    fn written(starts: &[u32], targets: &[u32], types: &[u8]) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut sections = SectionWriter::at(0, Vec::new(), &mut file);
        sections.write(tag::ADJACENCY, |body| write(body, starts, targets, types))?;
        Ok(file)
    }

    #[test]
    fn an_edge_is_found_from_both_ends() {
        // 0 → 1 (type 4), 0 → 2 (types 1 and 3), 2 → 1 (type 4).
        let file = written(&[0, 3, 3, 4], &[1, 2, 2, 1], &[4, 1, 3, 4]).unwrap();
        let mut words = vec![0u64; file.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..file.len()].copy_from_slice(&file);
        let bytes: &[u8] = &bytemuck::cast_slice(&words)[64..file.len()];
        let section = Section {
            tag: tag::ADJACENCY,
            offset: 64,
            bytes,
        };
        let all = Adjacency::read(section, 3, 4).unwrap();
        let incoming = all.incoming(NodeId(1)).unwrap();
        assert_eq!(
            (incoming.others, incoming.types),
            (&[0, 2][..], &[4, 4][..])
        );
        let at =
            |source, target, edge_type| all.position(NodeId(source), target, edge_type).unwrap();
        assert_eq!(
            [at(0, 1, 4), at(0, 2, 1), at(0, 2, 3), at(2, 1, 4)],
            [Some(0), Some(1), Some(2), Some(3)]
        );
        assert_eq!([at(0, 2, 2), at(1, 2, 1), at(7, 0, 0)], [None; 3]);
    }

    #[test]
    fn an_edge_to_a_missing_event_is_reported() {
        let error = written(&[0, 1], &[5], &[0]).unwrap_err().to_string();
        assert!(error.contains("event 5 of 1"), "{error}");
    }
}
