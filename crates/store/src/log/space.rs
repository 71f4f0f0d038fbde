//! Room for frames: the file reaches past the last one with zeros.
//!
//! Zeros are written before the frames that take their place, and synced with the first group that follows them: a
//! disk that is full refuses before anything of a request was written, and most commits find a file that does not
//! grow. Not here: what is written into the room (`store`).

use std::io;

use amem_format::journal::frame;
use amem_format::journal::head::PAGE;

use crate::disk::File;
use crate::error::{Error, Result};
use crate::log::checkpoint::LAST_ROUND_BYTES_MAX;
use crate::log::store::Store;

/// Bytes of zeros by which a journal grows at least.
const SPACE_MIN: u64 = 256 << 10;
/// Bytes of zeros by which a journal grows at most.
const SPACE_MAX: u64 = 1 << 20;

/// How many bytes of zeros files get beyond what is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// A journal grows by so many at least.
    pub min: u64,
    /// A journal grows by so many at most, unless one commit needs more.
    pub max: u64,
    /// A new generation has so many for the last round of what it takes over.
    pub last_round: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            min: SPACE_MIN,
            max: SPACE_MAX,
            last_round: LAST_ROUND_BYTES_MAX,
        }
    }
}

/// Fills a part of a file with zeros.
pub(crate) fn write_zeros(file: &dyn File, from: u64, to: u64) -> io::Result<()> {
    static ZEROS: [u8; 1 << 20] = [0; 1 << 20];
    let mut at = from;
    while at < to {
        let part = &ZEROS[..ZEROS.len().min((to - at) as usize)];
        file.write_at(at, part)?;
        at += part.len() as u64;
    }
    Ok(())
}

impl Store {
    /// Has the first `len` bytes of the file, which it has, mapped as they are now.
    pub(crate) fn map_to(&self, len: u64) -> Result<(), String> {
        self.brain
            .reach(len, || self.file.map(len))
            .map_err(|e| format!("mapping the file: {e}"))
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
        let room = self.folder.disk().room();
        let step = if bytes < room.min {
            (self.space_end / 16).clamp(room.min, room.max)
        } else {
            0
        };
        let to = (needed + room.min)
            .max(self.space_end + step)
            .next_multiple_of(PAGE);
        write_zeros(&*self.file, self.space_end, to)
            .map_err(|e| Error::disk("make room in", &self.file_name, e))?;
        self.grown = true;
        if let Err(why) = self.map_to(to) {
            self.poison(why.clone());
            return Err(Error::OutcomeUnknown { why });
        }
        self.space_end = to;
        Ok(())
    }
}
