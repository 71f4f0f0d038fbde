//! The brain's name: taking it away, and whether it is still that of the file that we write to: `rm`, `mv` and
//! `cp -f` would leave us writing to a file without a name.
//!
//! Promises: a file that was taken away is noticed before anything more is answered, and what it held is saved from the
//! open file under a name of its own, which is tried until it is done; a file that takes the name costs the brain
//! nothing, and is kept, even if it comes in the moment in which the brain is removed.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::disk::{File, FileId};
use crate::error::{Error, Result};
use crate::log::checkpoint::Checkpoint;
use crate::log::recovery;
use crate::log::store::Store;
use crate::names::folder::{Folder, RECOVERED, TMP};
use crate::names::quarantine::{self, Reason};
use crate::names::temporary;

/// What a look at the brain's name shows.
pub(crate) enum Place {
    /// Our file.
    Ours,
    /// It can't be looked at now.
    Unknown(io::Error),
    /// Another file.
    Taken,
    /// None; in words.
    Gone(String),
}

/// What became of a brain that has lost its name.
#[derive(Debug)]
pub(crate) enum Lost {
    /// It is kept aside.
    Saved(Saved),
    /// It is in its open file alone; why.
    Unsaved(String),
}

/// Where all that a brain had is kept, durably, since it lost its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved(String);

