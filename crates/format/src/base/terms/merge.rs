//! Builds a term index: the older one without erased events, plus newer texts.
//!
//! Planning reads the new texts and finds the terms that change. Writing streams the section and copies unchanged
//! blocks; no old text is read again.
//!
//! Promises: the bytes are a function of the texts alone, however many merges made them. No byte comes from an erased
//! event. Memory grows with the new texts, their distinct terms, and the blocks re-encoded because of erased events.

use super::index::{PART_ALIGN, SUM_EVENTS, Sizes};
use super::new_terms::{NewTerms, PostingList};
use super::packer::PostingPacker;
use super::{BLOCK_POSTINGS, DecodedBlock, PostingBlock, Postings, Terms, WHAT};
use crate::analyzer::ANALYZER_VERSION;
use crate::error::{Error, Result};

/// Bytes that the output buffers before it passes them on.
const OUT_BYTES: usize = 64 << 10;

/// A planned index: the length is final, the bytes are not written yet.
#[derive(Debug)]
pub struct IndexMerge<'a> {
    base: Option<Terms<'a>>,
    /// Events of the base that lose their postings, ascending.
    erased: Vec<u32>,
    /// Lengths of the events after the base.
    lengths: Vec<u16>,
    /// Ascending by term.
    changed: Vec<ChangedTerm>,
    sizes: Sizes,
    bytes: u64,
}

/// A term whose postings differ from the base's.
#[derive(Debug)]
struct ChangedTerm {
    term: Box<[u8]>,
    /// The number of postings; 0 if the term is gone.
    df: u32,
    /// Leading blocks that are copied from the base.
    copied: u32,
    /// Blocks and bytes that follow the copied ones.
    blocks: Vec<PostingBlock>,
    data: Vec<u8>,
}

/// A term in the new index: copied blocks, then re-encoded ones.
struct PlannedTerm<'p> {
    term: &'p [u8],
    /// Its index in the base.
    base_index: Option<u32>,
    df: u32,
    copied_blocks: &'p [u8],
    copied_data: &'p [u8],
    blocks: &'p [PostingBlock],
    data: &'p [u8],
}

impl<'a> IndexMerge<'a> {
    /// Plans the index of `base` and the texts of later events, whose ids ascend from `base.events()` on; skipped ids
    /// have no text. Events for which `dropped` is true lose postings and length.
    pub fn plan<T: AsRef<str>>(
        base: Option<Terms<'a>>,
        texts: impl IntoIterator<Item = Result<(u32, T)>>,
        dropped: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let old = base.map_or(0, |b| b.events());
        let had_text = |id| base.is_some_and(|b| b.length_of(id) > 0);
        let new = NewTerms::read(old, texts, dropped)?;
        let mut merge = Self {
            base,
            erased: (0..old).filter(|&id| had_text(id) && dropped(id)).collect(),
            lengths: new.lengths,
            changed: Vec::new(),
            sizes: Sizes::default(),
            bytes: 0,
        };
        merge.changed = merge.changed_terms(new.terms)?;
        (merge.sizes, merge.bytes) = merge.measure()?;
        Ok(merge)
    }

