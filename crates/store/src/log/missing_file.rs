//! A brain whose file lost its name, to `rm`, `mv` or another file: what is committed is saved from the open handle into
//! quarantine, and tried again until that is done.

use crate::error::{Error, Result, SavedFile};
use crate::log::checkpoint::Checkpoint;
use crate::log::store::{MissingFile, Store};
use crate::names::folder::{QuarantineReason, RECOVERED};
use crate::names::quarantine;

impl Store {
    /// Where what the brain had is kept, if it has lost its name.
    pub fn saved(&self) -> Option<&SavedFile> {
        match &self.missing {
            Some(MissingFile::Saved(saved)) => Some(saved),
            _ => None,
        }
    }

    /// Why it is not kept yet, if the brain has lost its name and is nowhere but in its open file.
    pub fn unsaved(&self) -> Option<&str> {
        match &self.missing {
            Some(MissingFile::Unsaved(why)) => Some(why),
            _ => None,
        }
    }

    /// Saves what is committed as a file that is kept aside, and closes the brain, so that another file may take its
    /// place (`quarantine::take`).
    pub fn retire(self) -> Result<SavedFile> {
        let saved = self.save()?;
        self.close()?;
        Ok(saved)
    }

    /// Saves what is committed, as the brain's name is lost; the answer to whoever asked for more. Nothing is written
    /// any more once it is saved: whatever has the name from then on is another's.
    pub(crate) fn lose_name(&mut self, why: String) -> Error {
        match self.save() {
            Ok(saved) => {
                self.poison = Some(why);
                self.missing = Some(MissingFile::Saved(saved.clone()));
                self.replaced(saved)
            }
            Err(e) => {
                let error = Error::Unsaved {
                    name: self.file_name.clone(),
                    why: e.to_string(),
                };
                self.missing = Some(MissingFile::Unsaved(error.to_string()));
                error
            }
        }
    }

    pub(crate) fn replaced(&self, saved: SavedFile) -> Error {
        let name = self.file_name.clone();
        Error::Replaced { name, saved }
    }

    fn save(&self) -> Result<SavedFile> {
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.build()?;
        let disk = self.folder.disk();
        let name = quarantine::new_path(&self.folder, &self.name, QuarantineReason::Recovered)
            .map_err(|e| Error::disk("look at", RECOVERED, e))?;
        checkpoint.publish(&name)?;
        if let Err(e) = disk.sync_folder(RECOVERED) {
            // A name whose sync failed may vanish whatever later syncs say: the next try makes another file.
            drop(disk.remove(&name));
            return Err(Error::disk("sync", RECOVERED, e));
        }
        self.folder
            .note_quarantined(&self.name, &name, QuarantineReason::Recovered);
        Ok(SavedFile(name))
    }
}
