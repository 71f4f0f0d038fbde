//! Section 0x4D, codes: every vector in half a byte a number, and which are near each other.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u32 | dimension d; 0 if no event has a vector, then nothing follows |
//! | 12 | u32 | clusters k; 0 if there are too few vectors |
//! | 16 | u64 | vectors when the clusters were made |
//! | 24 | u64 | vectors when the recall was measured |
//! | 32 | u32 | clusters to look into for the recall; 0 if it can't be kept |
//! | 36 | f32 | recall at 10 that was measured with so many |
//! | 40 | u32 | events to compare exactly, for each that is asked for |
//! | 44 | f32 | reach: no row is further off the centre |
//! | 48 | u64 | vectors in the lists l |
//! | 56 | u64 | zero |
//! | 64 | f32 × d | centre |
//! | | u32 × (n + k) | scale and error of each row; at a multiple of 64 |
//! | | rows × (n + k) | codes: of the events, then of the clusters; at a multiple of 64 |
//! | | u32 × (k + 1) | where each cluster's events begin; at a multiple of 64 |
//! | | u32 × l | events, by cluster, then id |
//!
//! A row stands for a vector divided by its length. It holds 32 numbers in 16 bytes, its end padded: byte i of them has
//! number i in its low half and number 16 + i in its high half. A code c stands for centre + scale · (c − 7.5); what is
//! left has at most the length `error`. Scale and error are the upper halves of an f32: the scale in the upper half of
//! the number, the error in the lower. Error is not a number for an event without a vector or with one of zeros, and
//! infinite if the vector's length is not within 1e-15 and 1e15.

use super::section::{Section, range, tag};
use crate::base::image::Body;
use crate::error::Result;
use crate::simd::QuantisedQuery;

/// Parts begin at multiples of this.
const ALIGN: u64 = 64;
/// Bytes before the centre.
const FRONT: u64 = 64;

/// How to find what is near without looking at everything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Vectors when the clusters were made.
    pub trained: u64,
    /// Vectors when the recall was measured.
    pub measured: u64,
    /// Clusters to look into; 0 if the recall can't be kept.
    pub probes: u32,
    /// The recall at 10 with so many.
    pub recall: f32,
    /// Events to compare exactly, for each that is asked for.
    pub refine: u32,
}

/// The section, in place.
#[derive(Debug, Clone, Copy)]
pub struct Codes<'a> {
    /// How to find what is near.
    pub measured: Measured,
    /// No row is further off the centre.
    pub reach: f32,
    /// What rows are off.
    pub centre: &'a [f32],
    /// Bytes of a row.
    pub stride: usize,
    /// Scale and error of each event's row, then of each cluster's.
    pub scales: &'a [u32],
    /// The rows.
    pub rows: &'a [u8],
    nodes: u64,
    starts: &'a [u32],
    listed: &'a [u32],
    section: Section<'a>,
}

impl<'a> Codes<'a> {
    /// Reads the section's front; `None` if no event has a vector.
    pub fn read(section: Section<'a>, nodes: u64, dimension: u32) -> Result<Option<Self>> {
        if section.u64(0)? != nodes {
            return Err(section.bad(0, format!("it is of other than the brain's {nodes} events")));
        }
        let d = section.u32(8)?;
        if d == 0 {
            return Ok(None);
        }
        if d != dimension {
            return Err(section.bad(8, format!("it is of {d} numbers a vector, not {dimension}")));
        }
        let k = section.u32(12)?;
        let measured = Measured {
            trained: section.u64(16)?,
            measured: section.u64(24)?,
            probes: section.u32(32)?,
            recall: f32::from_bits(section.u32(36)?),
            refine: section.u32(40)?,
        };
        let stride = QuantisedQuery::stride_of(d as usize);
        let count = nodes + u64::from(k);
        let scales_at = up(FRONT + 4 * u64::from(d));
        let rows_at = up(scales_at + 4 * count);
        let starts_at = up(rows_at + count * stride as u64);
        let listed_at = starts_at + 4 * (u64::from(k) + 1);
        Ok(Some(Self {
            measured,
            reach: f32::from_bits(section.u32(44)?),
            centre: section.array(FRONT, d.into())?,
            stride,
            scales: section.array(scales_at, count)?,
            rows: section.slice(rows_at, count * stride as u64)?,
            nodes,
            starts: section.array(starts_at, u64::from(k) + 1)?,
            listed: section.array(listed_at, section.u64(48)?)?,
            section,
        }))
    }

