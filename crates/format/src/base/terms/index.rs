//! The term index: header, lengths, dictionary.
//!
//! Promises: opening checks the header and the lengths of the parts, and builds nothing. Every access is checked:
//! damage gives `Error::Corrupt`.
//! Not here: how a checkpoint builds the index (`merge`).

use super::{BLOCK_POSTINGS, COUNT_MAX, DecodedBlock, LengthQuarter, PostingBlock, Postings, WHAT};
use crate::analyzer::{ANALYZER_VERSION, ANALYZER_VERSION_MIN, TERM_BYTES_MAX, is_aside};
use crate::bytes::{align_up, get_u16, get_u32, get_u64};
use crate::error::{Error, Result};

const HEADER_BYTES: u64 = 64;
const ENTRY_BYTES: u64 = 24;
const ENDING_BYTES: u64 = 4;
/// Alignment of the parts.
pub(super) const PART_ALIGN: u64 = 64;
/// Events that share an entry of the running sums.
pub(super) const SUM_EVENTS: u32 = 128;

/// Sizes in the header; all offsets follow from them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sizes {
    /// The analyzer's; version 1 has no order by endings.
    pub(super) version: u32,
    pub(super) events: u32,
    pub(super) total_length: u64,
    pub(super) terms: u32,
    pub(super) blocks: u32,
    pub(super) blob_bytes: u64,
    pub(super) data_bytes: u64,
}

/// Where each part begins, and where the last one ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexLayout {
    lengths: u64,
    sums: u64,
    entries: u64,
    endings: u64,
    blocks: u64,
    blob: u64,
    data: u64,
    pub(super) end: u64,
}

impl Sizes {
    /// Computes the layout; `None` on overflow.
    pub(super) fn parts(&self) -> Option<IndexLayout> {
        let events = u64::from(self.events);
        let lengths = HEADER_BYTES;
        let sums = align_up(lengths + 2 * events, PART_ALIGN)?;
        let entries = align_up(sums + 8 * (events / u64::from(SUM_EVENTS) + 1), PART_ALIGN)?;
        let endings = align_up(entries + ENTRY_BYTES * u64::from(self.terms), PART_ALIGN)?;
        let ordered = if self.has_endings() { self.terms } else { 0 };
        let blocks = align_up(endings + ENDING_BYTES * u64::from(ordered), PART_ALIGN)?;
        let blob = align_up(
            blocks + PostingBlock::BYTES * u64::from(self.blocks),
            PART_ALIGN,
        )?;
        let data = align_up(blob.checked_add(self.blob_bytes)?, PART_ALIGN)?;
        let end = data.checked_add(self.data_bytes)?;
        Some(IndexLayout {
            lengths,
            sums,
            entries,
            endings,
            blocks,
            blob,
            data,
            end,
        })
    }

    fn has_endings(&self) -> bool {
        self.version > 1
    }

    pub(super) fn to_header(self) -> [u8; HEADER_BYTES as usize] {
        let mut header = [0; HEADER_BYTES as usize];
        header[0..4].copy_from_slice(&self.version.to_le_bytes());
        header[4..8].copy_from_slice(&self.events.to_le_bytes());
        header[8..16].copy_from_slice(&self.total_length.to_le_bytes());
        header[16..20].copy_from_slice(&self.terms.to_le_bytes());
        header[20..24].copy_from_slice(&self.blocks.to_le_bytes());
        header[24..32].copy_from_slice(&self.blob_bytes.to_le_bytes());
        header[32..40].copy_from_slice(&self.data_bytes.to_le_bytes());
        header
    }
}

/// The term index of a base, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    bytes: &'a [u8],
    /// Position of the section in the file, for errors.
    at: u64,
    sizes: Sizes,
    parts: IndexLayout,
}

impl<'a> Terms<'a> {
    /// Opens the index in a section at `at` in the file; `None` if an analyzer made it that is not known here. Then the
    /// caller does without. The next checkpoint rebuilds an index of any other version than `ANALYZER_VERSION`.
    pub fn open(bytes: &'a [u8], at: u64) -> Result<Option<Self>> {
        if (bytes.len() as u64) < HEADER_BYTES {
            return Err(Error::corrupt(WHAT, at, "shorter than its header"));
        }
        let version = get_u32(bytes, 0);
        if !(ANALYZER_VERSION_MIN..=ANALYZER_VERSION).contains(&version) {
            return Ok(None);
        }
        let sizes = Sizes {
            version,
            events: get_u32(bytes, 4),
            total_length: get_u64(bytes, 8),
            terms: get_u32(bytes, 16),
            blocks: get_u32(bytes, 20),
            blob_bytes: get_u64(bytes, 24),
            data_bytes: get_u64(bytes, 32),
        };
        match sizes.parts() {
            Some(parts) if parts.end == bytes.len() as u64 => Ok(Some(Self {
                bytes,
                at,
                sizes,
                parts,
            })),
            _ => Err(Error::corrupt(
                WHAT,
                at,
                format!("its parts do not sum to its {} bytes", bytes.len()),
            )),
        }
    }

