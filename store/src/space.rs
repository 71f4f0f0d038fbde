//! Room for frames: the file reaches past the last one with zeros.
//!
//! Zeros are written before the frames that take their place, and synced with the first group that follows them: a
//! disk that is full refuses before anything of a request was written, and most commits find a file that does not
//! grow. Not here: what is written into the room (`store`).

use amem_core::journal::frame;
use amem_core::journal::head::PAGE;

use crate::error::{Error, Result};
use crate::store::Store;

/// Bytes of zeros by which a journal grows at least.
const SPACE_MIN: u64 = 256 << 10;
/// Bytes of zeros by which a journal grows at most.
const SPACE_MAX: u64 = 1 << 20;

impl Store {
    /// Maps the file as long as it is now.
    pub(crate) fn map_again(&self) -> Result<(), String> {
        let len = self
            .file
            .len()
            .map_err(|e| format!("looking at the file: {e}"))?;
        let map = self
            .file
            .map(len)
            .map_err(|e| format!("mapping the file: {e}"))?;
        self.brain.grow(map);
        Ok(())
    }

    /// Sees to it that the file reaches past so many bytes of frames more with zeros.
    ///
    /// A disk that is full refuses here, before anything of the request was written: that poisons nothing.
    pub(crate) fn make_space(&mut self, bytes: u64) -> Result<()> {
        // A frame's header of zeros behind the last frame ends the chain for every reader.
        let needed = self.position.at + bytes + frame::HEADER as u64;
        if needed <= self.space_end {
            return Ok(());
        }
        // Small commits are spared the syncing of a file that grows; large ones the writing of zeros.
        let step = match bytes {
            0..SPACE_MIN => (self.space_end / 16).clamp(SPACE_MIN, SPACE_MAX),
            _ => 0,
        };
        let to = (needed + SPACE_MIN)
            .max(self.space_end + step)
            .next_multiple_of(PAGE);
        let zeros = vec![0; (1 << 20).min((to - self.space_end) as usize)];
        let mut at = self.space_end;
        while at < to {
            let part = &zeros[..zeros.len().min((to - at) as usize)];
            self.file
                .write_at(at, part)
                .map_err(|e| Error::disk("make room in", &self.file_name, e))?;
            at += part.len() as u64;
        }
        self.grown = true;
        if let Err(why) = self.map_again() {
            self.poison = Some(why.clone());
            return Err(Error::OutcomeUnknown { why });
        }
        self.space_end = to;
        Ok(())
    }
}
