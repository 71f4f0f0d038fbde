//! Content check: the open file must have what this store wrote. `cp` over the file of an open brain keeps its name and
//! its inode, so the path check (`path_check`) finds nothing wrong, and the store would write behind content that is
//! gone.
//!
//! The check reads the length, two cells of the live page, and the checksums of the last frames of the last two groups:
//! three short reads a group, no sync. A copy of an earlier moment has another end of its journal in its live page; a
//! copy that overwrote the file while a group was written lacks the frames of the group before.
//!
//! Promises: nothing is answered after the file was overwritten, but for the group that was written in that moment; from
//! then on the file is neither written nor opened by this process (`Error::Overwritten`).
//! Not here: damage inside the base or in earlier frames, which checkpoints and `verify` find.

use std::io;

use amem_format::bytes::get_u64;
use amem_format::journal::live::{COMMITTED, HOME, LOOK};
use amem_format::journal::{frame, frame::Frame};

use crate::disk::File;
use crate::error::{Error, Result};
use crate::log::store::{OpenHandle, Store};

/// Bytes of the live page up to the end of the last cell that is read.
const CELLS: usize = HOME as usize + 8;

/// Where the checksum of a frame stands, from the start of the frame.
const CHECKSUM: u64 = 32;

/// What a store left in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileMark {
    /// Where the live page begins.
    pub(crate) page: u64,
    /// The cell that says whose file it is.
    pub(crate) home: u64,
    /// Its length.
    pub(crate) bytes: u64,
    /// Up to where frames are published.
    pub(crate) committed: u64,
}

/// The checksum of a frame that was synced, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameSeal {
    at: u64,
    checksum: u64,
}

impl FrameSeal {
    pub(crate) fn of(frame: &Frame<'_>) -> Self {
        Self {
            at: frame.payload_position - frame::HEADER as u64 + CHECKSUM,
            checksum: frame.checksum,
        }
    }
}

/// How the cells and the length of a file compare to a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// As this store left them: it is the only writer.
    Exactly,
    /// At least so far: the writer may have gone on since.
    AtLeast,
}

/// What is wrong with a file; `None` if it is as it was left.
fn compare(file: &dyn File, mark: &FileMark, expected: Expected) -> io::Result<Option<String>> {
    let is_exact = expected == Expected::Exactly;
    let bytes = file.len()?;
    if bytes < mark.bytes || is_exact && bytes != mark.bytes {
        let left = mark.bytes;
        return Ok(Some(format!("it has {bytes} bytes, and had {left}")));
    }
    let mut cells = [0; CELLS];
    if !read_exact(file, mark.page, &mut cells)? {
        return Ok(Some("it is shorter than it was".into()));
    }
    if get_u64(&cells, HOME as usize) != mark.home {
        return Ok(Some("its live page is that of another file".into()));
    }
    let committed = get_u64(&cells, COMMITTED as usize) & !LOOK;
    if committed < mark.committed || is_exact && committed != mark.committed {
        let wrote = mark.committed;
        return Ok(Some(format!(
            "its journal ends at byte {committed}, and had been written up to byte {wrote}"
        )));
    }
    Ok(None)
}

/// Fills a buffer; false if the file ends before that.
fn read_exact(file: &dyn File, mut at: u64, mut into: &mut [u8]) -> io::Result<bool> {
    while !into.is_empty() {
        match file.read_at(at, into)? {
            0 => return Ok(false),
            read => {
                at += read as u64;
                into = &mut into[read..];
            }
        }
    }
    Ok(true)
}

impl OpenHandle {
    /// What is wrong with the brain's file, if it is not what its writer left there when this handle was taken or later;
    /// `None` if nothing is.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn overwritten(&self) -> io::Result<Option<String>> {
        match &self.mark {
            Some(mark) => compare(&**self.file(), mark, Expected::AtLeast),
            None => Ok(None),
        }
    }
}

impl Store {
    /// What this store left in its file; none for one that does not write.
    pub(crate) fn file_mark(&self) -> Option<FileMark> {
        let page = self.brain.live_page().filter(|_| self.is_writing)?;
        Some(FileMark {
            page,
            home: self.home,
            bytes: self.space_end,
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
        if let Some(what) = compare(&*self.file, &mark, Expected::Exactly)? {
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

    /// Ends the writing of a file that another program overwrote. Nothing more is stored in it: what is there now may be
    /// all that is left of the brain.
    pub(crate) fn note_overwritten(&self, what: String) -> Error {
        self.folder.note_overwritten(self.file.id(), what.clone());
        Error::Overwritten {
            brain: self.name.clone(),
            what,
        }
    }
}
