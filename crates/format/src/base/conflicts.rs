//! Section 0x51, conflicts: the edges of disagreement, so that queries need no search for them.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | contradicts edges c |
//! | 8 | u64 | supersedes edges s |
//! | 16 | (u32, u32) × c | (source, target), ascending |
//! | | (u32, u32) × s | (target, source), ascending: two in a row with one target are a contested belief |

use super::section::Section;
use crate::base::image::Body;
use crate::error::Result;

/// The section, read in place.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConflictEdges<'a> {
    /// Contradicts edges: (source, target).
    pub contradicts: &'a [[u32; 2]],
    /// Supersedes edges: (target, source).
    pub supersedes: &'a [[u32; 2]],
}

impl<'a> ConflictEdges<'a> {
    /// Checks the bounds of the lists.
    pub fn read(section: Section<'a>) -> Result<Self> {
        let (c, s) = (section.u64(0)?, section.u64(8)?);
        let contradicts = section.array(16, c)?;
        Ok(Self {
            contradicts,
            supersedes: section.array(16 + 8 * c, s)?,
        })
    }
}

/// Writes the section. Both lists must ascend.
pub fn write(body: &mut Body<'_>, contradicts: &[[u32; 2]], supersedes: &[[u32; 2]]) -> Result<()> {
    body.u64(contradicts.len() as u64)?;
    body.u64(supersedes.len() as u64)?;
    body.array(contradicts)?;
    body.array(supersedes)
}
