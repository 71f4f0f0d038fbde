//! A folder of brains, locked for one daemon.
//!
//! The lock is on a separate file that is never replaced (P1): a lock on a brain's file would be void after its first
//! checkpoint.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use amem_locks::LockResultExt;

use crate::disk::{Disk, FileId, Lock, LockError};
use crate::error::{Error, Result};
use crate::limits::{BRAIN_NAME_BYTES_MAX, CHECKPOINT_JOURNAL_BYTES_MAX};
use crate::range::check_clock;

/// Our own files, never those of a user.
pub const OWN: &str = ".amemd";
/// Temporary and displaced files.
pub const TMP: &str = ".amemd/tmp";
/// Quarantine: brains that were saved when their file was removed or replaced, and originals.
pub const RECOVERED: &str = ".amemd/recovered";
/// Quarantine: files that took a brain's name.
pub const CONFLICTS: &str = ".amemd/conflicts";
/// Sixteen bytes that no other folder has.
pub const ID: &str = ".amemd/id";
/// The file that is locked.
pub const LOCK: &str = ".amemd/lock";
/// What a brain's file name ends with.
pub const SUFFIX: &str = ".amem";
/// What the name of a file in `.amemd` ends with that has a brain's vectors of another space, while they are made.
pub(crate) const VECTORS: &str = ".vectors";

/// Why a file is in quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuarantineReason {
    /// It took the name of a brain, or was written to after a brain was made of it.
    Conflict,
    /// A brain's file lost its name, and this has what was committed.
    Recovered,
    /// A brain was made of it that does not have all of it.
    Original,
}

/// A file that was put into quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantineNotice {
    /// The brain whose name it had.
    pub brain: String,
    /// Its name as `quarantine::list` gives it.
    pub file: String,
    /// Why it is there.
    pub reason: QuarantineReason,
}
/// Groups of users that may read files of brains directly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readers {
    /// By brain.
    pub brains: BTreeMap<String, u32>,
    /// For all other brains, if any.
    pub others: Option<u32>,
}

impl Readers {
    /// The group for a brain.
    pub fn of(&self, brain: &str) -> Option<u32> {
        self.brains.get(brain).copied().or(self.others)
    }
}

/// A locked folder.
#[derive(Debug, Clone)]
pub struct Folder {
    disk: Arc<dyn Disk>,
    lock: Arc<dyn Lock>,
    /// The lock was lost once: another daemon may have written since.
    is_lock_lost: Arc<AtomicBool>,
    id: [u8; 16],
    /// Files of brains that this process has made, durably, and not opened yet.
    created: Arc<Mutex<HashSet<FileId>>>,
    /// Names of files in `.amemd/tmp` that could not be removed.
    leftovers: Arc<Mutex<BTreeSet<String>>>,
    /// Held while some of them are cleared: two at once would take one file for the other's.
    clearing: Arc<Mutex<()>>,
    /// Files put into quarantine since the last `take_quarantine_notices`.
    notices: Arc<Mutex<Vec<QuarantineNotice>>>,
    /// Files that another program wrote to while a store of this process had them open, and what is wrong with each.
    overwritten: Arc<Mutex<HashMap<FileId, String>>>,
    readers: Arc<RwLock<Readers>>,
    journal_bytes_max: Arc<AtomicU64>,
}

impl Folder {
    /// Locks a folder and makes our own folders in it. `holder` describes this daemon to another one.
    pub(crate) fn lock(disk: Arc<dyn Disk>, holder: &str) -> Result<Self> {
        check_clock(disk.now())?;
        for folder in [OWN, TMP, RECOVERED, CONFLICTS] {
            disk.create_folder(folder)
                .map_err(|e| Error::disk("make", folder, e))?;
        }
        let lock = disk.lock(LOCK, holder).map_err(|e| match e {
            LockError::Held(holder) => Error::Locked {
                holder: holder.replace('\n', ", "),
            },
            LockError::Io(e) => Error::disk("lock", LOCK, e),
        })?;
        match disk.check_file_system(TMP) {
            Err(e) if e.kind() == ErrorKind::Unsupported => {
                return Err(Error::FileSystem { why: e.to_string() });
            }
            // A full disk cannot be tried, and must not keep brains from being read.
            _ => {}
        }
        // Makes both halves of an earlier run's exchanges durable, and its removals: what it removed may have been
        // erased.
        for folder in [TMP, "", OWN, RECOVERED, CONFLICTS] {
            disk.sync_folder(folder)
                .map_err(|e| Error::disk("sync", folder, e))?;
        }
        let id = id(&*disk)?;
        Ok(Self {
            disk,
            lock: lock.into(),
            is_lock_lost: Arc::default(),
            id,
            created: Arc::default(),
            leftovers: Arc::default(),
            clearing: Arc::default(),
            notices: Arc::default(),
            overwritten: Arc::default(),
            readers: Arc::default(),
            journal_bytes_max: Arc::new(CHECKPOINT_JOURNAL_BYTES_MAX.into()),
        })
    }

