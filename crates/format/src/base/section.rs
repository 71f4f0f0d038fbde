//! Sections: `tag u8, length u64, bytes`, repeated, from the end of the vectors on.
//!
//! Sections of amemd begin at a multiple of 64 in the file (after a padding *section* where needed), so that readers
//! use their arrays in place. Readers skip unknown sections. The journal is last.

use bytemuck::Pod;

use crate::bytes::{get_i64, get_u32, get_u64};
use crate::error::{Error, Result};
use crate::journal::head;
use crate::limits::SECTIONS_MAX;

/// Bytes of tag and length.
pub const HEADER: u64 = 9;
/// Alignment of our sections' bytes.
pub const ALIGN: u64 = 64;

/// Tags in the file.
#[allow(missing_docs, reason = "each is described in its own file")]
pub mod tag {
    use std::ops::RangeInclusive;

    /// Tags of sections that only amemd writes, without the journal's.
    pub const OURS: RangeInclusive<u8> = 0x40..=0x5F;

    pub const REFERENCE_TYPES: u8 = 0x01;
    pub const REFERENCE_DOC_LENGTHS: u8 = 0x06;
    pub const PADDING: u8 = 0x40;
    pub const IDENTITY: u8 = 0x41;
    pub const SETTINGS: u8 = 0x42;
    pub const SESSIONS: u8 = 0x43;
    pub const ACTORS: u8 = 0x44;
    pub const ATTRIBUTES: u8 = 0x45;
    pub const EVENT_TIMES: u8 = 0x46;
    pub const HISTORY: u8 = 0x47;
    pub const CLOCK: u8 = 0x48;
    pub const REQUESTS: u8 = 0x49;
    pub const COMMITS: u8 = 0x4A;
    pub const ADJACENCY: u8 = 0x4B;
    pub const KINDS: u8 = 0x4C;
    pub const CODES: u8 = 0x4D;
    pub const TERMS: u8 = 0x4E;
    pub const VECTORS: u8 = 0x4F;
    pub const STRENGTHS: u8 = 0x50;
    pub const CONFLICTS: u8 = 0x51;
    pub const VALUES: u8 = 0x52;
    pub const CHECKSUMS: u8 = 0x5F;
    pub const JOURNAL: u8 = 0x7F;
}

/// A section's name, for errors and listings.
pub fn name(tag: u8) -> &'static str {
    match tag {
        0x01..=0x06 => "index of the reference",
        tag::PADDING => "padding",
        tag::IDENTITY => "identity",
        tag::SETTINGS => "settings",
        tag::SESSIONS => "sessions",
        tag::ACTORS => "actors",
        tag::ATTRIBUTES => "attributes",
        tag::EVENT_TIMES => "event times",
        tag::HISTORY => "history",
        tag::CLOCK => "clock",
        tag::REQUESTS => "requests",
        tag::COMMITS => "recent commits",
        tag::ADJACENCY => "adjacency",
        tag::KINDS => "kinds",
        tag::CODES => "codes",
        tag::TERMS => "terms",
        tag::VECTORS => "vector lengths",
        tag::STRENGTHS => "strengths",
        tag::CONFLICTS => "conflicts",
        tag::VALUES => "attribute values",
        tag::CHECKSUMS => "checksums",
        tag::JOURNAL => "journal",
        _ => "unknown section",
    }
}

/// Where a section's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The tag.
    pub tag: u8,
    /// Position of its bytes in the file.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

/// The sections of a file.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// In file order, without padding and the journal.
    pub places: Vec<Place>,
    /// Position of the journal's head page.
    pub journal: Option<u64>,
    /// Where the last section before the journal ends.
    pub end: u64,
}

impl Table {
    /// Reads the table from `start` to the journal or the end of the file. `read` returns bytes of the file.
    pub fn walk<'a>(
        start: u64,
        file_len: u64,
        read: impl Fn(u64, u64) -> Option<&'a [u8]>,
    ) -> Result<Self> {
        let mut table = Self {
            end: start,
            ..Self::default()
        };
        let mut at = start;
        while at < file_len {
            let missing = || Error::Truncated {
                what: "section header",
                needed: at + HEADER,
                len: file_len,
            };
            let front = read(at, HEADER).ok_or_else(missing)?;
            let (tag, len) = (front[0], get_u64(front, 1));
            if tag == tag::JOURNAL {
                if len != head::LENGTH_FIELD || !at.is_multiple_of(head::PAGE) {
                    return Err(Error::corrupt(
                        "journal",
                        at,
                        "its length field or alignment is wrong",
                    ));
                }
                table.journal = Some(at);
                return Ok(table);
            }
            let offset = at + HEADER;
            let end = offset.checked_add(len).filter(|&end| end <= file_len);
            let Some(end) = end else {
                return Err(Error::Truncated {
                    what: name(tag),
                    needed: offset.saturating_add(len),
                    len: file_len,
                });
            };
            if tag != tag::PADDING {
                if table.places.len() == SECTIONS_MAX {
                    return Err(Error::corrupt(
                        "sections",
                        at,
                        format!("more than {SECTIONS_MAX}"),
                    ));
                }
                if table.places.iter().any(|place| place.tag == tag) {
                    return Err(Error::corrupt(name(tag), at, "it occurs twice"));
                }
                table.places.push(Place { tag, offset, len });
            }
            at = end;
            table.end = at;
        }
        Ok(table)
    }

    /// The section with the byte at a position; its tag and length belong to it.
    pub fn at(&self, position: u64) -> Option<Place> {
        let has = |place: &Place| {
            (place.offset - HEADER..place.offset + place.len.max(1)).contains(&position)
        };
        self.places.iter().copied().find(has)
    }

    /// The section of a tag.
    pub fn find(&self, tag: u8) -> Option<Place> {
        self.places.iter().copied().find(|place| place.tag == tag)
    }
}

