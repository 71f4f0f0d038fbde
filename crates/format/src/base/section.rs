//! Sections: `tag u8, length u64, bytes`, repeated, from the end of the vectors on; and the table of all sections.
//!
//! The bytes of our sections begin at a multiple of 64 in the file (a padding *section* in front where needed), so that
//! readers use their arrays in place. Readers skip unknown tags. The journal is last.
//!
//! A row of `section_table!` declares a section once: its tag, `Base`'s accessor, the order of writing, what damage to
//! it means, what an erase must clear, and the table in docs/FORMAT.md follow from it.

use bytemuck::Pod;

use crate::bytes::{get_i64, get_u32, get_u64};
use crate::error::{Error, Result};
use crate::journal::head;
use crate::limits::SECTIONS_MAX;

/// Bytes of tag and length.
pub const HEADER: u64 = 9;
/// Alignment of our sections' bytes.
pub const ALIGN: u64 = 64;

/// Gives a macro the sections that a base of amemd has, in the order in which a checkpoint writes them.
///
/// A row: tag, name, what it contains, role (`record`, `index` or `checksums`), `required` or `optional`, `content` if
/// it contains text, vectors or attributes of events or what is derived from them, which an erase must remove, or
/// `plain`; then how `Base` reads it, unless that happens at open.
macro_rules! section_table {
    ($then:ident) => {
        $then! {
            IDENTITY 0x41 "identity" "which brain this is" record required plain;
            SETTINGS 0x42 "settings" "the brain's settings" record required plain;
            SESSIONS 0x43 "sessions" "each session, and its events" record required plain
                /// Sessions and their events.
                => sessions |section, base| SessionIndex::read(section, base.nodes()), SessionIndex<'_>;
            SPANS 0x59 "spans" "earlier spans of sessions that were opened again" record optional plain
                /// Earlier spans of sessions; `None` if another version made the file.
                => spans |section, base| EarlierSpans::read(section).map(Some), Option<EarlierSpans<'_>>;
            ACTORS 0x44 "actors" "authors of commits" record required plain
                /// Actors by number.
                => actors |section, base| Actors::read(section), Actors<'_>;
            AUTHORS 0x58 "authors" "which actor recorded each event" record optional plain
                /// The actor of each event; `None` if an earlier version made the file.
                => authors |section, base| Authors::read(section, base.nodes()).map(Some), Option<Authors<'_>>;
            ATTRIBUTES 0x45 "attributes" "the JSON object of each event that has one" record required content
                /// Attributes as JSON.
                => attributes |section, base| AttributeTexts::read(section), AttributeTexts<'_>;
            EVENT_TIMES 0x46 "event times" "when events happened" record required plain
                /// When events happened.
                => event_times |section, base| EventTimes::read(section, base.nodes()), EventTimes<'_>;
            HISTORY 0x47 "history" "earlier values" record required content
                /// Values before each change.
                => history |section, base| History::read(section), History<'_>;
            CHANGE_STAMPS 0x5A "change stamps" "when values were changed that merges brought" record optional plain
                /// Stamps of values that merges brought; `None` if an earlier version made the file.
                => change_stamps |section, base| ChangeStamps::read(section).map(Some), Option<ChangeStamps<'_>>;
            CLOCK 0x48 "clock" "LSN and recorded time of every commit" record required plain
                /// LSN and time of every commit.
                => clock |section, base| CommitClock::read(section), CommitClock<'_>;
            REQUESTS 0x49 "requests" "stored answers, for retries" record required plain
                /// Requests and their answers.
                => requests |section, base| Requests::read(section), Requests<'_>;
            COMMITS 0x4A "recent commits" "the newest frames, for subscribers" record required content
                /// Frames of earlier journals.
                => commits |section, base| RecentCommits::read(section), RecentCommits<'_>;
            ADJACENCY 0x4B "adjacency" "edges both ways" index required plain
                /// Edges, both ways.
                => adjacency |section, base|
                Adjacency::read(section, base.nodes(), base.header.edges), Adjacency<'_>;
            KINDS 0x4C "kinds" "events by type" index required plain
                /// Events by type.
                => kinds |section, base| Kinds::read(section, base.nodes()), Kinds<'_>;
            CONFLICTS 0x51 "conflicts" "edges of disagreement" index required plain
                /// Edges of disagreement.
                => conflicts |section, base| ConflictEdges::read(section), ConflictEdges<'_>;
            VECTORS 0x4F "vector lengths" "the length of each vector" index required content
                /// 1 / length of each vector.
                => inverse_lengths |section, base| vectors::read(section, base.nodes()), &[f32];
            STRENGTHS 0x50 "strengths" "events by strength" index required plain
                /// Events by strength.
                => strengths |section, base| strengths::read(section, base.nodes()), &[u32];
            VALUES 0x52 "attribute values" "events by the values of their attributes" index optional content
                /// Events by attribute value; `None` if no event has attributes, or another version made the file.
                => values |section, base| ValueIndex::read(section), Option<ValueIndex<'_>>;
            CODES 0x4D "codes" "vectors as 4-bit codes, and IVF lists" index required content
                /// Every vector as 4-bit codes; `None` if no event has a vector.
                => codes |section, base|
                QuantisedVectors::read(section, base.nodes(), base.header.dimension), Option<QuantisedVectors<'_>>;
            TERMS 0x4E "terms" "words of the texts" index required content
                /// Terms of the texts; `None` if another version of the analyzer made them.
                => terms |section, base| Terms::open(section.bytes, section.offset), Option<Terms<'_>>;
            CHECKSUMS 0x5F "checksums" "of everything before it" checksums required plain
                /// Checksums of everything before them.
                => checksums |section, base| Checksums::read(section), Checksums<'_>;
        }
    };
}
pub(crate) use section_table;