    /// Checks that the lock is still the folder's: a program may have removed it, or moved the folder, and another
    /// daemon may have locked what is there now. Once lost it stays lost.
    pub(crate) fn check_lock(&self) -> Result<()> {
        if !self.is_lock_lost.load(Ordering::Relaxed) {
            match self.lock.is_held() {
                Ok(true) => return Ok(()),
                Ok(false) => self.is_lock_lost.store(true, Ordering::Relaxed),
                Err(e) => return Err(Error::disk("look at", LOCK, e)),
            }
        }
        Err(Error::LockLost)
    }

    /// Sets which groups may read brains' files directly, for files that are made, opened or protected from now on
    /// (`Store::protect`).
    pub fn set_readers(&self, readers: Readers) {
        *self.readers.write().unpoisoned() = readers;
    }

    /// Bytes of the journal from which on every brain of the folder needs a checkpoint.
    pub fn set_journal_bytes_max(&self, bytes: u64) {
        self.journal_bytes_max.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn journal_bytes_max(&self) -> u64 {
        self.journal_bytes_max.load(Ordering::Relaxed)
    }

    /// The group that may read a brain's file directly.
    pub fn readers_of(&self, brain: &str) -> Option<u32> {
        let readers = self.readers.read().unpoisoned();
        readers.of(brain)
    }

    /// Sixteen random bytes that no other folder has.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The disk.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The names of all files that end as a brain's does. Whether each is a brain shows when it is opened.
    pub fn names(&self) -> Result<Vec<String>> {
        let names = self.disk.list("").map_err(|e| Error::disk("list", "", e))?;
        Ok(names
            .iter()
            .filter_map(|n| n.strip_suffix(SUFFIX))
            .map(str::to_owned)
            .collect())
    }

    pub(crate) fn note_created(&self, id: FileId) {
        self.created().insert(id);
    }

    /// True, once, for a file that this process has made and whose name is durable.
    pub(crate) fn take_created(&self, id: FileId) -> bool {
        self.created().remove(&id)
    }

    /// Notes that another program wrote to a file that a store had open: this process opens it no more.
    pub(crate) fn note_overwritten(&self, id: FileId, what: String) {
        self.overwritten().entry(id).or_insert(what);
    }

    /// What is wrong with a file that another program wrote to while a store had it open.
    pub(crate) fn why_overwritten(&self, id: FileId) -> Option<String> {
        self.overwritten().get(&id).cloned()
    }

    fn overwritten(&self) -> MutexGuard<'_, HashMap<FileId, String>> {
        self.overwritten.lock().unpoisoned()
    }

