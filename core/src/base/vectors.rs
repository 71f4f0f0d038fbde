//! Section 0x4F, vector sums: what cosine needs of every vector, so that a scan reads each vector once.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | u64 | events with a vector |
//! | 16 | f64 × dimension | sum of the vectors, added in order of id |
//! | | f32 × n | 1 / length of each vector; 0 without one |

use super::section::Section;
use crate::error::Result;
use crate::fold::image::Body;

/// The section, in place.
#[derive(Debug, Clone, Copy)]
pub struct VectorSums<'a> {
    /// Events with a vector.
    pub count: u64,
    /// The sum of the vectors.
    pub sum: &'a [f64],
    /// 1 / length of each vector.
    pub inverse_lengths: &'a [f32],
}

impl<'a> VectorSums<'a> {
    /// Reads the section's front.
    pub fn read(section: Section<'a>, nodes: u64, dimension: u32) -> Result<Self> {
        if section.u64(0)? != nodes {
            return Err(section.bad(0, format!("it is of other than the brain's {nodes} events")));
        }
        let d = u64::from(dimension);
        Ok(Self {
            count: section.u64(8)?,
            sum: section.array(16, d)?,
            inverse_lengths: section.array(16 + 8 * d, nodes)?,
        })
    }
}

/// Writes the section.
pub fn write(body: &mut Body<'_>, count: u64, sum: &[f64], inverse_lengths: &[f32]) -> Result<()> {
    body.u64(inverse_lengths.len() as u64)?;
    body.u64(count)?;
    body.array(sum)?;
    body.array(inverse_lengths)
}
