//! A range of the file and its checksum.

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// The checksum of one range of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins.
    pub offset: u64,
    /// Bytes of the range.
    pub len: u64,
    /// XXH3-64 of the range.
    pub sum: u64,
}

impl Chunk {
    /// Makes the checksum fail: the range was derived from damaged bytes.
    pub(crate) fn spoil(&mut self) {
        self.sum = !self.sum;
    }

    /// Compares the checksum with bytes of the file; `None` stands for a range past its end.
    pub fn check(&self, bytes: Option<&[u8]>, what: &'static str) -> Result<()> {
        match bytes {
            Some(bytes) if xxh3_64(bytes) == self.sum => Ok(()),
            Some(_) => {
                let why = format!("the checksum of {} bytes does not match", self.len);
                Err(Error::corrupt(what, self.offset, why))
            }
            None => Err(Error::corrupt(
                what,
                self.offset,
                "the checksum covers bytes past the end of the file",
            )),
        }
    }
}

/// Bytes of a chunk; the last chunk of a stream may be shorter.
pub const CHUNK: u64 = 1 << 20;
