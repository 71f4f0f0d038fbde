//! Section 0x4F, vector lengths: what cosine needs of every vector, so that a comparison reads each vector once.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events n |
//! | 8 | f32 × n | 1 / length of each vector; 0 without one |

use super::section::Section;
use crate::error::Result;
use crate::fold::image::Body;

/// Reads the section: 1 / length of each vector.
pub fn read(section: Section<'_>, nodes: u64) -> Result<&[f32]> {
    if section.u64(0)? != nodes {
        return Err(section.bad(0, format!("it is of other than the brain's {nodes} events")));
    }
    section.array(8, nodes)
}

/// Writes the section.
pub fn write(body: &mut Body<'_>, inverse_lengths: &[f32]) -> Result<()> {
    body.u64(inverse_lengths.len() as u64)?;
    body.array(inverse_lengths)
}
