//! Files that somebody put into the folder under a brain's name: whether one is ours, and how one that is not becomes
//! a brain.
//!
//! Promises: a file that is not ours is only read, and its bytes are copied before anything in them is believed; the
//! brain that is made of it has an inode of its own, and takes the name in one step, once it is durable; a file that
//! was written to meanwhile keeps its name. What was adopted is taken away only if nobody wrote to it afterwards.
//! Not here: when to look (`amemd`).

use std::cell::OnceCell;
use std::io;

use amem_format::base::section::tag;
use amem_format::bytes::{get_u32, get_u64};
use amem_format::journal::{head, live};
use amem_format::limits::SECTIONS_MAX;
use uuid::Uuid;

use crate::disk::{Source, Stamp};
use crate::error::{Error, Result};
use crate::names::folder::{Folder, SUFFIX, TMP, file_name};
use crate::names::incoming::{Imported, Incoming};
use crate::names::temporary::{Out, Unnamed};

/// Bytes that are read at a time.
const PART: usize = 1 << 20;
/// Bytes in front of a section: tag and length.
const SECTION_HEAD: u64 = 9;

/// Whose a file is that has a brain's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The brain's own file: it may be opened.
    Ours,
    /// Somebody else's, or a copy of ours: it may be adopted.
    Other(Stamp),
}

/// A file that was put under a brain's name.
#[derive(Debug)]
pub(crate) struct Placed {
    folder: Folder,
    name: String,
    source: Box<dyn Source>,
    /// How it was when it was seen.
    stamp: Stamp,
    /// What came out when it gave way.
    out: OnceCell<Out>,
}

/// Looks at the file under a brain's name. `NotFound` if there is none; a link or a special file is `NotAdopted`.
pub fn standing(folder: &Folder, name: &str) -> Result<Standing> {
    let source = open(folder, name, false)?;
    let failed = |e| Error::disk("look at", name, e);
    let stamp = source.stamp().map_err(failed)?;
    let home = home(&*source, stamp.bytes).map_err(failed)?;
    Ok(match home {
        Some(home) if home == folder.home_of(name, stamp.id) => Standing::Ours,
        _ => Standing::Other(stamp),
    })
}

/// Whether a file is, or was, that of a brain of ours, and how it is.
pub(crate) fn look(folder: &Folder, path: &str, brain: &str) -> io::Result<(bool, Stamp)> {
    let source = folder.disk().source(path, false)?;
    let stamp = source.stamp()?;
    let home = home(&*source, stamp.bytes)?;
    let ours = home == Some(folder.home_of(brain, stamp.id));
    Ok((ours, stamp))
}

/// Makes a brain of the file under its name, if that is still as it was seen. What it was made of comes back, where the
/// file system can exchange names.
///
/// `embed`: texts of a file without vectors get those of the built-in embedder.
pub fn adopt(
    folder: &Folder,
    name: &str,
    seen: Stamp,
    embed: bool,
) -> Result<(Imported, Option<Original>)> {
    let placed = Placed {
        folder: folder.clone(),
        name: name.to_owned(),
        source: open(folder, name, true)?,
        stamp: seen,
        out: OnceCell::new(),
    };
    placed.check()?;
    let mut incoming = Incoming::of_placed(folder, name, placed)?;
    incoming.copy()?;
    incoming.finish_placed(embed)
}

/// The file under a brain's name, to give way to another; none if there is none.
pub(crate) fn place(folder: &Folder, name: &str) -> Result<Option<Placed>> {
    let source = match open(folder, name, true) {
        Ok(source) => source,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(e) => return Err(e),
    };
    let stamp = source
        .stamp()
        .map_err(|e| Error::disk("look at", name, e))?;
    Ok(Some(Placed {
        folder: folder.clone(),
        name: name.to_owned(),
        source,
        stamp,
        out: OnceCell::new(),
    }))
}

fn open(folder: &Folder, name: &str, alone: bool) -> Result<Box<dyn Source>> {
    let file = file_name(name)?;
    folder
        .disk()
        .source(&file, alone)
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Error::NotFound { name: name.into() },
            io::ErrorKind::InvalidInput => Error::NotAdopted {
                name: name.into(),
                why: e.to_string(),
            },
            _ => Error::disk("look at", file, e),
        })
}

/// What stands in a file's live page about whose it is; a file without a live page has nothing.
fn home(source: &dyn Source, len: u64) -> io::Result<Option<u64>> {
    let Some((at, _)) = section(source, len, head::TAG)? else {
        return Ok(None);
    };
    let Some(cell) = at.checked_add(head::PAGE + live::HOME - SECTION_HEAD) else {
        return Ok(None);
    };
    let mut bytes = [0; 8];
    Ok(read(source, cell, &mut bytes)?.then(|| u64::from_le_bytes(bytes)))
}

/// Lineage and number of events of a brain's base, as its file says.
pub(crate) fn told(source: &dyn Source, len: u64) -> io::Result<Option<(Uuid, u64)>> {
    let (mut lineage, mut header) = ([0; 16], [0; 64]);
    let Some((at, 16..)) = section(source, len, tag::IDENTITY)? else {
        return Ok(None);
    };
    let whole = read(source, at, &mut lineage)? && read(source, 0, &mut header)?;
    Ok(whole.then(|| (Uuid::from_bytes(lineage), get_u64(&header, 16))))
}

