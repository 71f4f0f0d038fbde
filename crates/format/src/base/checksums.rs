//! Section 0x5F, checksums: of all bytes before it.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | ranges r |
//! | 8 | (u64, u64, u64) × r | offset, length, XXH3-64 |
//! | | u64 | XXH3-64 of this section up to here |

use xxhash_rust::xxh3::xxh3_64;

use super::chunk::Chunk;
use super::section::Section;
use crate::base::image::Body;
use crate::error::Result;

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Checksums<'a> {
    chunks: &'a [[u64; 3]],
}

impl<'a> Checksums<'a> {
    /// Reads the section and checks its own checksum.
    pub fn read(section: Section<'a>) -> Result<Self> {
        let count = section.u64(0)?;
        let chunks = section.array(8, count)?;
        let end = 8 + 24 * count;
        if section.u64(end)? != xxh3_64(section.slice(0, end)?) {
            return Err(section.bad(end, "its own checksum does not match"));
        }
        Ok(Self { chunks })
    }

    /// The ranges by position.
    pub fn iter(&self) -> impl Iterator<Item = Chunk> + 'a {
        self.chunks
            .iter()
            .map(|&[offset, len, sum]| Chunk { offset, len, sum })
    }
}

/// Writes the section.
pub fn write(body: &mut Body<'_>, chunks: &[Chunk]) -> Result<()> {
    let mut chunks = chunks.to_vec();
    chunks.sort_unstable_by_key(|c| c.offset);
    let mut bytes = (chunks.len() as u64).to_le_bytes().to_vec();
    for c in &chunks {
        for value in [c.offset, c.len, c.sum] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
    let own = xxh3_64(&bytes);
    bytes.extend_from_slice(&own.to_le_bytes());
    body.bytes(&bytes)
}