    /// The version of the analyzer that made it.
    pub fn version(&self) -> u32 {
        self.sizes.version
    }

    /// The number of events that it covers, ids from 0 on.
    pub fn events(&self) -> u32 {
        self.sizes.events
    }

    /// The number of terms.
    pub fn len(&self) -> u32 {
        self.sizes.terms
    }

    /// True if it has no term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Terms in an event's text, at most 65,535; 0 for events that it does not cover.
    #[inline]
    pub fn length_of(&self, id: u32) -> u32 {
        if id >= self.sizes.events {
            return 0;
        }
        u32::from(get_u16(
            self.bytes,
            (self.parts.lengths + 2 * u64::from(id)) as usize,
        ))
    }

    /// The total length of the events below `bound`.
    pub fn total_length_below(&self, bound: u32) -> u64 {
        let bound = bound.min(self.sizes.events);
        let sum = bound / SUM_EVENTS;
        let before = get_u64(self.bytes, (self.parts.sums + 8 * u64::from(sum)) as usize);
        (sum * SUM_EVENTS..bound).fold(before, |total, id| {
            total.saturating_add(u64::from(self.length_of(id)))
        })
    }

    /// The lengths of the events below `bound`, counted: a scan.
    pub fn quarter_below(&self, bound: u32) -> LengthQuarter {
        LengthQuarter::of((0..bound.min(self.sizes.events)).map(|id| self.length_of(id)))
    }

