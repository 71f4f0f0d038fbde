//! The postings of one term, block by block.
//!
//! Promises: the ids of an unpacked block ascend, from after the previous block up to the block's last id, and exist;
//! else it is `Error::Corrupt`.

use super::{BLOCK_POSTINGS, DecodedBlock, PostingBlock, WHAT};
use crate::bytes::get_u32;
use crate::error::{Error, Result};

/// The postings of one term: events, ascending, with frequencies.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// The directory: one record for each block.
    blocks: &'a [u8],
    /// The packed postings, from this term's first byte on.
    data: &'a [u8],
    /// Position of the directory in the file, for errors.
    at: u64,
    df: u32,
    events: u32,
}

impl<'a> Postings<'a> {
    /// The postings of `df` events; their directory is at `at` in the file.
    pub(super) fn new(blocks: &'a [u8], data: &'a [u8], at: u64, df: u32, events: u32) -> Self {
        debug_assert_eq!(
            blocks.len() as u64,
            PostingBlock::BYTES * u64::from(df.div_ceil(BLOCK_POSTINGS))
        );
        Self {
            blocks,
            data,
            at,
            df,
            events,
        }
    }

    /// The number of events with the term.
    pub fn df(&self) -> u32 {
        self.df
    }

    /// The number of events below `bound` with the term.
    pub fn df_below(&self, bound: u32) -> Result<u32> {
        if bound >= self.events {
            return Ok(self.df);
        }
        let at = self.seek_block(0, bound);
        if at == self.blocks() {
            return Ok(self.df);
        }
        let mut decoded = DecodedBlock::default();
        self.decode(at, &mut decoded)?;
        let below = decoded.ids().partition_point(|&id| id < bound);
        Ok(at * BLOCK_POSTINGS + below as u32)
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u32 {
        (self.blocks.len() / PostingBlock::BYTES as usize) as u32
    }

    /// A block's directory record.
    ///
    /// # Panics
    /// At `blocks()` and beyond.
    #[inline]
    pub fn block(&self, at: u32) -> PostingBlock {
        PostingBlock::decode(&self.blocks[at as usize * PostingBlock::BYTES as usize..])
    }

    /// The first block from `from` on that may have `id` or a later event; `blocks()` if there is none.
    pub fn seek_block(&self, from: u32, id: u32) -> u32 {
        let last = |at: u32| get_u32(self.blocks, at as usize * PostingBlock::BYTES as usize);
        let count = self.blocks();
        // Callers mostly seek one of the next blocks: a galloping search.
        let (mut from, mut step) = (from, 1);
        while from < count && last(from) < id {
            let next = from.saturating_add(step).min(count);
            if next == count || last(next) >= id {
                let (mut low, mut high) = (from + 1, next);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if last(middle) < id {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                return low;
            }
            from = next;
            step = step.saturating_mul(2);
        }
        from
    }

    /// The number of postings in a block.
    fn count_in(&self, at: u32) -> u32 {
        (self.df - at * BLOCK_POSTINGS).min(BLOCK_POSTINGS)
    }

    /// Directory records of the blocks before `at`.
    pub(super) fn directory(&self, at: u32) -> &'a [u8] {
        &self.blocks[..at as usize * PostingBlock::BYTES as usize]
    }

    /// Packed bytes of the blocks before `at`.
    pub(super) fn bytes_before(&self, at: u32) -> Result<&'a [u8]> {
        let end = match at.checked_sub(1) {
            None => 0,
            Some(last) => {
                let block = self.block(last);
                u64::from(block.offset) + block.packed_bytes(self.count_in(last))
            }
        };
        self.data
            .get(..end as usize)
            .ok_or_else(|| self.bad(at.saturating_sub(1), "postings outside the index"))
    }

    /// Unpacks a block.
    ///
    /// # Panics
    /// At `blocks()` and beyond.
    pub fn decode(&self, at: u32, out: &mut DecodedBlock) -> Result<()> {
        let block = self.block(at);
        let first = match at.checked_sub(1) {
            None => 0,
            Some(before) => u64::from(self.block(before).last) + 1,
        };
        if block.last >= self.events {
            return Err(self.bad(at, "an event beyond the last"));
        }
        block
            .unpack(self.data, first, self.count_in(at), out)
            .map_err(|why| self.bad(at, why))
    }

    pub(super) fn bad(&self, block: u32, why: &str) -> Error {
        Error::corrupt(WHAT, self.at + PostingBlock::BYTES * u64::from(block), why)
    }
}
