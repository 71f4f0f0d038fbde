//! The store of one brain: its file, its generation, and where the next frame goes.
//!
//! Not here: commits (`commit`), checkpoints (`checkpoint`, `install`), opening (`recovery`).

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use amem_format::brain::Brain;

use amem_format::journal::live::{self, LOOK};
use amem_format::journal::scan::Position;
use amem_format::view::View;
use amem_format::{ActorId, Lsn, limits};

use crate::disk::{File, FileId};
use crate::error::{Error, Result, SavedFile};
use crate::log::file_mark::{Closeness, FileMark, FrameSeal, compare};
use crate::names::folder::Folder;
use crate::names::ownership::{claim, home_of};

/// The state of a brain whose file lost its name.
#[derive(Debug)]
pub(crate) enum MissingFile {
    /// It is in quarantine.
    Saved(SavedFile),
    /// It is only in the open file, and why.
    Unsaved(String),
}

/// Why a store only reads (`read_only`).
#[derive(Debug, Clone)]
pub(crate) enum ReadOnly {
    /// A newer version wrote this.
    Newer(String),
    /// Recovery needs a file of up to `bytes`.
    NoRoom { bytes: u64, why: String },
}

/// A brain's open file: its content outlives its name.
#[derive(Debug, Clone)]
pub struct OpenHandle {
    file: Arc<dyn File>,
    /// What its writer had left there when the handle was taken.
    pub(crate) mark: Option<FileMark>,
}

impl OpenHandle {
    pub(crate) fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// The identity of the file.
    pub fn id(&self) -> FileId {
        self.file.id()
    }

    /// True if no other process has it open or mapped; mappings of our stores and views do not count. An error of kind
    /// `Unsupported` if the system cannot say.
    pub fn is_sole_opening(&self) -> io::Result<bool> {
        self.file.is_sole_opening()
    }

    /// What is wrong with the brain's file, if it is not what its writer left there when this handle was taken or
    /// later; `None` if nothing is.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn overwritten(&self) -> io::Result<Option<String>> {
        match &self.mark {
            Some(mark) => compare(&*self.file, mark, Closeness::AtLeast),
            None => Ok(None),
        }
    }
}

/// The only writer of one brain.
#[derive(Debug)]
pub struct Store {
    pub(crate) folder: Folder,
    pub(crate) name: String,
    /// The brain's file in the folder.
    pub(crate) file_name: String,
    pub(crate) file: Arc<dyn File>,
    pub(crate) brain: Arc<Brain>,
    /// Position of the next frame.
    pub(crate) position: Position,
    /// Up to where frames are published.
    pub(crate) published: u64,
    /// The last frames of the last two groups.
    pub(crate) seals: [Option<FrameSeal>; 2],
    /// The last frame of the group that is being committed.
    pub(crate) last_seal: Option<FrameSeal>,
    /// The cell that says whose file it is, once the store writes it.
    pub(crate) home: u64,
    /// It has taken the file over, and may write.
    pub(crate) is_writing: bool,
    /// End of the zeros after the last frame.
    pub(crate) space_end: u64,
    /// Up to where the file may reach: more room was asked for, and the disk refused some of it.
    pub(crate) space_tried: u64,
    /// The file has grown since it was synced.
    pub(crate) grown: bool,
    /// The frames of the group that is being committed, up to `position`.
    pub(crate) group: Vec<u8>,
    pub(crate) actors: HashMap<(String, String), ActorId>,
    /// Why the store is poisoned.
    pub(crate) poison: Option<String>,
    /// Set once it has lost its name.
    pub(crate) missing: Option<MissingFile>,
    /// Why it only reads, if it does.
    pub(crate) read_only: Option<ReadOnly>,
    /// It had not been closed cleanly.
    pub(crate) recovered: bool,
    /// The newest commit that is not a touch, once a request needed it.
    pub(crate) newest_change: Option<Lsn>,
    /// How long the last sync of a group took.
    pub(crate) sync_time: Duration,
    /// Maximum number of edges: `limits::EDGES_MAX`, except in tests.
    pub(crate) edges_max: u64,
}

impl Store {
    pub(crate) fn new(
        folder: Folder,
        name: String,
        file_name: String,
        file: Arc<dyn File>,
        brain: Arc<Brain>,
        position: Position,
        space_end: u64,
    ) -> Self {
        let (actors, poison) = (HashMap::new(), None);
        let home = home_of(&folder, &name, file.id());
        Self {
            published: position.at,
            seals: [None; 2],
            last_seal: None,
            home,
            is_writing: false,
            folder,
            name,
            file_name,
            file,
            brain,
            position,
            space_end,
            space_tried: space_end,
            grown: false,
            group: Vec::new(),
            actors,
            poison,
            missing: None,
            read_only: None,
            recovered: false,
            newest_change: None,
            sync_time: Duration::ZERO,
            edges_max: limits::EDGES_MAX,
        }
    }

