//! What one process sees of a disk: the script's clock, and whatever its flaw makes of the rest.
//!
//! Once killed, nothing that it does reaches the disk any more, whatever its destructors try.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use amem_format::Micros;
use amem_format::journal::live;
use amem_locks::LockResultExt;
use amem_store::disk::{Disk, File, FileId, Lock, LockError};
use amem_store::folder::{RECOVERED, TMP};

use super::flaw::Flaw;
use super::flawed::FlawedFile;
use crate::disk::{SimDisk, forward};

/// What the process is busy with: a flaw shows in one thing and not in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The folder and the brain are opened, and recovered.
    Opening,
    /// A brain is created.
    Creating,
    /// Requests are committed.
    Working,
    /// A new generation is made.
    Checkpointing,
}

/// A process with a disk. Clones are the same process.
#[derive(Debug, Clone)]
pub struct Process(Arc<State>);

#[derive(Debug)]
pub(super) struct State {
    pub(super) disk: Arc<SimDisk>,
    pub(super) flaw: Flaw,
    phase: Mutex<Phase>,
    clock: AtomicI64,
    dead: AtomicBool,
    boots: AtomicU64,
    /// Files that have, or had, the name of a brain.
    named: Mutex<HashSet<FileId>>,
    /// Files whose sync comes late.
    late: Mutex<Vec<Arc<dyn File>>>,
    /// Hints that reach readers of an old file late.
    untold: Mutex<Option<Untold>>,
    /// The file that the store believes to write to.
    owned: Mutex<Option<FileId>>,
}

/// A `superseded_by` that is not stored yet.
#[derive(Debug)]
struct Untold {
    file: Arc<dyn File>,
    page: u64,
    generation: u64,
    /// Whether a commit of the new file is about to be answered.
    is_due: bool,
}

/// How the names of files end that are still being made, beside those in `TMP`.
const NEW: [&str; 2] = [".new", ".tmp"];

impl Process {
    /// A process that does everything right, but for its flaw.
    pub fn new(disk: Arc<SimDisk>, flaw: Flaw) -> Self {
        Self(Arc::new(State {
            disk,
            flaw,
            phase: Mutex::new(Phase::Opening),
            clock: AtomicI64::new(0),
            dead: AtomicBool::new(false),
            boots: AtomicU64::new(0),
            named: Mutex::default(),
            late: Mutex::default(),
            untold: Mutex::default(),
            owned: Mutex::default(),
        }))
    }

    /// Says what comes next.
    pub fn enter(&self, phase: Phase) {
        *held(&self.0.phase) = phase;
    }

    /// Sets the clock, which stands still otherwise.
    pub fn set_clock(&self, now: Micros) {
        self.0.clock.store(now.0, Ordering::Relaxed);
    }

    /// The process is killed.
    pub fn kill(&self) {
        self.0.dead.store(true, Ordering::Relaxed);
    }

    fn alive(&self) -> io::Result<&Arc<SimDisk>> {
        if self.0.dead.load(Ordering::Relaxed) {
            return Err(io::Error::other("the process is dead"));
        }
        Ok(&self.0.disk)
    }

    fn flawed(&self, flaw: Flaw, phase: Phase) -> bool {
        self.0.flaw == flaw && self.0.phase() == phase
    }

    fn file(&self, name: &str, file: Arc<dyn File>) -> Arc<dyn File> {
        if !name.starts_with(TMP) && !NEW.iter().any(|end| name.ends_with(end)) {
            self.0.gets_named(file.id());
        }
        match self.0.flaw {
            Flaw::None => file,
            _ => {
                let is_brain = name.ends_with(".amem");
                Arc::new(FlawedFile::new(self.0.clone(), file, is_brain))
            }
        }
    }

    /// Writes the new file's bytes over the old one's.
    fn copy_over(&self, from: &str, to: &str) -> io::Result<()> {
        let disk = self.alive()?;
        let (new, old) = (disk.open(from)?, disk.open(to)?);
        let map = new.map(new.len()?)?;
        let bytes = map.slice(0, map.len()).unwrap_or_default();
        for (at, part) in bytes.chunks(4096).enumerate() {
            old.write_at(4096 * at as u64, part)?;
        }
        old.sync()
    }
}

impl State {
    pub(super) fn phase(&self) -> Phase {
        *held(&self.phase)
    }

    /// True if a file has never had the name of a brain.
    pub(super) fn is_new(&self, id: FileId) -> bool {
        !held(&self.named).contains(&id)
    }