/// A section's bytes, and where they are for errors.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// The tag.
    pub tag: u8,
    /// Position of the bytes in the file.
    pub offset: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Section<'a> {
    /// An error at a position in the section.
    pub fn bad(&self, at: u64, why: impl Into<String>) -> Error {
        Error::corrupt(name(self.tag), self.offset.saturating_add(at), why)
    }

    /// The bytes `at..at + len`.
    #[inline]
    pub fn slice(&self, at: u64, len: u64) -> Result<&'a [u8]> {
        let end = at
            .checked_add(len)
            .filter(|&end| end <= self.bytes.len() as u64);
        match end {
            Some(end) => Ok(&self.bytes[at as usize..end as usize]),
            None => Err(self.bad(at, format!("it ends before {len} more bytes"))),
        }
    }

    /// `count` values in place; `at` must be aligned to them.
    #[inline]
    pub fn array<T: Pod>(&self, at: u64, count: u64) -> Result<&'a [T]> {
        let len = count.checked_mul(size_of::<T>() as u64);
        let bytes = self.slice(
            at,
            len.ok_or_else(|| self.bad(at, "a count past all bounds"))?,
        )?;
        bytemuck::try_cast_slice(bytes)
            .map_err(|e| self.bad(at, format!("an array is not aligned ({e})")))
    }

    /// The 64-bit number at a position.
    #[inline]
    pub fn u64(&self, at: u64) -> Result<u64> {
        Ok(get_u64(self.slice(at, 8)?, 0))
    }

    /// The signed 64-bit number at a position.
    #[inline]
    pub fn i64(&self, at: u64) -> Result<i64> {
        Ok(get_i64(self.slice(at, 8)?, 0))
    }

    /// The 32-bit number at a position.
    #[inline]
    pub fn u32(&self, at: u64) -> Result<u32> {
        Ok(get_u32(self.slice(at, 4)?, 0))
    }

    /// The text at a position.
    pub fn str(&self, at: u64, len: u64) -> Result<&'a str> {
        std::str::from_utf8(self.slice(at, len)?).map_err(|e| self.bad(at, e.to_string()))
    }
}

/// A range whose bounds came from the file; an error if the array is shorter.
pub fn range<'a, T>(section: &Section<'_>, array: &'a [T], from: u64, to: u64) -> Result<&'a [T]> {
    if from > to || to > array.len() as u64 {
        return Err(section.bad(
            0,
            format!("a range {from}..{to} of {} entries", array.len()),
        ));
    }
    Ok(&array[from as usize..to as usize])
}

#[cfg(target_endian = "big")]
compile_error!("arrays of a brain are used in place, and they are little-endian");

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> Result<Table> {
        Table::walk(0, bytes.len() as u64, |at, len| {
            bytes.get(at as usize..(at + len) as usize)
        })
    }

    fn section(tag: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![tag];
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
        out
    }

    #[test]
    fn unknown_sections_are_skipped_and_known_ones_found() {
        let bytes = [
            section(0x33, b"?"),
            section(0x40, &[0; 5]),
            section(0x42, b"{}"),
        ]
        .concat();
        let table = walk(&bytes).unwrap();
        assert_eq!(table.places.len(), 2);
        assert_eq!(
            table.find(0x42),
            Some(Place {
                tag: 0x42,
                offset: 10 + 14 + 9,
                len: 2
            })
        );
        assert_eq!(table.end, bytes.len() as u64);
    }

    #[test]
    fn a_section_that_ends_too_late_or_occurs_twice_is_refused() {
        let bytes = section(0x42, b"{}");
        for cut in 1..bytes.len() {
            assert!(walk(&bytes[..cut]).is_err(), "{cut}");
        }
        assert!(walk(&[bytes.clone(), bytes].concat()).is_err());
        let mut huge = section(0x42, b"");
        huge[1..9].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(walk(&huge).is_err());
    }
}
