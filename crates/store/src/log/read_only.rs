//! A store that only reads: its file has what this version would lose, or it could not be recovered for want of room.
//!
//! Promises: views show every whole transaction of the file, and the brain can be removed; nothing is written to the
//! file. One that wants room is recovered by the first request after there is some; until then its file publishes what
//! its views show, where the file system can store a page.

use amem_format::Micros;

use crate::error::{Error, Result};
use crate::log::checkpoint::Checkpoint;
use crate::log::store::{ReadOnly, Store};
use crate::range;

impl Store {
    /// Why the store writes nothing, though it serves views; `None` if it writes.
    pub fn read_only(&self) -> Option<Error> {
        Some(match self.read_only.clone()? {
            ReadOnly::Newer(what) => amem_format::Error::NewerWrites { what }.into(),
            ReadOnly::NoRoom { bytes, why } => Error::NoRoom {
                name: self.file_name.clone(),
                bytes,
                why,
            },
        })
    }

    /// Checks what every write needs: the lock of the folder, a clock, numbers that are left, room.
    pub(crate) fn check_writable(&mut self, now: Micros) -> Result<()> {
        self.folder.check_lock()?;
        range::check_clock(now)?;
        if matches!(self.read_only, Some(ReadOnly::NoRoom { .. })) {
            self.recover_in_full()?;
        }
        match self.read_only() {
            Some(error) => Err(error),
            None => range::check_brain(&self.view()),
        }
    }

    /// Recovers the brain into a new file. Without room for that the store stays as it is, and only reads.
    pub(crate) fn recover_in_full(&mut self) -> Result<()> {
        let read_only = self.read_only.take();
        let built = self.clear_for_erase().and_then(|()| {
            let mut checkpoint = Checkpoint::begin(self)?;
            checkpoint.build()?;
            Ok(checkpoint)
        });
        let bytes = self.brain.mapped();
        let installed = match built {
            Ok(checkpoint) => self.install(checkpoint).map(drop),
            Err(e) => Err(e),
        };
        match installed {
            Ok(()) => {
                self.recovered = true;
                Ok(())
            }
            Err(e) if e.is_full() && self.poison.is_none() => {
                let why = e.to_string();
                self.read_only = Some(ReadOnly::NoRoom { bytes, why });
                Ok(())
            }
            Err(Error::NoRoom { bytes, why, .. }) if self.poison.is_none() => {
                self.read_only = Some(ReadOnly::NoRoom { bytes, why });
                Ok(())
            }
            Err(e) => {
                self.read_only = read_only;
                Err(e)
            }
        }
    }
}