    /// Bytes that `write` produces.
    #[expect(
        clippy::len_without_is_empty,
        reason = "an index has at least a header"
    )]
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Writes the section to `out`, in order.
    pub fn write(&self, out: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut out = BufferedOutput {
            to: out,
            buffer: Vec::with_capacity(OUT_BYTES),
            written: 0,
        };
        out.put(&self.sizes.to_header())?;
        self.write_lengths(&mut out)?;
        self.write_dictionary(&mut out)?;
        for index in self.endings()? {
            out.put(&index.to_le_bytes())?;
        }
        out.align()?;
        let mut record = Vec::new();
        self.for_each_term(|term| {
            out.put(term.copied_blocks)?;
            record.clear();
            term.blocks.iter().for_each(|b| b.encode(&mut record));
            out.put(&record)
        })?;
        out.align()?;
        self.for_each_term(|term| out.put(term.term))?;
        out.align()?;
        self.for_each_term(|term| {
            out.put(term.copied_data)?;
            out.put(term.data)
        })?;
        out.flush()?;
        assert_eq!(
            out.written, self.bytes,
            "an index as long as it was planned"
        );
        Ok(())
    }

    fn write_lengths<F: FnMut(&[u8]) -> Result<()>>(
        &self,
        out: &mut BufferedOutput<F>,
    ) -> Result<()> {
        for id in 0..self.sizes.events {
            out.put(&self.length_of(id).to_le_bytes())?;
        }
        out.align()?;
        let mut total = 0u64;
        for id in 0..=self.sizes.events {
            if id.is_multiple_of(SUM_EVENTS) {
                out.put(&total.to_le_bytes())?;
            }
            total += u64::from(self.length_of(id));
        }
        out.align()
    }

    fn write_dictionary<F: FnMut(&[u8]) -> Result<()>>(
        &self,
        out: &mut BufferedOutput<F>,
    ) -> Result<()> {
        let (mut data, mut block, mut blob) = (0u64, 0u32, 0u32);
        self.for_each_term(|term| {
            out.put(&data.to_le_bytes())?;
            out.put(&block.to_le_bytes())?;
            out.put(&term.df.to_le_bytes())?;
            out.put(&blob.to_le_bytes())?;
            out.put(&(term.term.len() as u16).to_le_bytes())?;
            out.put(&[0, 0])?;
            // No overflow: `measure` checked the sums.
            data += term.data_bytes();
            block += term.df.div_ceil(BLOCK_POSTINGS);
            blob += term.term.len() as u32;
            Ok(())
        })?;
        out.align()
    }

    fn length_of(&self, id: u32) -> u16 {
        let old = self.base.map_or(0, |b| b.events());
        if id >= old {
            return self.lengths.get((id - old) as usize).copied().unwrap_or(0);
        }
        match self.base {
            Some(base) if self.erased.binary_search(&id).is_err() => base.length_of(id) as u16,
            _ => 0,
        }
    }

    /// The header's sizes, and the length of the section.
    fn measure(&self) -> Result<(Sizes, u64)> {
        let events = self.base.map_or(0, |b| b.events()) + self.lengths.len() as u32;
        let (mut terms, mut blocks, mut blob, mut data) = (0u64, 0u64, 0u64, 0u64);
        self.for_each_term(|term| {
            terms += 1;
            blocks += u64::from(term.df.div_ceil(BLOCK_POSTINGS));
            blob += term.term.len() as u64;
            data += term.data_bytes();
            Ok(())
        })?;
        let narrow = |what, value| {
            Error::check_limit(what, value, u64::from(u32::MAX)).map(|()| value as u32)
        };
        narrow("bytes of all terms of a brain", blob)?;
        let sizes = Sizes {
            version: ANALYZER_VERSION,
            events,
            total_length: (0..events).map(|id| u64::from(self.length_of(id))).sum(),
            terms: narrow("different terms of a brain", terms)?,
            blocks: narrow("blocks of postings of a brain", blocks)?,
            blob_bytes: blob,
            data_bytes: data,
        };
        let parts = sizes
            .parts()
            .ok_or_else(|| Error::corrupt(WHAT, 0, "its length overflows"))?;
        Ok((sizes, parts.end))
    }

    /// Calls `f` with every term of the new index, ascending.
    fn for_each_term(&self, mut f: impl FnMut(&PlannedTerm<'_>) -> Result<()>) -> Result<()> {
        let mut changed = self.changed.iter().peekable();
        let mut emit = |planned: PlannedTerm<'_>| match planned.df {
            0 => Ok(()),
            _ => f(&planned),
        };
        let mut indexes = 0..;
        self.for_each_base_term(|term, old| {
            let base_index = indexes.next();
            while let Some(new) = changed.next_if(|c| *c.term < *term) {
                emit(new.planned(None)?)?;
            }
            match changed.next_if(|c| *c.term == *term) {
                Some(change) => emit(PlannedTerm {
                    base_index,
                    ..change.planned(Some(old))?
                }),
                None => emit(PlannedTerm {
                    term,
                    base_index,
                    df: old.df(),
                    copied_blocks: old.directory(old.blocks()),
                    copied_data: old.bytes_before(old.blocks())?,
                    blocks: &[],
                    data: &[],
                }),
            }
        })?;
        changed.try_for_each(|new| emit(new.planned(None)?))
    }

    /// The indexes of all terms in the order of their endings: the base's order, with the new terms at their places.
    fn endings(&self) -> Result<Vec<u32>> {
        let old_count = self.base.map_or(0, |base| base.len());
        let mut renamed = vec![u32::MAX; old_count as usize];
        let mut new: Vec<(u64, Box<[u8]>, u32)> = Vec::new();
        let mut count = 0;
        self.for_each_term(|term| {
            match term.base_index {
                Some(index) => renamed[index as usize] = count,
                None => new.push((last_bytes(term.term), term.term.into(), count)),
            }
            count += 1;
            Ok(())
        })?;
        new.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| a.1.iter().rev().cmp(b.1.iter().rev()))
        });
        let mut out = Vec::with_capacity(count as usize);
        let mut next = 0;
        let copy = |from: u32, to: u32, out: &mut Vec<u32>| -> Result<()> {
            let Some(base) = self.base else { return Ok(()) };
            for place in from..to {
                let index = renamed[base.by_ending(place)? as usize];
                if index != u32::MAX {
                    out.push(index);
                }
            }
            Ok(())
        };
        for (_, term, index) in &new {
            let place = match self.base {
                Some(base) => base.place_of_ending(term)?,
                None => 0,
            };
            copy(next, place, &mut out)?;
            next = place;
            out.push(*index);
        }
        copy(next, old_count, &mut out)?;
        if out.len() != count as usize {
            return Err(Error::corrupt(
                WHAT,
                0,
                "its order of endings has a term twice",
            ));
        }
        Ok(out)
    }

    /// Calls `f` with every term of the base, ascending.
    fn for_each_base_term(
        &self,
        f: impl FnMut(&'a [u8], Postings<'a>) -> Result<()>,
    ) -> Result<()> {
        self.base.map_or(Ok(()), |base| base.for_each(f))
    }

    /// The terms in new texts or in erased events.
    fn changed_terms(&self, new: Vec<(Box<str>, PostingList)>) -> Result<Vec<ChangedTerm>> {
        let mut out = Vec::new();
        let mut new = new.into_iter().peekable();
        self.for_each_base_term(|term, old| {
            while let Some((term, list)) = new.next_if(|(t, _)| t.as_bytes() < term) {
                out.push(self.re_encode(term.as_bytes(), None, 0, Some(&list))?);
            }
            let list = new.next_if(|(t, _)| t.as_bytes() == term).map(|(_, l)| l);
            let copied = self.unchanged_blocks(&old, list.is_some())?;
            if list.is_some() || copied < old.blocks() {
                out.push(self.re_encode(term, Some(old), copied, list.as_ref())?);
            }
            Ok(())
        })?;
        for (term, list) in new {
            out.push(self.re_encode(term.as_bytes(), None, 0, Some(&list))?);
        }
        Ok(out)
    }

    /// The number of leading blocks that can be copied.
    fn unchanged_blocks(&self, old: &Postings<'_>, appended: bool) -> Result<u32> {
        let blocks = old.blocks();
        let (mut decoded, mut from) = (DecodedBlock::default(), 0);
        for at in 0..blocks {
            if from == self.erased.len() {
                break;
            }
            let last = old.block(at).last;
            let to = from + self.erased[from..].partition_point(|&id| id <= last);
            if from < to {
                old.decode(at, &mut decoded)?;
                let gone = &self.erased[from..to];
                if decoded
                    .ids()
                    .iter()
                    .any(|id| gone.binary_search(id).is_ok())
                {
                    return Ok(at);
                }
            }
            from = to;
        }
        let last_is_full = old.df().is_multiple_of(BLOCK_POSTINGS);
        Ok(blocks - u32::from(appended && !last_is_full))
    }

    /// Re-encodes a term after its first `copied` blocks: the remaining old postings without erased events, then the
    /// new ones.
    fn re_encode(
        &self,
        term: &[u8],
        old: Option<Postings<'_>>,
        copied: u32,
        new: Option<&PostingList>,
    ) -> Result<ChangedTerm> {
        let (next, bytes) = match (old, copied.checked_sub(1)) {
            (Some(old), Some(last)) => (
                u64::from(old.block(last).last) + 1,
                old.bytes_before(copied)?.len() as u64,
            ),
            _ => (0, 0),
        };
        let mut packer = PostingPacker::new(next, bytes);
        if let Some(old) = old {
            let mut decoded = DecodedBlock::default();
            for at in copied..old.blocks() {
                old.decode(at, &mut decoded)?;
                for (id, tf) in decoded.iter() {
                    if self.erased.binary_search(&id).is_err() {
                        packer.push(id, tf, self.length_of(id))?;
                    }
                }
            }
        }
        for (id, tf) in new.iter().flat_map(|list| list.iter()) {
            packer.push(id, tf, self.length_of(id))?;
        }
        packer.flush()?;
        Ok(ChangedTerm {
            term: term.into(),
            df: copied * BLOCK_POSTINGS + packer.count,
            copied,
            blocks: packer.blocks,
            data: packer.data,
        })
    }
}