    /// The number of clusters.
    #[inline]
    pub fn clusters(&self) -> usize {
        self.starts.len() - 1
    }

    /// Scales and rows of the clusters.
    #[inline]
    pub fn of_clusters(&self) -> (&'a [u32], &'a [u8]) {
        let nodes = self.nodes as usize;
        (&self.scales[nodes..], &self.rows[nodes * self.stride..])
    }

    /// The place of an event's row; damage if there is none.
    #[inline]
    pub fn place(&self, id: u32) -> Result<usize> {
        match u64::from(id) < self.nodes {
            true => Ok(id as usize),
            false => Err(self
                .section
                .bad(0, format!("a cluster has event {id} of {}", self.nodes))),
        }
    }

    /// The events of a cluster, ascending.
    #[inline]
    pub fn members(&self, cluster: usize) -> Result<&'a [u32]> {
        let (from, to) = (self.starts[cluster], self.starts[cluster + 1]);
        range(&self.section, self.listed, from.into(), to.into())
    }

    /// All events that are in a cluster.
    pub fn listed(&self) -> &'a [u32] {
        self.listed
    }
}

/// A section to be written.
#[derive(Debug)]
pub struct Made {
    /// How to find what is near.
    pub measured: Measured,
    /// No row is further off the centre.
    pub reach: f32,
    /// What rows are off.
    pub centre: Vec<f32>,
    /// Scale and error of each event's row, then of each cluster's.
    pub scales: Vec<u32>,
    /// The rows.
    pub rows: Vec<u8>,
    /// Where each cluster's events begin in `listed`, and where the last one's end.
    pub starts: Vec<u32>,
    /// Events by cluster.
    pub listed: Vec<u32>,
}

impl Made {
    /// As it will be read.
    pub(crate) fn as_codes(&self) -> Codes<'_> {
        Codes {
            measured: self.measured,
            reach: self.reach,
            centre: &self.centre,
            stride: QuantisedQuery::stride_of(self.centre.len()),
            scales: &self.scales,
            rows: &self.rows,
            nodes: (self.scales.len() - self.clusters()) as u64,
            starts: &self.starts,
            listed: &self.listed,
            section: Section {
                tag: tag::CODES,
                offset: 0,
                bytes: &[],
            },
        }
    }

    /// The number of clusters.
    pub(crate) fn clusters(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Writes the section of `nodes` events; `None` if none has a vector.
pub fn write(body: &mut Body<'_>, nodes: u64, made: Option<&Made>) -> Result<()> {
    body.u64(nodes)?;
    let Some(made) = made else {
        return body.bytes(&[0; FRONT as usize - 8]);
    };
    body.u32(made.centre.len() as u32)?;
    body.u32(made.starts.len() as u32 - 1)?;
    body.u64(made.measured.trained)?;
    body.u64(made.measured.measured)?;
    body.u32(made.measured.probes)?;
    body.u32(made.measured.recall.to_bits())?;
    body.u32(made.measured.refine)?;
    body.u32(made.reach.to_bits())?;
    body.u64(made.listed.len() as u64)?;
    body.u64(0)?;
    body.array(&made.centre)?;
    body.align(ALIGN)?;
    body.array(&made.scales)?;
    body.align(ALIGN)?;
    body.bytes(&made.rows)?;
    body.align(ALIGN)?;
    body.array(&made.starts)?;
    body.array(&made.listed)
}

fn up(at: u64) -> u64 {
    at.next_multiple_of(ALIGN)
}
