//! Section 0x4D, codes: every vector as 4-bit codes, and IVF lists.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u32 | dimension d; 0 if no event has a vector, then nothing follows |
//! | 12 | u32 | IVF lists k; 0 if there are too few vectors |
//! | 16 | u64 | vectors at the last training |
//! | 24 | u64 | vectors at the last measurement |
//! | 32 | u32 | lists to probe; 0 if they cannot reach the promised recall |
//! | 36 | f32 | measured recall at 10 with these parameters |
//! | 40 | u32 | events to compare exactly, for each result |
//! | 44 | f32 | reach: no row is farther from the centre |
//! | 48 | u64 | vectors in the lists l |
//! | 56 | u64 | zero |
//! | 64 | f32 × d | centre |
//! | | u32 × (n + k) | scale and error of each row; at a multiple of 64 |
//! | | rows × (n + k) | codes: of the events, then of the centroids; at a multiple of 64 |
//! | | u32 × (k + 1) | where each list begins; at a multiple of 64 |
//! | | u32 × l | events, by list, then id |
//!
//! A row represents a vector divided by its length. It has 32 numbers in 16 bytes, its end padded: byte i has number i
//! in its low half and number 16 + i in its high half. A code c represents centre + scale · (c − 7.5); the remainder
//! has at most the length `error`. Scale and error are the upper halves of an f32: the scale in the upper half of the
//! number, the error in the lower. Error is not a number for an event without a vector or with one of zeros, and
//! infinite if the vector's length is not within 1e-15 and 1e15.

use super::section::{Section, range, tag};
use crate::base::image::Body;
use crate::error::Result;
use amem_kernels::QuantisedQuery;

/// Alignment of the parts.
const ALIGN: u64 = 64;
/// Bytes before the centre.
const FRONT: u64 = 64;

/// Parameters of approximate search, from training and measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IvfParameters {
    /// Vectors at the last training.
    pub trained: u64,
    /// Vectors at the last measurement.
    pub measured: u64,
    /// Lists that a query probes; 0 if the lists cannot reach the promised recall.
    pub probes: u32,
    /// The measured recall at 10 with these parameters.
    pub recall: f32,
    /// Events that a query compares exactly, for each result that it returns.
    pub refine: u32,
}

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct QuantisedVectors<'a> {
    /// Parameters of approximate search.
    pub ivf: IvfParameters,
    /// No row is farther from the centre.
    pub reach: f32,
    /// The mean of all directions; rows are relative to it.
    pub centre: &'a [f32],
    /// Bytes of a row.
    pub stride: usize,
    /// Packed scale and error: first one a row of each event, then of each centroid.
    pub scales: &'a [u32],
    /// The codes, in the same order.
    pub rows: &'a [u8],
    nodes: u64,
    starts: &'a [u32],
    entries: &'a [u32],
    section: Section<'a>,
}

impl<'a> QuantisedVectors<'a> {
    /// Checks the counts and the bounds of the arrays; `None` if no event has a vector.
    pub fn read(section: Section<'a>, nodes: u64, dimension: u32) -> Result<Option<Self>> {
        if section.u64(0)? != nodes {
            return Err(section.bad(0, format!("it must cover the base's {nodes} events")));
        }
        let d = section.u32(8)?;
        if d == 0 {
            return Ok(None);
        }
        if d != dimension {
            return Err(section.bad(
                8,
                format!("its vectors have {d} dimensions, those of the base {dimension}"),
            ));
        }
        let k = section.u32(12)?;
        let ivf = IvfParameters {
            trained: section.u64(16)?,
            measured: section.u64(24)?,
            probes: section.u32(32)?,
            recall: f32::from_bits(section.u32(36)?),
            refine: section.u32(40)?,
        };
        let stride = QuantisedQuery::stride_of(d as usize);
        let count = nodes + u64::from(k);
        let scales_at = aligned(FRONT + 4 * u64::from(d));
        let rows_at = aligned(scales_at + 4 * count);
        let starts_at = aligned(rows_at + count * stride as u64);
        let entries_at = starts_at + 4 * (u64::from(k) + 1);
        Ok(Some(Self {
            ivf,
            reach: f32::from_bits(section.u32(44)?),
            centre: section.array(FRONT, d.into())?,
            stride,
            scales: section.array(scales_at, count)?,
            rows: section.slice(rows_at, count * stride as u64)?,
            nodes,
            starts: section.array(starts_at, u64::from(k) + 1)?,
            entries: section.array(entries_at, section.u64(48)?)?,
            section,
        }))
    }

