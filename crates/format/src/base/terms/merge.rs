//! How a term index is made: the old one, less what was erased, and what came since.
//!
//! Planning reads the new texts and works out which terms change; writing then streams the section,
//! copying whole blocks of the old index where nothing in them changed. No old text is read.
//!
//! Promises: the bytes are a function of the texts alone: merging in steps, or all at once, gives the
//! same; nothing of an erased event is left. Memory grows with the new texts, the number of different
//! terms they say, and what erased events force to be packed anew.

use super::index::{PART_ALIGN, SUM_EVENTS, Sizes};
use super::new_terms::{NewTerms, PostingList};
use super::packer::PostingPacker;
use super::{BLOCK_POSTINGS, DecodedBlock, PostingBlock, Postings, Terms, WHAT};
use crate::error::{Error, Result};

/// Bytes gathered before they are handed on.
const OUT_BYTES: usize = 64 << 10;

/// A planned index: its length is known, its bytes can be written.
#[derive(Debug)]
pub struct IndexMerge<'a> {
    base: Option<Terms<'a>>,
    /// Events of the base whose postings go, ascending.
    erased: Vec<u32>,
    /// Lengths of the events after the base.
    lengths: Vec<u16>,
    /// Terms whose postings differ from the base's, ascending.
    changed: Vec<ChangedTerm>,
    sizes: Sizes,
    bytes: u64,
}

/// A term whose postings differ from the base's.
#[derive(Debug)]
struct ChangedTerm {
    term: Box<[u8]>,
    /// In all; 0 if the term is gone.
    df: u32,
    /// Blocks of the base that stay as they are.
    kept: u32,
    /// What follows them.
    blocks: Vec<PostingBlock>,
    data: Vec<u8>,
}

/// A term as it will be written: copied blocks, then new ones.
struct PlannedTerm<'p> {
    term: &'p [u8],
    df: u32,
    copied_blocks: &'p [u8],
    copied_data: &'p [u8],
    blocks: &'p [PostingBlock],
    data: &'p [u8],
}

impl<'a> IndexMerge<'a> {
    /// Plans the index of `base` and the texts of younger events, whose ids ascend from
    /// `base.events()` on; an id that is left out has no text. Events for which `dropped` is true lose
    /// their postings and their length.
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
        merge.changed = merge.change(new.terms)?;
        (merge.sizes, merge.bytes) = merge.measure()?;
        Ok(merge)
    }

    /// How many bytes `write` gives.
    #[expect(
        clippy::len_without_is_empty,
        reason = "an index has at least a header"
    )]
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Hands the section's bytes to `out`, in order, in pieces.
    pub fn write(&self, out: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut out = BufferedOutput {
            to: out,
            buffer: Vec::with_capacity(OUT_BYTES),
            written: 0,
        };
        out.put(&self.sizes.to_header())?;
        self.write_lengths(&mut out)?;
        self.write_dictionary(&mut out)?;
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
            // `measure` found that these sums fit.
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

    /// The numbers of the header, and the length of the section.
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
            events,
            total_length: (0..events).map(|id| u64::from(self.length_of(id))).sum(),
            terms: narrow("different terms of a brain", terms)?,
            blocks: narrow("blocks of postings of a brain", blocks)?,
            blob_bytes: blob,
            data_bytes: data,
        };
        let parts = sizes
            .parts()
            .ok_or_else(|| Error::corrupt(WHAT, 0, "it would be longer than any file"))?;
        Ok((sizes, parts.end))
    }

    /// Calls `f` with every term that the index will have, ascending.
    fn for_each_term(&self, mut f: impl FnMut(&PlannedTerm<'_>) -> Result<()>) -> Result<()> {
        let mut changed = self.changed.iter().peekable();
        let mut emit = |planned: PlannedTerm<'_>| match planned.df {
            0 => Ok(()),
            _ => f(&planned),
        };
        self.for_each_base_term(|term, old| {
            while let Some(new) = changed.next_if(|c| *c.term < *term) {
                emit(new.planned(None)?)?;
            }
            match changed.next_if(|c| *c.term == *term) {
                Some(change) => emit(change.planned(Some(old))?),
                None => emit(PlannedTerm {
                    term,
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

    /// Calls `f` with every term of the base.
    fn for_each_base_term(
        &self,
        f: impl FnMut(&'a [u8], Postings<'a>) -> Result<()>,
    ) -> Result<()> {
        self.base.map_or(Ok(()), |base| base.for_each(f))
    }

    /// The terms that new texts say or erased events said.
    fn change(&self, new: Vec<(Box<str>, PostingList)>) -> Result<Vec<ChangedTerm>> {
        let mut out = Vec::new();
        let mut new = new.into_iter().peekable();
        self.for_each_base_term(|term, old| {
            while let Some((term, list)) = new.next_if(|(t, _)| t.as_bytes() < term) {
                out.push(self.rebuilt(term.as_bytes(), None, 0, Some(&list))?);
            }
            let list = new.next_if(|(t, _)| t.as_bytes() == term).map(|(_, l)| l);
            let kept = self.unchanged_blocks(&old, list.is_some())?;
            if list.is_some() || kept < old.blocks() {
                out.push(self.rebuilt(term, Some(old), kept, list.as_ref())?);
            }
            Ok(())
        })?;
        for (term, list) in new {
            out.push(self.rebuilt(term.as_bytes(), None, 0, Some(&list))?);
        }
        Ok(out)
    }

    /// How many leading blocks stay as they are.
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

    /// A term's postings: `kept` blocks of the old ones, what is left of the others, and the new ones.
    fn rebuilt(
        &self,
        term: &[u8],
        old: Option<Postings<'_>>,
        kept: u32,
        new: Option<&PostingList>,
    ) -> Result<ChangedTerm> {
        let (next, bytes) = match (old, kept.checked_sub(1)) {
            (Some(old), Some(last)) => (
                u64::from(old.block(last).last) + 1,
                old.bytes_before(kept)?.len() as u64,
            ),
            _ => (0, 0),
        };
        let mut packer = PostingPacker::new(next, bytes);
        if let Some(old) = old {
            let mut decoded = DecodedBlock::default();
            for at in kept..old.blocks() {
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
            df: kept * BLOCK_POSTINGS + packer.count,
            kept,
            blocks: packer.blocks,
            data: packer.data,
        })
    }
}

impl ChangedTerm {
    /// The term as it will be written, `old` being its postings in the base.
    fn planned<'p>(&'p self, old: Option<Postings<'p>>) -> Result<PlannedTerm<'p>> {
        let (copied_blocks, copied_data) = match old {
            Some(old) => (old.directory(self.kept), old.bytes_before(self.kept)?),
            None => (&[][..], &[][..]),
        };
        Ok(PlannedTerm {
            term: &self.term,
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

/// Gathers small writes, and knows where it is.
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

    /// Zeros up to where a part may start.
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