impl Saved {
    /// The file, relative to the folder.
    pub fn path(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A brain's file, held open: what is in it outlives the loss of its name.
#[derive(Debug, Clone)]
pub struct Held(Arc<dyn File>);

impl Held {
    /// Which file it is.
    pub fn id(&self) -> FileId {
        self.0.id()
    }

    /// True if nobody else has it open or mapped; what a store or a view of ours has mapped does not count. An error of
    /// kind `Unsupported` if that can't be told.
    pub fn is_sole_opening(&self) -> io::Result<bool> {
        self.0.is_sole_opening()
    }
}

impl Store {
    /// The brain's file as it is now; each checkpoint has another.
    pub fn held(&self) -> Held {
        Held(self.file.clone())
    }

    /// Opens a brain again by the file that was held since it was closed, and gets its name back: see `hold_name`.
    pub fn reopen(folder: &Folder, name: &str, held: &Held) -> Result<Self> {
        let mut store = recovery::open_file(folder, name, held.0.clone())?;
        store.hold_name()?;
        Ok(store)
    }

    /// Takes away the owner's right to write to the brain's file by accident, and lets those read it who may
    /// (`Folder::set_readers`).
    pub fn protect(&self) -> Result<()> {
        let readers = self.folder.readers_of(&self.name);
        let done = self.file.protect(readers);
        done.map_err(|e| Error::disk("protect", &self.file_name, e))
    }

    /// The same of a file that is opened or made: if a group can't be given it, it is the owner's alone, and serves.
    pub(crate) fn protect_at_least(&self) -> Result<()> {
        match self.protect() {
            Err(_) if self.folder.readers_of(&self.name).is_some() => Ok(()),
            done => done,
        }
    }

    /// Looks at the brain's name.
    pub(crate) fn place(&self) -> Place {
        match self.folder.disk().identity(&self.file_name) {
            Ok(id) if id == self.file.id() => Place::Ours,
            Ok(_) => Place::Taken,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Place::Gone(format!("{} is gone: {e}", self.file_name))
            }
            Err(e) => Place::Unknown(e),
        }
    }

    /// Takes the brain's file away, durably. Readers that have it mapped keep what they see.
    ///
    /// A file that stands under the brain's name and is not ours stays, and what was committed is saved (`Replaced`).
    pub fn remove(mut self) -> Result<()> {
        match self.place() {
            Place::Ours => {}
            Place::Unknown(e) => return Err(Error::disk("look at", &self.file_name, e)),
            Place::Taken => return Err(self.lose_name("another file has its name".into())),
            Place::Gone(why) => return Err(self.lose_name(why)),
        }
        match temporary::take_away(&self.folder, &self.name, self.file.id()) {
            Ok(true) => {}
            Ok(false) => return Err(self.lose_name("another file took its name".into())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(self.lose_name(format!("it is gone: {e}")));
            }
            Err(e) => {
                return Err(match self.place() {
                    Place::Ours => Error::disk("remove", &self.file_name, e),
                    Place::Taken => self.lose_name("another file has its name".into()),
                    Place::Gone(_) | Place::Unknown(_) => Error::OutcomeUnknown {
                        why: format!("removing {}: {e}", self.file_name),
                    },
                });
            }
        }
        let disk = self.folder.disk();
        for folder in ["", TMP] {
            disk.sync_folder(folder)
                .map_err(|e| Error::OutcomeUnknown {
                    why: format!("syncing the folder: {e}"),
                })?;
        }
        Ok(())
    }

    /// Looks whether the brain's name is still that of our file. If another file has taken it, it is put aside as a
    /// conflict, and the brain goes on in a new generation under its name; if there is none, as somebody took ours
    /// away, then what is committed is saved (`Replaced`), and nothing is written any more. What can't be saved now
    /// (`Unsaved`) stays in the open file, and the next look tries again.
    ///
    /// Says whether the name had been taken.
    pub fn hold_name(&mut self) -> Result<bool> {
        if let Some(Lost::Saved(saved)) = &self.lost {
            return Err(self.replaced(saved.clone()));
        }
        let was_taken = match self.place() {
            Place::Ours => false,
            Place::Unknown(e) => return Err(Error::disk("look at", &self.file_name, e)),
            Place::Taken => match self.checkpoint() {
                Ok(()) => true,
                // As it was: the next commit tries again.
                Err(e) if self.poison.is_none() || self.saved().is_some() => return Err(e),
                Err(e) => return Err(self.lose_name(e.to_string())),
            },
            Place::Gone(why) => return Err(self.lose_name(why)),
        };
        self.lost = None;
        Ok(was_taken)
    }

    /// Where what the brain had is kept, if it has lost its name.
    pub fn saved(&self) -> Option<&Saved> {
        match &self.lost {
            Some(Lost::Saved(saved)) => Some(saved),
            _ => None,
        }
    }

    /// Why it is not kept yet, if the brain has lost its name and is nowhere but in its open file.
    pub fn unsaved(&self) -> Option<&str> {
        match &self.lost {
            Some(Lost::Unsaved(why)) => Some(why),
            _ => None,
        }
    }

    /// Saves what is committed as a file that is kept aside, and closes the brain, so that another file may take its
    /// place (`quarantine::take`).
    pub fn retire(self) -> Result<Saved> {
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
                self.lost = Some(Lost::Saved(saved.clone()));
                self.replaced(saved)
            }
            Err(e) => {
                let error = Error::Unsaved {
                    name: self.file_name.clone(),
                    why: e.to_string(),
                };
                self.lost = Some(Lost::Unsaved(error.to_string()));
                error
            }
        }
    }

    fn replaced(&self, saved: Saved) -> Error {
        let name = self.file_name.clone();
        Error::Replaced { name, saved }
    }

    fn save(&self) -> Result<Saved> {
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.build()?;
        let disk = self.folder.disk();
        let name = quarantine::name(&self.folder, &self.name, Reason::Recovered)
            .map_err(|e| Error::disk("look at", RECOVERED, e))?;
        checkpoint.publish(&name)?;
        if let Err(e) = disk.sync_folder(RECOVERED) {
            // A name whose sync failed may vanish whatever later syncs say: the next try makes another file.
            drop(disk.remove(&name));
            return Err(Error::disk("sync", RECOVERED, e));
        }
        self.folder.note_kept(&self.name, &name, Reason::Recovered);
        Ok(Saved(name))
    }
}