    pub(super) fn sync_late(&self, file: Arc<dyn File>) {
        held(&self.late).push(file);
    }

    /// Keeps a `superseded_by` back until the first commit of the new file has been answered.
    pub(super) fn tell_late(&self, file: Arc<dyn File>, page: u64, generation: u64) {
        *held(&self.untold) = Some(Untold {
            file,
            page,
            generation,
            is_due: false,
        });
    }

    /// A commit has been published: next it is answered.
    pub(super) fn answers(&self) {
        if let Some(untold) = &mut *held(&self.untold) {
            untold.is_due = true;
        }
    }

    /// The process is busy with what comes after an answer.
    pub(super) fn tell_due(&self) -> io::Result<()> {
        match held(&self.untold).take_if(|untold| untold.is_due) {
            Some(Untold {
                file,
                page,
                generation,
                ..
            }) => file.store_cell(page, live::SUPERSEDED_BY, generation),
            None => Ok(()),
        }
    }

    fn catch_up(&self) -> io::Result<()> {
        let late = std::mem::take(&mut *held(&self.late));
        late.iter().try_for_each(|file| file.sync())
    }

    fn gets_named(&self, id: FileId) {
        held(&self.named).insert(id);
        *held(&self.owned) = Some(id);
    }
}

impl Disk for Process {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(name, self.alive()?.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(name, self.alive()?.open(name)?))
    }

    fn identity(&self, name: &str) -> io::Result<FileId> {
        let found = self.alive()?.identity(name)?;
        let owned = *held(&self.0.owned);
        match owned {
            Some(owned) if self.flawed(Flaw::ReplacementNotSeen, Phase::Working) => Ok(owned),
            _ => Ok(found),
        }
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<()> {
        let disk = self.alive()?;
        let id = disk.identity(from)?;
        disk.publish(from, to)?;
        if !to.starts_with(TMP) {
            self.0.gets_named(id);
        }
        Ok(())
    }

    fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        let disk = self.alive()?;
        let id = disk.identity(from)?;
        match self.0.flaw {
            Flaw::ExchangeInTwoSteps => {
                disk.remove(to)?;
                disk.publish(from, to)?;
            }
            Flaw::OldFileOverwritten => {
                self.copy_over(from, to)?;
                disk.exchange(from, to)?;
            }
            _ => disk.exchange(from, to)?,
        }
        self.0.gets_named(id);
        Ok(())
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        let disk = self.alive()?;
        let id = disk.identity(from)?;
        disk.replace(from, to)?;
        self.0.gets_named(id);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let disk = self.alive()?;
        if self.flawed(Flaw::OldFileNotRemoved, Phase::Checkpointing) {
            return Ok(());
        }
        disk.remove(name)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        let disk = self.alive()?;
        self.0.catch_up()?;
        let left_out = match folder {
            "" => {
                self.flawed(Flaw::FolderNotSyncedAfterCreate, Phase::Creating)
                    || self.flawed(Flaw::FolderNotSyncedAfterExchange, Phase::Checkpointing)
                    || self.flawed(Flaw::RecoveryFolderNotSynced, Phase::Opening)
            }
            TMP => self.flawed(Flaw::RemovalNotSynced, Phase::Checkpointing),
            RECOVERED => self.0.flaw == Flaw::SavedFolderNotSynced,
            _ => false,
        };
        if left_out {
            return Ok(());
        }
        if self.flawed(Flaw::OtherFolderSynced, Phase::Checkpointing) {
            return disk.sync_folder(TMP);
        }
        match disk.sync_folder(folder) {
            Err(_) if self.0.flaw == Flaw::FolderErrorIgnored => Ok(()),
            done => done,
        }
    }

    fn lock(&self, name: &str, text: &str) -> Result<Box<dyn Lock>, LockError> {
        self.alive().map_err(LockError::Io)?.lock(name, text)
    }

    fn now(&self) -> Micros {
        Micros(self.0.clock.load(Ordering::Relaxed))
    }

    fn boot_id(&self) -> [u64; 2] {
        let [seed, boot] = self.0.disk.boot_id();
        if matches!(self.0.flaw, Flaw::RebootBelieved | Flaw::RunsDiffer) {
            // Another one each time it is asked.
            return [
                seed,
                (boot << 32) | self.0.boots.fetch_add(1, Ordering::Relaxed),
            ];
        }
        [seed, boot]
    }

    forward!(Disk, |this| this.alive()?; source, list, create_folder, link);
    forward!(Disk, |this| this.0.disk; random, preallocation);
}

pub(super) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unpoisoned()
}
