//! A forward iterator over the postings of one term; skips blocks without unpacking them.

use super::{DecodedBlock, PostingBlock, Postings};
use crate::error::Result;

/// The id of a cursor past the last posting.
pub const END: u32 = u32::MAX;

/// A position in the postings of one term.
#[derive(Debug, Clone)]
pub struct PostingCursor<'a> {
    postings: Postings<'a>,
    decoded: DecodedBlock,
    block: u32,
    at: usize,
}

impl<'a> PostingCursor<'a> {
    /// A cursor at the first posting.
    pub fn new(postings: Postings<'a>) -> Result<Self> {
        let mut cursor = Self {
            postings,
            decoded: DecodedBlock::default(),
            block: 0,
            at: 0,
        };
        cursor.load(0)?;
        Ok(cursor)
    }

    /// The current event, or `END`.
    #[inline]
    pub fn id(&self) -> u32 {
        self.decoded.ids().get(self.at).copied().unwrap_or(END)
    }

    /// The term's frequency in the current event; 0 at the end.
    #[inline]
    pub fn tf(&self) -> u32 {
        self.decoded.tfs().get(self.at).copied().unwrap_or(0)
    }

    /// The bounds of the current block; `None` at the end.
    pub fn block(&self) -> Option<PostingBlock> {
        (self.block < self.postings.blocks()).then(|| self.postings.block(self.block))
    }

    /// Steps to the next posting.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.at += 1;
        if self.at >= self.decoded.ids().len() {
            self.load(self.block.saturating_add(1))?;
        }
        Ok(())
    }

    /// Moves forward to the first posting at or after `id`.
    #[inline]
    pub fn seek(&mut self, id: u32) -> Result<()> {
        if self.id() >= id {
            return Ok(());
        }
        if self.decoded.ids().last().is_none_or(|&last| last < id) {
            self.load(self.postings.seek_block(self.block, id))?;
        }
        let rest = &self.decoded.ids()[self.at.min(self.decoded.ids().len())..];
        self.at += rest.partition_point(|&at| at < id);
        Ok(())
    }

    /// Unpacks a block and moves to its first posting; past the last block, to the end.
    fn load(&mut self, block: u32) -> Result<()> {
        self.block = block.min(self.postings.blocks());
        self.at = 0;
        if self.block < self.postings.blocks() {
            self.postings.decode(self.block, &mut self.decoded)
        } else {
            self.decoded = DecodedBlock::default();
            Ok(())
        }
    }
}