/// What a section repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionRole {
    /// Nothing: damage to it is a loss, and a checkpoint carries the damage on.
    Record,
    /// The tables and the records: a checkpoint can build it again.
    Index,
    /// The bytes before it.
    Checksums,
}

/// A section of a base, as docs/FORMAT.md describes it. Its layout stands in the file that reads it.
#[derive(Debug, Clone, Copy)]
pub struct SectionRow {
    /// The number in the file.
    pub tag: u8,
    /// For errors and for people.
    pub name: &'static str,
    /// What it contains.
    pub what: &'static str,
    /// What it repeats.
    pub role: SectionRole,
    /// A base without it is whole.
    pub is_optional: bool,
    /// It contains text, vectors or attributes of events, or what is derived from them: an erase must remove it.
    pub has_content: bool,
}

macro_rules! role {
    (record) => {
        SectionRole::Record
    };
    (index) => {
        SectionRole::Index
    };
    (checksums) => {
        SectionRole::Checksums
    };
}

macro_rules! rows {
    ($(
        $tag:ident $value:literal $name:literal $what:literal $role:ident $presence:ident $content:ident
        $($(#[$doc:meta])* => $accessor:ident |$section:ident, $base:ident| $read:expr, $out:ty)?;
    )*) => {
        /// The tags of sections.
        #[allow(missing_docs, reason = "ROWS describes each")]
        pub mod tag {
            use std::ops::RangeInclusive;

            /// Sections that only amemd writes, without the journal.
            pub const OURS: RangeInclusive<u8> = 0x40..=0x5F;

            /// Indexes of the reference.
            pub const REFERENCE: RangeInclusive<u8> = 0x01..=0x06;
            pub const PADDING: u8 = 0x40;
            /// Sections that only a program that knows them can carry over: another one writes nothing to the file. Any
            /// other unknown section is skipped, and dropped by the next checkpoint.
            pub const CARRIED: RangeInclusive<u8> = 0x58..=0x5E;
            $(pub const $tag: u8 = $value;)*
            pub const JOURNAL: u8 = 0x7F;
        }

        /// Every section of a base, in the order in which a checkpoint writes them.
        pub const ROWS: &[SectionRow] = &[$(SectionRow {
            tag: $value,
            name: $name,
            what: $what,
            role: role!($role),
            is_optional: matches!(stringify!($presence).as_bytes(), b"optional"),
            has_content: matches!(stringify!($content).as_bytes(), b"content"),
        },)*];

        /// True for a section of a base that this version reads.
        pub fn is_known(tag: u8) -> bool {
            matches!(tag, $($value)|*)
        }

        /// A section's name, for errors and for people.
        pub fn name(tag: u8) -> &'static str {
            match tag {
                $($value => $name,)*
                tag::PADDING => "padding",
                tag::JOURNAL => "journal",
                tag if tag::REFERENCE.contains(&tag) => "index of the reference",
                _ => "unknown section",
            }
        }
    };
}

section_table!(rows);

/// The bytes of a section in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionPlace {
    /// Its tag.
    pub tag: u8,
    /// Position of its bytes in the file.
    pub offset: u64,
    /// Number of its bytes.
    pub len: u64,
}

/// The sections of a file.
#[derive(Debug, Clone, Default)]
pub struct SectionTable {
    /// In file order, without padding and the journal.
    pub places: Vec<SectionPlace>,
    /// Position of the journal's head page.
    pub journal: Option<u64>,
    /// The end of the last section, without the journal.
    pub end: u64,
}

impl SectionTable {
    /// Walks the sections from `start` to the journal or the end of the file. `read` gives bytes of the file.
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
                table.places.push(SectionPlace { tag, offset, len });
            }
            at = end;
            table.end = at;
        }
        Ok(table)
    }

    /// The section with the byte at a position; its tag and length belong to it.
    pub fn at(&self, position: u64) -> Option<SectionPlace> {
        let has = |place: &SectionPlace| {
            (place.offset - HEADER..place.offset + place.len.max(1)).contains(&position)
        };
        self.places.iter().copied().find(has)
    }

    /// The section of a tag.
    pub fn find(&self, tag: u8) -> Option<SectionPlace> {
        self.places.iter().copied().find(|place| place.tag == tag)
    }
}

/// A section's bytes, with its tag and position for errors.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// Its tag.
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

    fn walk(bytes: &[u8]) -> Result<SectionTable> {
        SectionTable::walk(0, bytes.len() as u64, |at, len| {
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
            Some(SectionPlace {
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
