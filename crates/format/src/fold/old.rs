//! A table of the base as it is taken over: its bytes, and the checksums that they had.

use std::cell::Cell;
use std::ops::Range;

use super::image::{CHUNK, Chunk};
use crate::base::Base;
use crate::base::checksums::Checksums;
use crate::error::{Error, Result};

/// The bytes of one stream of an older base.
pub(super) struct Old<'b> {
    what: &'static str,
    start: u64,
    bytes: &'b [u8],
    /// Those of its chunks, in order.
    chunks: Vec<Chunk>,
    /// The chunk looked at last, and whether its checksum held.
    seen: Cell<Option<(u64, bool)>>,
}

impl<'b> Old<'b> {
    /// The stream that stands at `start..end` of a base.
    pub(super) fn new(base: &'b Base, what: &'static str, start: u64, end: u64) -> Result<Self> {
        let len = end.saturating_sub(start);
        let bytes = base.map().slice(start, len).ok_or(Error::Truncated {
            what,
            needed: end,
            len: base.map().len(),
        })?;
        // Without checksums nothing holds, and all that is copied stays doubtful.
        let chunks = match base.checksums() {
            Ok(all) => all
                .iter()
                .filter(|c| (start..end).contains(&c.offset))
                .collect(),
            Err(_) => Vec::new(),
        };
        Ok(Self {
            what,
            start,
            bytes,
            chunks,
            seen: Cell::new(None),
        })
    }

    /// All of its bytes.
    pub(super) fn all(&self) -> &'b [u8] {
        self.bytes
    }

    /// Some of its bytes.
    pub(super) fn bytes(&self, range: Range<u64>) -> Result<&'b [u8]> {
        self.bytes
            .get(range.start as usize..range.end as usize)
            .ok_or_else(|| {
                let why = format!("{} bytes reach past its end", range.end - range.start);
                Error::corrupt(self.what, self.start + range.start, why)
            })
    }

    /// The checksum of the whole chunk that begins at a position.
    pub(super) fn sum(&self, at: u64) -> Option<u64> {
        self.chunk(at)
            .filter(|chunk| chunk.offset == self.start + at && chunk.len == CHUNK)
            .map(|chunk| chunk.sum)
    }

    /// Whether the checksum over the byte at a position holds.
    pub(super) fn holds(&self, at: u64) -> bool {
        let number = at / CHUNK;
        if let Some((seen, held)) = self.seen.get()
            && seen == number
        {
            return held;
        }
        let held = self.chunk(at).is_some_and(|chunk| {
            let from = chunk.offset - self.start;
            let bytes = self
                .bytes
                .get(from as usize..from.saturating_add(chunk.len) as usize);
            Checksums::check(chunk, bytes, self.what).is_ok()
        });
        self.seen.set(Some((number, held)));
        held
    }

    fn chunk(&self, at: u64) -> Option<Chunk> {
        let chunk = *self.chunks.get((at / CHUNK) as usize)?;
        (chunk.offset == self.start + at / CHUNK * CHUNK).then_some(chunk)
    }
}