/// Where the bytes of a section of the native layout begin, and how many it says there are. Every step is bounded by
/// the file, and by how many sections one may have.
fn section(source: &dyn Source, len: u64, tag: u8) -> io::Result<Option<(u64, u64)>> {
    let mut header = [0; 64];
    if !read(source, 0, &mut header)? || header[..4] != *b"AMEM" {
        return Ok(None);
    }
    let vectors = get_u64(&header, 16).checked_mul(4 * u64::from(get_u32(&header, 8)));
    let mut at = vectors.and_then(|bytes| get_u64(&header, 56).checked_add(bytes));
    for _ in 0..=SECTIONS_MAX {
        let Some(from) = at.filter(|at| *at < len) else {
            return Ok(None);
        };
        let mut head = [0; SECTION_HEAD as usize];
        if !read(source, from, &mut head)? {
            return Ok(None);
        }
        let (bytes, found) = (get_u64(&head, 1), from + SECTION_HEAD);
        if head[0] == tag {
            return Ok(Some((found, bytes)));
        }
        at = found.checked_add(bytes);
    }
    Ok(None)
}

/// Reads a file of so many bytes, part by part.
pub(crate) fn read_all(
    source: &dyn Source,
    len: u64,
    mut to: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut part = vec![0; PART.min(usize::try_from(len).unwrap_or(PART))];
    let mut at = 0;
    while at < len {
        let read = source.read_at(at, &mut part);
        match read.map_err(|e| Error::disk("read", "a file", e))? {
            0 => break,
            read => {
                to(&part[..read])?;
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// Fills a buffer; false if the file ends before that.
fn read(source: &dyn Source, mut at: u64, mut into: &mut [u8]) -> io::Result<bool> {
    while !into.is_empty() {
        match source.read_at(at, into)? {
            0 => return Ok(false),
            read => {
                at += read as u64;
                into = &mut into[read..];
            }
        }
    }
    Ok(true)
}

impl Placed {
    /// How it was when it was seen.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.stamp.bytes
    }

    /// Reads it, part by part; refuses if somebody writes to it meanwhile.
    pub(crate) fn copy(&self, to: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        read_all(&*self.source, self.bytes(), to)?;
        self.check()
    }

    /// Gives a finished file of ours the name that this one has, in one step.
    pub(crate) fn give_way(&self, new: Unnamed) -> Result<()> {
        self.check()?;
        let out = new.take_name(None).map_err(self.failed("exchange"))?;
        let found = out.id().map_err(self.failed("look at"))?;
        if found.is_none_or(|id| id == self.stamp.id) && self.check().is_ok() {
            // It is in its new place before the brain is in its own.
            if let Err(e) = self.folder.disk().sync_folder(TMP) {
                out.undo().map_err(self.failed("exchange"))?;
                return Err(self.failed("keep")(e));
            }
            // There is no second exchange of one file.
            drop(self.out.set(out));
            return Ok(());
        }
        // Another file took the name in the last moment, or this one was written to: it is looked at anew.
        out.undo().map_err(self.failed("exchange"))?;
        Err(self.changing())
    }

    /// Undoes `give_way`.
    pub(crate) fn come_back(&self) -> io::Result<()> {
        self.out.get().map_or(Ok(()), Out::undo)
    }

    /// The file that gave way.
    pub(crate) fn into_original(mut self) -> Option<Original> {
        let out = self.out.take()?;
        Some(Original {
            placed: self,
            out,
            settled: false,
        })
    }

    /// Refuses a file that is not as it was seen.
    fn check(&self) -> Result<()> {
        match self.source.stamp() {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            Ok(_) => Err(self.changing()),
            Err(e) => Err(self.failed("look at")(e)),
        }
    }

    fn changing(&self) -> Error {
        Error::Changing {
            name: self.name.clone(),
        }
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> Error + use<> {
        let name = format!("{}{SUFFIX}", self.name);
        move |e| Error::disk(action, name.clone(), e)
    }
}

/// A file of which a brain was made, which has lost its name to it. Whoever was still writing to it, unseen, may have
/// written more: it is taken away, or kept, by `settle`.
#[derive(Debug)]
pub struct Original {
    placed: Placed,
    out: Out,
    settled: bool,
}

impl Original {
    /// Takes the file away, for good; one that was written to after it had been copied is kept. Gives the name under
    /// which, relative to the folder. Where that fails the file is left (`Folder::clear_left`).
    pub fn settle(mut self) -> Result<Option<String>> {
        self.settle_now()
    }

    fn settle_now(&mut self) -> Result<Option<String>> {
        self.settled = true;
        let done = self.take_away();
        if done.is_err() {
            self.out.leave();
        }
        done
    }

    fn take_away(&self) -> Result<Option<String>> {
        let placed = &self.placed;
        let disk = placed.folder.disk();
        if placed.check().is_err() {
            let kept = self.out.keep().map_err(placed.failed("keep"))?;
            // It is kept whether this fails or not: the next start would find its old name again.
            drop(disk.sync_folder(TMP));
            return Ok(kept);
        }
        self.out.remove().map_err(placed.failed("remove"))?;
        disk.sync_folder(TMP).map_err(placed.failed("sync"))?;
        Ok(None)
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        if !self.settled {
            // What can't be settled now is left, and looked at again.
            drop(self.settle_now());
        }
    }
}
