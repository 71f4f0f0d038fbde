//! Untracked files: files under a brain's name that are not the brain's own.
//!
//! Promises: an untracked file is only read, and its bytes are copied before anything in them is believed; one that is
//! written to meanwhile keeps its name. After its brain has taken the name, the file is removed only if it was not
//! written to since.

use std::cell::OnceCell;
use std::io;

use crate::disk::{SourceFile, Stamp};
use crate::error::{Error, Result};
use crate::names::displaced::DisplacedFile;
use crate::names::folder::{Folder, SUFFIX, TMP, file_name};
use crate::names::ownership::{SourcePart, check_claims, read_all};
use crate::names::temporary::TemporaryFile;

/// A file under a brain's name that the brain's own file displaces.
#[derive(Debug)]
pub(crate) struct UntrackedFile {
    folder: Folder,
    name: String,
    source: Box<dyn SourceFile>,
    /// How it was when it was opened, or seen before that.
    stamp: Stamp,
    /// Where it stands once it was displaced.
    displaced: OnceCell<DisplacedFile>,
}

impl UntrackedFile {
    /// Opens the file under a brain's name, if it is as it was `seen`.
    pub(crate) fn open_as_seen(folder: &Folder, name: &str, seen: Stamp) -> Result<Self> {
        let untracked = Self::new(folder, name, open(folder, name)?, seen);
        untracked.check()?;
        Ok(untracked)
    }

    /// Opens the file under a brain's name; none if there is none.
    pub(crate) fn open_any(folder: &Folder, name: &str) -> Result<Option<Self>> {
        let source = match open(folder, name) {
            Ok(source) => source,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let stamp = source
            .stamp()
            .map_err(|e| Error::disk("look at", name, e))?;
        Ok(Some(Self::new(folder, name, source, stamp)))
    }

    /// Opens the file under a brain's name, which has another in quarantine as well.
    pub(crate) fn open_named_twice(folder: &Folder, name: &str) -> Result<Self> {
        let source = source_of(folder, name, false)?;
        let stamp = source
            .stamp()
            .map_err(|e| Error::disk("look at", name, e))?;
        Ok(Self::new(folder, name, source, stamp))
    }

    fn new(folder: &Folder, name: &str, source: Box<dyn SourceFile>, stamp: Stamp) -> Self {
        Self {
            folder: folder.clone(),
            name: name.to_owned(),
            source,
            stamp,
            displaced: OnceCell::new(),
        }
    }

    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.stamp.bytes
    }

    /// Reads it, part by part; refuses if it is written to meanwhile.
    pub(crate) fn copy(&self, to: impl FnMut(SourcePart<'_>) -> Result<()>) -> Result<()> {
        check_claims(&*self.source, self.bytes())?;
        read_all(&*self.source, self.bytes(), to)?;
        self.check()
    }

    /// Gives a finished file of ours the name that this one has, in one step.
    pub(crate) fn displace(&self, new: TemporaryFile) -> Result<()> {
        self.check()?;
        let displaced = new.take_name(None).map_err(self.failed("exchange"))?;
        let found = displaced.id().map_err(self.failed("look at"))?;
        if found.is_none_or(|id| id == self.stamp.id) && self.check().is_ok() {
            // Its new name is durable before that of the brain is.
            if let Err(e) = self.folder.disk().sync_folder(TMP) {
                displaced.undo().map_err(self.failed("exchange"))?;
                return Err(self.failed("put aside")(e));
            }
            // A file is displaced once.
            drop(self.displaced.set(displaced));
            return Ok(());
        }
        // Another file took the name in the last moment, or this one was written to: the caller looks again.
        displaced.undo().map_err(self.failed("exchange"))?;
        Err(self.changing())
    }

    /// Undoes `displace`.
    pub(crate) fn restore_name(&self) -> io::Result<()> {
        self.displaced.get().map_or(Ok(()), DisplacedFile::undo)
    }

    /// The file, once it was displaced.
    pub(crate) fn into_original(mut self) -> Option<OriginalFile> {
        let displaced = self.displaced.take()?;
        Some(OriginalFile {
            untracked: self,
            displaced,
            is_final: false,
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

fn open(folder: &Folder, name: &str) -> Result<Box<dyn SourceFile>> {
    source_of(folder, name, true)
}

/// Opens the file under a brain's name; `alone`: one with other names is refused.
fn source_of(folder: &Folder, name: &str, alone: bool) -> Result<Box<dyn SourceFile>> {
    let file = file_name(name)?;
    folder
        .disk()
        .source(&file, alone)
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Error::NotFound { name: name.into() },
            io::ErrorKind::InvalidInput => Error::Rejected {
                name: name.into(),
                why: e.to_string(),
            },
            _ => Error::disk("look at", file, e),
        })
}

/// The file that a brain was made of, which has lost its name to the brain's own. A process that still had it open may
/// have written to it since: `finalise` removes it, or puts it into quarantine.
#[derive(Debug)]
pub struct OriginalFile {
    untracked: UntrackedFile,
    displaced: DisplacedFile,
    is_final: bool,
}

impl OriginalFile {
    /// Removes the file; one that was written to after it had been copied goes to quarantine. Returns its path there,
    /// relative to the folder. If that fails the file stays for `Folder::clear_leftovers`.
    pub fn finalise(mut self) -> Result<Option<String>> {
        self.finalise_now()
    }

    /// Removes the name that it got when it was displaced: it has another.
    pub(crate) fn remove_name(mut self) -> Result<()> {
        self.is_final = true;
        let (untracked, disk) = (&self.untracked, self.untracked.folder.disk());
        let removed = self.displaced.remove();
        if removed.is_err() {
            self.displaced.leave();
        }
        removed.map_err(untracked.failed("remove"))?;
        disk.sync_folder(TMP).map_err(untracked.failed("sync"))
    }

    fn finalise_now(&mut self) -> Result<Option<String>> {
        self.is_final = true;
        let done = self.remove_or_quarantine();
        if done.is_err() {
            self.displaced.leave();
        }
        done
    }

    fn remove_or_quarantine(&self) -> Result<Option<String>> {
        let untracked = &self.untracked;
        let disk = untracked.folder.disk();
        if untracked.check().is_err() {
            let path = self
                .displaced
                .quarantine()
                .map_err(untracked.failed("put into quarantine"))?;
            // It is in quarantine whether this fails or not: the next start would find its old name again.
            drop(disk.sync_folder(TMP));
            return Ok(Some(path));
        }
        self.displaced
            .remove()
            .map_err(untracked.failed("remove"))?;
        disk.sync_folder(TMP).map_err(untracked.failed("sync"))?;
        Ok(None)
    }
}

impl Drop for OriginalFile {
    fn drop(&mut self) {
        if !self.is_final {
            // On an error the file stays as a leftover.
            drop(self.finalise_now());
        }
    }
}