    /// The number of IVF lists.
    #[inline]
    pub fn lists(&self) -> usize {
        self.starts.len() - 1
    }

    /// Scales and codes of the centroids.
    #[inline]
    pub fn centroids(&self) -> (&'a [u32], &'a [u8]) {
        let nodes = self.nodes as usize;
        (&self.scales[nodes..], &self.rows[nodes * self.stride..])
    }

    /// The row of an event that a list names; an error if the event does not exist.
    #[inline]
    pub fn row_index(&self, id: u32) -> Result<usize> {
        if u64::from(id) < self.nodes {
            Ok(id as usize)
        } else {
            let why = format!("a list has event {id} of {}", self.nodes);
            Err(self.section.bad(0, why))
        }
    }

    /// The events of a list, ascending.
    #[inline]
    pub fn list(&self, list: usize) -> Result<&'a [u32]> {
        let (from, to) = (self.starts[list], self.starts[list + 1]);
        range(&self.section, self.entries, from.into(), to.into())
    }

    /// The events of all lists, by list.
    pub fn entries(&self) -> &'a [u32] {
        self.entries
    }
}

/// The parts of a new section.
#[derive(Debug)]
pub struct QuantisedBuffers {
    /// Parameters of approximate search.
    pub ivf: IvfParameters,
    /// No row is farther from the centre.
    pub reach: f32,
    /// The mean of all directions; rows are relative to it.
    pub centre: Vec<f32>,
    /// Packed scale and error: first one a row of each event, then of each centroid.
    pub scales: Vec<u32>,
    /// The codes, in the same order.
    pub rows: Vec<u8>,
    /// Where each list begins in `entries`, then the end of the last.
    pub starts: Vec<u32>,
    /// Events by list, then id.
    pub entries: Vec<u32>,
}

impl QuantisedBuffers {
    /// The parts as a reader sees them.
    pub(crate) fn reader(&self) -> QuantisedVectors<'_> {
        QuantisedVectors {
            ivf: self.ivf,
            reach: self.reach,
            centre: &self.centre,
            stride: QuantisedQuery::stride_of(self.centre.len()),
            scales: &self.scales,
            rows: &self.rows,
            nodes: (self.scales.len() - self.lists()) as u64,
            starts: &self.starts,
            entries: &self.entries,
            section: Section {
                tag: tag::CODES,
                offset: 0,
                bytes: &[],
            },
        }
    }

    /// The number of IVF lists.
    pub(crate) fn lists(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Writes the section of `nodes` events; `data` is `None` if no event has a vector.
pub fn write(body: &mut Body<'_>, nodes: u64, data: Option<&QuantisedBuffers>) -> Result<()> {
    body.u64(nodes)?;
    let Some(data) = data else {
        return body.bytes(&[0; FRONT as usize - 8]);
    };
    body.u32(data.centre.len() as u32)?;
    body.u32(data.starts.len() as u32 - 1)?;
    body.u64(data.ivf.trained)?;
    body.u64(data.ivf.measured)?;
    body.u32(data.ivf.probes)?;
    body.u32(data.ivf.recall.to_bits())?;
    body.u32(data.ivf.refine)?;
    body.u32(data.reach.to_bits())?;
    body.u64(data.entries.len() as u64)?;
    body.u64(0)?;
    body.array(&data.centre)?;
    body.align(ALIGN)?;
    body.array(&data.scales)?;
    body.align(ALIGN)?;
    body.bytes(&data.rows)?;
    body.align(ALIGN)?;
    body.array(&data.starts)?;
    body.array(&data.entries)
}

fn aligned(at: u64) -> u64 {
    at.next_multiple_of(ALIGN)
}
