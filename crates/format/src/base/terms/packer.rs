//! Postings on their way into blocks.

use super::{BLOCK_POSTINGS, PostingBlock};
use crate::error::{Error, Result};

/// Packs the postings of one term, or those after the blocks that are kept.
#[derive(Debug)]
pub(super) struct PostingPacker {
    /// The id after the last one packed.
    next: u64,
    /// Bytes before `data`.
    bytes_before: u64,
    waiting: Vec<(u32, u32)>,
    shortest: u16,
    pub(super) blocks: Vec<PostingBlock>,
    pub(super) data: Vec<u8>,
    pub(super) count: u32,
}

impl PostingPacker {
    /// A packer for postings from the id `next` on, behind as many bytes of the same term.
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

    /// Adds a posting of an event whose text has `length` terms.
    pub(super) fn push(&mut self, id: u32, tf: u32, length: u16) -> Result<()> {
        self.waiting.push((id, tf));
        self.shortest = self.shortest.min(length);
        self.count += 1;
        if self.waiting.len() == BLOCK_POSTINGS as usize {
            self.flush()?;
        }
        Ok(())
    }

    /// Packs what waits.
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
