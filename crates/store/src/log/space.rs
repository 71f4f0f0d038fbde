//! Room for frames: the file reaches past the last one with zeros.
//!
//! Zeros are written before the frames that overwrite them, and synced with the first group that follows. So a full
//! disk refuses before anything of a request is written, and most commits do not grow the file.
//! Not here: the frames (`frames`).

use std::io;

use amem_format::journal::frame;
use amem_format::journal::head::PAGE;

use crate::disk::File;
use crate::error::{Error, Result};
use crate::log::store::Store;

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
    /// Maps the first `len` bytes of the file, which must exist.
    pub(crate) fn map_to(&self, len: u64) -> Result<(), String> {
        self.brain
            .reach(len, || self.file.map(len))
            .map_err(|e| format!("mapping the file: {e}"))
    }

    /// Extends the file with zeros so that `bytes` more of frames fit.
    ///
    /// A disk that is full refuses here, before anything of the request was written: that poisons nothing.
    pub(crate) fn make_space(&mut self, bytes: u64) -> Result<()> {
        // A frame's header of zeros behind the last frame ends the chain for every reader.
        let needed = self.position.at + bytes + frame::HEADER as u64;
        if needed <= self.space_end {
            return Ok(());
        }
        // Small commits avoid the sync of a growing file; large ones avoid writing zeros.
        let preallocation = self.folder.disk().preallocation();
        let step = if bytes < preallocation.min {
            (self.space_end / 16).clamp(preallocation.min, preallocation.max)
        } else {
            0
        };
        let to = (needed + preallocation.min)
            .max(self.space_end + step)
            .next_multiple_of(PAGE);
        self.space_tried = self.space_tried.max(to);
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