impl ChangedTerm {
    /// The term as it is written; `old` has its postings in the base.
    fn planned<'p>(&'p self, old: Option<Postings<'p>>) -> Result<PlannedTerm<'p>> {
        let (copied_blocks, copied_data) = match old {
            Some(old) => (old.directory(self.copied), old.bytes_before(self.copied)?),
            None => (&[][..], &[][..]),
        };
        Ok(PlannedTerm {
            term: &self.term,
            base_index: None,
            df: self.df,
            copied_blocks,
            copied_data,
            blocks: &self.blocks,
            data: &self.data,
        })
    }
}

impl PlannedTerm<'_> {
    fn data_bytes(&self) -> u64 {
        (self.copied_data.len() + self.data.len()) as u64
    }
}

/// The last eight bytes of a term, the last one first: most terms differ in them.
fn last_bytes(term: &[u8]) -> u64 {
    term.iter()
        .rev()
        .chain(&[0; 8])
        .take(8)
        .fold(0, |key, &byte| key << 8 | u64::from(byte))
}

/// Buffers small writes, and counts the bytes.
struct BufferedOutput<F> {
    to: F,
    buffer: Vec<u8>,
    written: u64,
}

impl<F: FnMut(&[u8]) -> Result<()>> BufferedOutput<F> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if bytes.len() >= OUT_BYTES {
            self.flush()?;
            return (self.to)(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= OUT_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Pads to the alignment of a part.
    fn align(&mut self) -> Result<()> {
        let gap = self.written.next_multiple_of(PART_ALIGN) - self.written;
        self.put(&[0; PART_ALIGN as usize][..gap as usize])
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            (self.to)(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}
