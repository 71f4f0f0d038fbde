//! Content check: the open file must have what this store wrote. `cp` over the file of an open brain keeps its name and
//! its inode, so the path check (`path_check`) finds nothing wrong, and the store would write behind content that is
//! gone.
//!
//! The check compares the file with its mark (`file_mark`), and reads the checksums of the last frames of the last two
//! groups. A copy of an earlier moment has another end of its journal in its live page; a copy that overwrote the file
//! while a group was written lacks the frames of the group before.
//!
//! Promises: nothing is answered after the file was overwritten, but for the group that was written in that moment;
//! from then on the file is neither written nor opened by this process (`Error::Overwritten`).
//! Not here: damage inside the base or in earlier frames, which checkpoints and `verify` find.

use std::io;

use crate::error::{Error, Result};
use crate::log::file_mark::{Closeness, FileMark, FrameSeal, compare, read_exact};
use crate::log::store::Store;

impl Store {
    /// What this store left in its file; none for one that does not write.
    pub(crate) fn file_mark(&self) -> Option<FileMark> {
        let page = self.brain.live_page().filter(|_| self.is_writing)?;
        Some(FileMark {
            page,
            home: self.home,
            bytes: self.space_end,
            bytes_max: self.space_tried,
            committed: self.published,
        })
    }

    /// The last frame of the journal; none if it has none.
    pub(crate) fn newest_seal(&self) -> Option<FrameSeal> {
        let log = &self.brain.delta().log;
        let newest = log.get(log.published().checked_sub(1)?)?;
        let frames = self.brain.frames_at(newest.position, newest.end).ok()?;
        frames.last().map(FrameSeal::of)
    }

    /// Refuses to go on if the file is not as this store left it.
    pub(crate) fn check_content(&self) -> Result<()> {
        if let Some(error) = self.overwritten() {
            return Err(error);
        }
        let failed = |e| Error::disk("read", &self.file_name, e);
        match self.compare().map_err(failed)? {
            None => Ok(()),
            Some(what) => Err(self.note_overwritten(what)),
        }
    }

    /// What is wrong with the file; `None` if it is as this store left it.
    pub(crate) fn compare(&self) -> io::Result<Option<String>> {
        let Some(mark) = self.file_mark() else {
            return Ok(None);
        };
        if let Some(what) = compare(&*self.file, &mark, Closeness::Exactly)? {
            return Ok(Some(what));
        }
        for seal in self.seals.iter().flatten() {
            let mut found = [0; 8];
            let is_there = read_exact(&*self.file, seal.at, &mut found)?;
            if !is_there || u64::from_le_bytes(found) != seal.checksum {
                let at = seal.at;
                return Ok(Some(format!("the commit at byte {at} is not there")));
            }
        }
        Ok(None)
    }

    /// Looks, after a checkpoint has found damage, whether commits of the journal are lost: whatever is written behind
    /// them would be lost with them, at the latest when the brain is opened again.
    ///
    /// # Errors
    /// `Overwritten` if so.
    pub fn check_journal(&self) -> Result<()> {
        self.check_content()?;
        let start = self.brain.start().filter(|_| self.is_writing);
        let rechecked = start.map(|start| self.brain.recheck(start, self.position.at));
        match rechecked {
            Some(Err(e)) => Err(self.note_overwritten(e.to_string())),
            _ => Ok(()),
        }
    }

    /// The answer to every request once the file was found overwritten; `None` as long as it was not.
    pub fn overwritten(&self) -> Option<Error> {
        let what = self.folder.why_overwritten(self.file.id())?;
        Some(Error::Overwritten {
            brain: self.name.clone(),
            what,
        })
    }

    /// Ends the writing of a file that another program overwrote. Nothing more is stored in it: what is there now may
    /// be all that is left of the brain.
    pub(crate) fn note_overwritten(&self, what: String) -> Error {
        self.folder.note_overwritten(self.file.id(), what.clone());
        Error::Overwritten {
            brain: self.name.clone(),
            what,
        }
    }
}