    /// The postings of a term; `None` if no event has it.
    pub fn find(&self, term: &str) -> Result<Option<Postings<'a>>> {
        let index = self.position(term.as_bytes())?;
        index.map(|index| self.postings(index)).transpose()
    }

    fn position(&self, term: &[u8]) -> Result<Option<u32>> {
        let (mut from, mut to) = (0, self.sizes.terms);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.term(middle)?.cmp(term) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
            }
        }
        Ok(None)
    }

    /// The index in the dictionary of the term at a place in the order of endings. Of an index of version 1: the place
    /// itself.
    ///
    /// # Panics
    /// At `len()` and beyond.
    pub fn by_ending(&self, place: u32) -> Result<u32> {
        assert!(place < self.sizes.terms, "no term {place}");
        if !self.sizes.has_endings() {
            return Ok(place);
        }
        let at = self.parts.endings + ENDING_BYTES * u64::from(place);
        let index = get_u32(self.bytes, at as usize);
        if index >= self.sizes.terms {
            return Err(self.bad(at, "an ending outside the dictionary"));
        }
        Ok(index)
    }

    /// The bytes of the term at an index of the dictionary.
    ///
    /// # Panics
    /// At `len()` and beyond.
    pub fn term(&self, index: u32) -> Result<&'a [u8]> {
        let entry = self.entry(index);
        let (start, len) = (get_u32(entry, 16), get_u16(entry, 20));
        let end = u64::from(start) + u64::from(len);
        if end > self.sizes.blob_bytes || usize::from(len) > TERM_BYTES_MAX {
            return Err(self.bad(self.entry_at(index), "a term outside the dictionary"));
        }
        let blob = self.parts.blob;
        Ok(&self.bytes[(blob + u64::from(start)) as usize..(blob + end) as usize])
    }

    /// The postings of the term at an index of the dictionary.
    ///
    /// # Panics
    /// At `len()` and beyond.
    pub fn postings(&self, index: u32) -> Result<Postings<'a>> {
        let entry = self.entry(index);
        let data = get_u64(entry, 0);
        let first_block = get_u32(entry, 8);
        let df = get_u32(entry, 12);
        let blocks = df.div_ceil(BLOCK_POSTINGS);
        let fits = first_block
            .checked_add(blocks)
            .is_some_and(|end| end <= self.sizes.blocks);
        if df == 0 || df > self.sizes.events || !fits || data > self.sizes.data_bytes {
            return Err(self.bad(self.entry_at(index), "postings outside the index"));
        }
        let start = (self.parts.blocks + PostingBlock::BYTES * u64::from(first_block)) as usize;
        Ok(Postings::new(
            &self.bytes[start..start + PostingBlock::BYTES as usize * blocks as usize],
            &self.bytes[(self.parts.data + data) as usize..],
            self.at + start as u64,
            df,
            self.sizes.events,
        ))
    }

    fn entry_at(&self, index: u32) -> u64 {
        self.parts.entries + ENTRY_BYTES * u64::from(index)
    }

    fn entry(&self, index: u32) -> &'a [u8] {
        assert!(index < self.sizes.terms, "no term {index}");
        &self.bytes[self.entry_at(index) as usize..][..ENTRY_BYTES as usize]
    }

    fn bad(&self, offset: u64, why: &str) -> Error {
        Error::corrupt(WHAT, self.at + offset, why)
    }

    /// Calls `f` with every term and its postings. Also checks what a lookup does not: the order of terms, and that
    /// blocks and bytes are contiguous.
    pub(super) fn for_each(
        &self,
        mut f: impl FnMut(&'a [u8], Postings<'a>) -> Result<()>,
    ) -> Result<()> {
        let (mut blocks, mut data) = (0u32, 0u64);
        let mut previous: Option<&[u8]> = None;
        for index in 0..self.sizes.terms {
            let (term, postings) = (self.term(index)?, self.postings(index)?);
            let entry = self.entry(index);
            if previous.is_some_and(|p| p >= term) {
                return Err(self.bad(self.entry_at(index), "terms out of order"));
            }
            if (get_u64(entry, 0), get_u32(entry, 8)) != (data, blocks) {
                return Err(self.bad(self.entry_at(index), "postings out of order"));
            }
            previous = Some(term);
            // No overflow: `postings` and `bytes_before` checked both against the header's sizes.
            blocks += postings.blocks();
            data += postings.bytes_before(postings.blocks())?.len() as u64;
            f(term, postings)?;
        }
        if (data, blocks) != (self.sizes.data_bytes, self.sizes.blocks) {
            return Err(self.bad(20, "postings without a term"));
        }
        Ok(())
    }

    /// The first place in the order of endings whose term does not come before a term.
    pub(super) fn place_of_ending(&self, term: &[u8]) -> Result<u32> {
        let (mut from, mut to) = (0, self.sizes.terms);
        while from < to {
            let middle = from + (to - from) / 2;
            if self
                .term(self.by_ending(middle)?)?
                .iter()
                .rev()
                .lt(term.iter().rev())
            {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }

    /// Checks that the order of endings is one, of all terms.
    fn verify_endings(&self) -> Result<()> {
        let mut previous: Option<&[u8]> = None;
        for place in 0..self.sizes.terms {
            let term = self.term(self.by_ending(place)?)?;
            if previous.is_some_and(|previous| previous.iter().rev().cmp(term.iter().rev()).is_ge())
            {
                let at = self.parts.endings + ENDING_BYTES * u64::from(place);
                return Err(self.bad(at, "endings out of order"));
            }
            previous = Some(term);
        }
        Ok(())
    }

    /// Checks everything: the order of terms, every posting, lengths and their sums.
    pub fn verify(&self) -> Result<()> {
        if self.sizes.has_endings() {
            self.verify_endings()?;
        }
        // Terms of each event, and whether it has asides.
        let mut counts = vec![(0u64, false); self.sizes.events as usize];
        let mut decoded = DecodedBlock::default();
        self.for_each(|term, postings| {
            let is_aside = std::str::from_utf8(term).is_ok_and(is_aside);
            for at in 0..postings.blocks() {
                postings.decode(at, &mut decoded)?;
                let block = postings.block(at);
                let mut bounds = (0, COUNT_MAX);
                for (id, tf) in decoded.iter() {
                    let count = &mut counts[id as usize];
                    match is_aside {
                        true => count.1 = true,
                        false => count.0 += u64::from(tf),
                    }
                    bounds = (bounds.0.max(tf), bounds.1.min(self.length_of(id)));
                }
                if bounds != (u32::from(block.max_tf), u32::from(block.min_length)) {
                    return Err(postings.bad(at, "wrong bounds of a block"));
                }
            }
            Ok(())
        })?;
        let mut total = 0u64;
        for (id, &(counts, has_asides)) in (0u32..).zip(&counts) {
            let counts = counts.max(u64::from(has_asides));
            if id.is_multiple_of(SUM_EVENTS) && self.total_length_below(id) != total {
                return Err(self.bad(self.parts.sums, "a wrong running sum of lengths"));
            }
            let length = u64::from(self.length_of(id));
            // Frequencies saturate at 65,535, so their sum may be below the length of such a text.
            if length != counts && length != u64::from(COUNT_MAX) {
                let at = self.parts.lengths + 2 * u64::from(id);
                return Err(self.bad(at, "a length differs from the number of its terms"));
            }
            total += length;
        }
        if total != self.sizes.total_length || self.total_length_below(self.events()) != total {
            return Err(self.bad(8, "the total length is wrong"));
        }
        Ok(())
    }
}
