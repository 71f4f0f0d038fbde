//! A table of the older base as a copy source: its bytes and their checksums.

use std::cell::Cell;
use std::ops::Range;

use super::chunk::{CHUNK, Chunk};
use crate::error::{Error, Result};

/// The bytes of a table in an older base.
pub(crate) struct SourceTable<'b> {
    what: &'static str,
    start: u64,
    bytes: &'b [u8],
    /// In order, one for each chunk of the table.
    chunks: Vec<Chunk>,
    /// The chunk checked last, and whether its checksum was right.
    seen: Cell<Option<(u64, bool)>>,
}

impl<'b> SourceTable<'b> {
    /// The table at `start`, with the checksums of its chunks.
    pub(crate) fn new(what: &'static str, start: u64, bytes: &'b [u8], chunks: Vec<Chunk>) -> Self {
        Self {
            what,
            start,
            bytes,
            chunks,
            seen: Cell::new(None),
        }
    }

    pub(crate) fn all(&self) -> &'b [u8] {
        self.bytes
    }

    pub(crate) fn bytes(&self, range: Range<u64>) -> Result<&'b [u8]> {
        self.bytes
            .get(range.start as usize..range.end as usize)
            .ok_or_else(|| {
                let why = format!("{} bytes extend past its end", range.end - range.start);
                Error::corrupt(self.what, self.start + range.start, why)
            })
    }

    /// The checksum of the whole chunk that begins at `at`.
    pub(crate) fn sum(&self, at: u64) -> Option<u64> {
        self.chunk(at)
            .filter(|chunk| chunk.offset == self.start + at && chunk.len == CHUNK)
            .map(|chunk| chunk.sum)
    }

    /// True if the chunk with the byte at `at` matches its checksum.
    pub(crate) fn holds(&self, at: u64) -> bool {
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
            chunk.check(bytes, self.what).is_ok()
        });
        self.seen.set(Some((number, held)));
        held
    }

    fn chunk(&self, at: u64) -> Option<Chunk> {
        let chunk = *self.chunks.get((at / CHUNK) as usize)?;
        (chunk.offset == self.start + at / CHUNK * CHUNK).then_some(chunk)
    }
}
