//! Files that are written whole: made under another name, synced, and given their own only then.
//!
//! Promises: whoever looks finds what was there before, or all of the new file; when `publish` or `replace` returns
//! it is there durably; what fails before leaves nothing behind, and a crash leaves at most the other name, which the
//! next one under that name takes away (`create_over`) or refuses (`create`).

use std::io;
use std::sync::Arc;

use crate::disk::{Disk, File};
use crate::error::{Error, Result};

/// A file without a name of its own.
#[derive(Debug)]
pub struct Whole {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    /// What it is called until it has its name.
    tmp: String,
    is_named: bool,
}

impl Whole {
    /// Begins a file under another name, in the folder that its own will be in; refused if there is one.
    pub fn create(disk: Arc<dyn Disk>, tmp: &str) -> Result<Self> {
        let file = disk
            .create(tmp)
            .map_err(|e| Error::disk("create", tmp, e))?;
        Ok(Self {
            disk,
            file,
            tmp: tmp.to_owned(),
            is_named: false,
        })
    }

    /// The same for a name that nobody else uses: what a crash has left there goes.
    pub fn create_over(disk: Arc<dyn Disk>, tmp: &str) -> Result<Self> {
        match disk.remove(tmp) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::disk("remove", tmp, e)),
            _ => Self::create(disk, tmp),
        }
    }

    /// To be written to.
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Gives it a name in `folder` that no file has (`Error::Exists`), durably.
    pub fn publish(self, folder: &str, name: &str) -> Result<()> {
        self.name(folder, |disk, tmp| {
            disk.publish(tmp, name).map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => Error::Exists { name: name.into() },
                _ => Error::disk("name", name, e),
            })
        })
    }

    /// Gives it a name in `folder` that another file may have, which loses it in the same moment; durably.
    pub fn replace(self, folder: &str, name: &str) -> Result<()> {
        self.name(folder, |disk, tmp| {
            let done = disk.replace(tmp, name);
            done.map_err(|e| Error::disk("replace", name, e))
        })
    }

    fn name(
        mut self,
        folder: &str,
        name: impl FnOnce(&dyn Disk, &str) -> Result<()>,
    ) -> Result<()> {
        let synced = self.file.sync();
        synced.map_err(|e| Error::disk("sync", &self.tmp, e))?;
        name(&*self.disk, &self.tmp)?;
        self.is_named = true;
        let synced = self.disk.sync_folder(folder);
        synced.map_err(|e| {
            Error::disk(
                "sync",
                if folder.is_empty() {
                    "the folder"
                } else {
                    folder
                },
                e,
            )
        })
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if !self.is_named {
            // Whatever failed has been told; a file that stays is told by the next try.
            let _leftover = self.disk.remove(&self.tmp);
        }
    }
}

/// Writes a file whole in the place of what is there: `tmp` and `name` are in `folder`.
pub fn put(disk: &Arc<dyn Disk>, folder: &str, tmp: &str, name: &str, bytes: &[u8]) -> Result<()> {
    let new = Whole::create_over(disk.clone(), tmp)?;
    let written = new.file().write_at(0, bytes);
    written.map_err(|e| Error::disk("write", tmp, e))?;
    new.replace(folder, name)
}