    /// The brain's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that the brain is in.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// A view of all commits.
    pub fn view(&self) -> View {
        self.brain.view()
    }

    /// The generation that is written now; it changes with each checkpoint.
    pub fn brain(&self) -> &Arc<Brain> {
        &self.brain
    }

    /// Why the store is poisoned; `None` if it is not.
    pub fn poisoned(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    /// True if the brain had not been closed cleanly, so that it was recovered when it was opened.
    pub fn was_recovered(&self) -> bool {
        self.recovered
    }

    /// Bytes of frames in the journal.
    pub fn journal_bytes(&self) -> u64 {
        self.brain
            .start()
            .map_or(0, |start| self.position.at - start.at)
    }

    /// Poisons the store: the content of the file is unknown.
    pub(crate) fn poison(&mut self, why: String) {
        if let Some(page) = self
            .brain
            .live_page()
            .filter(|_| self.overwritten().is_none())
        {
            // If this fails as well, readers do not learn of it; callers get an error either way.
            drop(self.file.store_cell(page, live::DOUBT, 1));
        }
        self.poison = Some(why);
    }

    /// Publishes frames to readers.
    pub(crate) fn store_committed(&self, flags: u64) -> Result<(), String> {
        let page = self.brain.live_page().ok_or("the brain has no journal")?;
        self.file
            .store_cell(page, live::COMMITTED, self.position.at | flags)
            .map_err(|e| format!("publishing: {e}"))
    }

    /// Marks the file as owned in this boot, and stores how far it is committed, for readers.
    pub(crate) fn take_ownership(&mut self) -> io::Result<()> {
        let page = self.brain.live_page();
        let page = page.ok_or_else(|| io::Error::other("the brain has no journal"))?;
        claim(
            &self.folder,
            &self.name,
            &*self.file,
            page,
            self.position.at,
        )?;
        // A brain that was to take its place did not.
        if self
            .brain
            .live()
            .is_some_and(|live| live.superseded_by.is_some())
        {
            self.file.store_cell(page, live::SUPERSEDED_BY, 0)?;
        }
        self.published = self.position.at;
        self.seals = [None, self.newest_seal()];
        self.is_writing = true;
        Ok(())
    }

    /// How long the last sync of a group took.
    pub fn sync_time(&self) -> Duration {
        self.sync_time
    }

    /// Closes the brain cleanly, so that the next open needs no recovery.
    pub fn close(self) -> Result<()> {
        if let Some(error) = self.overwritten() {
            return Err(error);
        }
        if let Some(why) = self.poison {
            return Err(Error::Poisoned { why });
        }
        if self.read_only.is_some() {
            // Nothing of ours is in the file: the next open finds it as this one did.
            return Ok(());
        }
        // Another daemon may write the file.
        self.folder.check_lock()?;
        self.check_content()?;
        let failed = |e| Error::disk("close", &self.file_name, e);
        self.file.sync().map_err(failed)?;
        if let Some(page) = self.brain.live_page() {
            self.file
                .store_cell(page, live::CLEAN, self.position.at)
                .map_err(failed)?;
            self.file.sync().map_err(failed)?;
        }
        Ok(())
    }

    /// Closes the brain cleanly, and has readers look for the brain that takes its place.
    pub fn close_superseded(self) -> Result<()> {
        self.check_content()?;
        if self.is_writing && self.poison.is_none() {
            let generation = self.brain.base().identity().generation.0;
            self.store_hint(live::SUPERSEDED_BY, generation.saturating_add(1))
                .map_err(|e| Error::disk("close", &self.file_name, e))?;
        }
        self.close()
    }

    /// Makes readers check the rest of the live page.
    pub(crate) fn store_hint(&self, cell: u64, value: u64) -> io::Result<()> {
        let Some(page) = self.brain.live_page() else {
            return Ok(());
        };
        self.file.store_cell(page, cell, value)?;
        self.file
            .store_cell(page, live::COMMITTED, self.position.at | LOOK)
    }

    /// The brain's file as it is now; each checkpoint has another.
    pub fn open_handle(&self) -> OpenHandle {
        OpenHandle {
            file: self.file.clone(),
            mark: self.file_mark(),
        }
    }

    /// Makes the brain's file read-only, against accidents, and readable to its group (`Folder::set_readers`).
    pub fn protect(&self) -> Result<()> {
        let readers = self.folder.readers_of(&self.name);
        let done = self.file.protect(readers);
        done.map_err(|e| Error::disk("protect", &self.file_name, e))
    }

    /// The same for a file that is opened or made. If it cannot be given to the group, only the owner reads it.
    pub(crate) fn protect_at_least(&self) -> Result<()> {
        match self.protect() {
            Err(_) if self.folder.readers_of(&self.name).is_some() => Ok(()),
            done => done,
        }
    }
}