    fn created(&self) -> MutexGuard<'_, HashSet<FileId>> {
        self.created.lock().unpoisoned()
    }

    /// Removes a temporary file of ours, if it still has this path. One that cannot be removed is left.
    pub(crate) fn discard(&self, path: &str, id: FileId) {
        let done = match self.disk.identity(path) {
            Ok(found) if found == id => self.disk.remove(path),
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
        if done.is_err() {
            self.leave(path);
        }
    }

    /// Notes a file in `.amemd/tmp` that could not be removed or quarantined: `clear_leftovers` and the next start look
    /// at it again.
    pub(crate) fn leave(&self, path: &str) {
        if let Some(name) = path.strip_prefix(TMP).and_then(|of| of.strip_prefix('/')) {
            self.leftovers().insert(name.to_owned());
        }
    }

    /// Names in `.amemd/tmp` of files that could not be removed.
    pub(crate) fn leftovers(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.leftovers.lock().unpoisoned()
    }

    /// Held while files in `.amemd/tmp` are cleared.
    pub(crate) fn lock_clearing(&self) -> MutexGuard<'_, ()> {
        self.clearing.lock().unpoisoned()
    }

    pub(crate) fn note_quarantined(&self, brain: &str, path: &str, reason: QuarantineReason) {
        self.notices().push(QuarantineNotice {
            brain: brain.to_owned(),
            file: quarantine_name(path).to_owned(),
            reason,
        });
    }

    /// The files that were put into quarantine since the last call. They had a brain's name, now or in an earlier run,
    /// or hold what was saved of a brain that had lost its name.
    pub fn take_quarantine_notices(&self) -> Vec<QuarantineNotice> {
        std::mem::take(&mut self.notices())
    }

    fn notices(&self) -> MutexGuard<'_, Vec<QuarantineNotice>> {
        self.notices.lock().unpoisoned()
    }

    /// Which file has a path; none if no file has it.
    pub(crate) fn identity(&self, path: &str) -> Result<Option<FileId>> {
        match self.disk.identity(path) {
            Ok(id) => Ok(Some(id)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::disk("look at", path, e)),
        }
    }

    pub(crate) fn remove(&self, path: &str) -> Result<()> {
        let done = self.disk.remove(path);
        done.map_err(|e| Error::disk("remove", path, e))
    }

    /// Removes, durably, the vectors that are being made for a brain, if there are any.
    pub(crate) fn remove_vector_rows(&self, brain: &str) -> Result<()> {
        let path = vector_rows(brain);
        if self.identity(&path)?.is_none() {
            return Ok(());
        }
        self.remove(&path)?;
        self.sync(OWN)
    }

    /// Makes creations, renames and removals in a folder durable.
    pub(crate) fn sync(&self, folder: &str) -> Result<()> {
        let done = self.disk.sync_folder(folder);
        done.map_err(|e| Error::disk("sync", folder, e))
    }

    /// A new name for an unfinished file.
    pub(crate) fn tmp_name(&self, name: &str) -> String {
        let random = u128::from_le_bytes(self.disk.random());
        format!("{TMP}/{name}-{random:032x}{SUFFIX}")
    }
}

/// The folder's id; makes one if it has none.
fn id(disk: &dyn Disk) -> Result<[u8; 16]> {
    let failed = |action| move |e| Error::disk(action, ID, e);
    let file = match disk.open(ID) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return new_id(disk),
        Err(e) => return Err(failed("open")(e)),
    };
    if file.len().map_err(failed("look at"))? != 16 {
        let why =
            "it does not have sixteen bytes: remove it, and every brain here is adopted again";
        return Err(Error::invalid(ID, why));
    }
    let map = file.map(16).map_err(failed("read"))?;
    let bytes = map.slice(0, 16).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| failed("read")(ErrorKind::UnexpectedEof.into()))
}

fn new_id(disk: &dyn Disk) -> Result<[u8; 16]> {
    let failed = |action| move |e| Error::disk(action, ID, e);
    let id = disk.random();
    // An earlier run may have left one with another name.
    let tmp = format!("{TMP}/id-{:032x}", u128::from_le_bytes(id));
    let file = disk.create(&tmp).map_err(failed("create"))?;
    file.write_at(0, &id).map_err(failed("write"))?;
    file.sync().map_err(failed("sync"))?;
    disk.publish(&tmp, ID).map_err(failed("publish"))?;
    disk.sync_folder(OWN).map_err(|e| {
        // Its name may vanish whatever later syncs say: the next start makes another.
        drop(disk.remove(ID));
        failed("sync")(e)
    })?;
    Ok(id)
}

/// The file with a brain's vectors of another space.
pub(crate) fn vector_rows(brain: &str) -> String {
    format!("{OWN}/{brain}{VECTORS}")
}

/// The folder that a path is in.
pub(crate) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name by which a file in quarantine is listed, of its path relative to the folder.
pub(crate) fn quarantine_name(path: &str) -> &str {
    path.strip_prefix(OWN)
        .map_or(path, |name| name.trim_start_matches('/'))
}

/// The file of a brain.
pub fn file_name(name: &str) -> Result<String> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > BRAIN_NAME_BYTES_MAX {
        "it is longer than 128 bytes"
    } else if name.starts_with('.') {
        "it begins with a dot"
    } else if !name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    {
        "use letters, digits, '-', '_' and '.'"
    } else if name.ends_with(SUFFIX) {
        "leave out the .amem at its end"
    } else {
        return Ok(format!("{name}{SUFFIX}"));
    };
    Err(Error::Name {
        name: name.into(),
        why,
    })
}
