//! The brain's name: taking it away, and whether it is still that of the file that we write to: `rm`, `mv` and
//! `cp -f` would leave us writing to a file without a name.
//!
//! Promises: a file that was taken away is noticed before anything more is answered, and what it held is
//! saved from the open file under a name of its own.

use std::io;

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::folder::{RECOVERED, SUFFIX};
use crate::store::Store;

/// What a look at the brain's name shows.
pub(crate) enum Place {
    /// Our file.
    Ours,
    /// It can't be looked at now.
    Unknown(io::Error),
    /// Another file, or none; in words.
    Lost(String),
}

impl Store {
    /// Looks at the brain's name.
    pub(crate) fn place(&self) -> Place {
        match self.folder.disk().identity(&self.file_name) {
            Ok(id) if id == self.file.id() => Place::Ours,
            Ok(_) => Place::Lost(format!("{} was replaced by another file", self.file_name)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Place::Lost(format!("{} is gone: {e}", self.file_name))
            }
            Err(e) => Place::Unknown(e),
        }
    }

    /// Takes the brain's file away, durably. Readers that have it mapped keep what they see.
    ///
    /// A file that stands under the brain's name and is not ours stays (`Replaced`).
    pub fn remove(self) -> Result<()> {
        let disk = self.folder.disk();
        match self.place() {
            Place::Ours => {}
            Place::Unknown(e) => return Err(Error::disk("look at", &self.file_name, e)),
            Place::Lost(_) => return Err(self.save_as_replaced()()),
        }
        disk.remove(&self.file_name)
            .map_err(|e| Error::disk("remove", &self.file_name, e))?;
        disk.sync_folder("").map_err(|e| Error::OutcomeUnknown {
            why: format!("syncing the folder: {e}"),
        })
    }

    /// Saves what is committed, as the brain's name is lost; the answer to whoever asked for more.
    pub(crate) fn save_as_replaced(&self) -> impl Fn() -> Error + use<> {
        let saved = self.save().unwrap_or_else(|e| format!("nothing ({e})"));
        let name = self.file_name.clone();
        move || Error::Replaced {
            name: name.clone(),
            saved: saved.clone(),
        }
    }

    fn save(&self) -> Result<String> {
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.build()?;
        let disk = self.folder.disk();
        let name = format!("{RECOVERED}/{}.recovered-{}{SUFFIX}", self.name, disk.now());
        checkpoint.publish(&name)?;
        disk.sync_folder(RECOVERED)
            .map_err(|e| Error::disk("sync", RECOVERED, e))?;
        Ok(name)
    }
}
