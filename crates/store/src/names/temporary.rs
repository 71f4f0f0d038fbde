//! Temporary files: new files of ours before they have a brain's name.
//!
//! A temporary file is removed unless it gets a name: one that no file has (`publish`), or one that it takes from
//! another file (`take_name`), which is displaced then.

use std::io;
use std::sync::Arc;

use crate::disk::{File, FileId, Stamp};
use crate::error::{Error, Result};
use crate::names::displaced::{DisplacedFile, out_of_swap, swap_path};
use crate::names::folder::{Folder, SUFFIX, TMP};

/// Stands for the brain in the name of a file that is only read.
pub(crate) const READ_ONLY: &str = "to-be-read";

/// A new file, which is removed unless it gets a name.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    folder: Folder,
    brain: String,
    file: Arc<dyn File>,
    path: String,
    is_named: bool,
}

impl TemporaryFile {
    /// A new file for a brain. `expected`: the file that will come out, if that is not the brain's own.
    pub(crate) fn create(folder: &Folder, brain: &str, expected: Option<&Stamp>) -> Result<Self> {
        let (disk, path) = (folder.disk(), folder.tmp_name(brain));
        let file = disk
            .create(&path)
            .map_err(|e| Error::disk("create", &path, e))?;
        let mut new = Self {
            folder: folder.clone(),
            brain: brain.to_owned(),
            path,
            is_named: false,
            file,
        };
        let swap = swap_path(brain, new.file.id(), expected);
        disk.publish(&new.path, &swap)
            .map_err(|e| Error::disk("rename", &new.path, e))?;
        new.path = swap;
        Ok(new)
    }

    pub(crate) fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Its path for now, relative to the folder.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Gives it a name that no file has.
    pub(crate) fn publish(mut self, name: &str) -> io::Result<()> {
        let published = self.folder.disk().publish(&self.path, name);
        self.is_named = published.is_ok();
        published
    }

    /// Gives it the brain's name, which another file has, in one step. `own`: the brain's own file.
    ///
    /// Where the file system cannot exchange names, the other file gets a second name before. A file that takes the
    /// brain's name between the two steps, microseconds apart, is overwritten.
    pub(crate) fn take_name(mut self, own: Option<FileId>) -> io::Result<DisplacedFile> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        let (path, is_exchanged) = match disk.exchange(&self.path, &to) {
            Ok(()) => (self.path.clone(), true),
            Err(e) if e.kind() == io::ErrorKind::Unsupported => (self.replace(&to, own)?, false),
            Err(e) => return Err(e),
        };
        self.is_named = true;
        Ok(DisplacedFile {
            folder: self.folder.clone(),
            brain: self.brain.clone(),
            ours: self.file.id(),
            path,
            is_exchanged,
        })
    }

    /// Gives the other file a second name, then takes its first.
    fn replace(&self, to: &str, own: Option<FileId>) -> io::Result<String> {
        let (disk, out) = (self.folder.disk(), out_of_swap(&self.path));
        disk.link(to, &out)?;
        let is_own = own.is_some_and(|own| disk.identity(&out).is_ok_and(|id| id == own));
        let replaced = if is_own {
            disk.replace(&self.path, to)
        } else {
            // A file that is not ours must not lose its name to a power cut before it has another durably.
            disk.sync_folder(TMP)
                .and_then(|()| disk.replace(&self.path, to))
        };
        // A failed operation may have happened: then this is the only name that the other file has.
        let has_both = || Ok::<_, io::Error>(disk.identity(to)? == disk.identity(&out)?);
        if replaced.is_err() && has_both().unwrap_or(false) {
            // A file with two names would not be adopted.
            drop(disk.remove(&out));
        }
        replaced.map(|()| out)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // After an exchange that failed and happened nonetheless, the file there is not ours.
        if !self.is_named {
            self.folder.discard(&self.path, self.file.id());
        }
    }
}
