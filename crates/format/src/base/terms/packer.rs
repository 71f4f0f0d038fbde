//! Packs postings into blocks.

use super::{BLOCK_POSTINGS, PostingBlock};
use crate::error::{Error, Result};

/// The blocks of one term after those that are copied.
#[derive(Debug)]
pub(super) struct PostingPacker {
    /// The lowest id of the next block.
    next: u64,
    /// Bytes of the copied blocks.
    bytes_before: u64,
    waiting: Vec<(u32, u32)>,
    shortest: u16,
    pub(super) blocks: Vec<PostingBlock>,
    pub(super) data: Vec<u8>,
    pub(super) count: u32,
}

impl PostingPacker {
    /// `next` is the lowest id that may follow, `bytes_before` the bytes of the copied blocks.
    pub(super) fn new(next: u64, bytes_before: u64) -> Self {
        Self {
            next,
            bytes_before,
            waiting: Vec::new(),
            shortest: u16::MAX,
            blocks: Vec::new(),
            data: Vec::new(),
            count: 0,
        }
    }

    /// Adds a posting; `length` is the number of terms in the event's text.
    pub(super) fn push(&mut self, id: u32, tf: u32, length: u16) -> Result<()> {
        self.waiting.push((id, tf));
        self.shortest = self.shortest.min(length);
        self.count += 1;
        if self.waiting.len() == BLOCK_POSTINGS as usize {
            self.flush()?;
        }
        Ok(())
    }

    /// Packs the pending postings.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let offset = self.bytes_before + self.data.len() as u64;
        Error::check_limit("bytes of one term's postings", offset, u64::from(u32::MAX))?;
        let block = PostingBlock::pack(
            &self.waiting,
            self.next,
            offset as u32,
            self.shortest,
            &mut self.data,
        );
        self.blocks.push(block);
        self.next = u64::from(block.last) + 1;
        self.waiting.clear();
        self.shortest = u16::MAX;
        Ok(())
    }
}
