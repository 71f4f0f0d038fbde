//! A folder of brains, locked for one daemon.
//!
//! The lock is on a file of its own that is never replaced (P1): a lock on a brain would be void after the
//! rename of its first checkpoint.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{Disk, FileId, Lock, LockError};
use crate::error::{Error, Result};
use crate::names::quarantine::{self, Reason};
use crate::names::temporary;

/// Our own files, never those of a user.
pub const OWN: &str = ".amemd";
/// New files before they have a name, and what came out when one took the name of another (`unnamed`).
pub const TMP: &str = ".amemd/tmp";
/// Brains saved from a file that was replaced or removed under us.
pub const RECOVERED: &str = ".amemd/recovered";
/// Files that took an owned name.
pub const CONFLICTS: &str = ".amemd/conflicts";
/// Sixteen bytes that no other folder has.
pub const ID: &str = ".amemd/id";
/// The file that is locked.
pub const LOCK: &str = ".amemd/lock";
/// What a brain's file name ends with.
pub const SUFFIX: &str = ".amem";
/// Bytes of a brain's name.
pub const NAME_BYTES_MAX: usize = 128;

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
    _lock: Arc<dyn Lock>,
    id: [u8; 16],
    /// Brains that this process has made, durably, and not opened yet.
    created: Arc<Mutex<HashSet<FileId>>>,
    /// Names of files in `.amemd/tmp` that could not be taken away.
    left: Arc<Mutex<BTreeSet<String>>>,
    /// Whoever clears some of them.
    clearing: Arc<Mutex<()>>,
    /// What was kept aside and nobody was told of yet: of which brain, where, and why.
    kept: Arc<Mutex<Vec<(String, String, Reason)>>>,
    readers: Arc<RwLock<Readers>>,
}

impl Folder {
    /// Locks a folder, makes our own folders in it, and clears what an earlier run left unfinished.
    /// `holder` is what another daemon is told of this one.
    pub fn open(disk: Arc<dyn Disk>, holder: &str) -> Result<Self> {
        for folder in [OWN, TMP, RECOVERED, CONFLICTS] {
            disk.create_folder(folder)
                .map_err(|e| Error::disk("make", folder, e))?;
        }
        let lock = disk.lock(LOCK, holder).map_err(|e| match e {
            LockError::Held(holder) => Error::Locked { holder },
            LockError::Io(e) => Error::disk("lock", LOCK, e),
        })?;
        // What came out of an exchange must not be lost because the other half of that is durable; what an earlier run
        // removed may have been erased since.
        for folder in [TMP, "", OWN, RECOVERED, CONFLICTS] {
            disk.sync_folder(folder)
                .map_err(|e| Error::disk("sync", folder, e))?;
        }
        let id = id(&*disk)?;
        let folder = Self {
            disk,
            _lock: lock.into(),
            id,
            created: Arc::default(),
            left: Arc::default(),
            clearing: Arc::default(),
            kept: Arc::default(),
            readers: Arc::default(),
        };
        temporary::clear(&folder)?;
        Ok(folder)
    }

    /// Who may read files of brains directly from now on: those that are made, and those that are opened or protected
    /// (`Store::protect`).
    pub fn set_readers(&self, readers: Readers) {
        *self.readers.write().unwrap_or_else(PoisonError::into_inner) = readers;
    }

    /// The group that may read a brain's file directly.
    pub fn readers_of(&self, brain: &str) -> Option<u32> {
        let readers = self.readers.read().unwrap_or_else(PoisonError::into_inner);
        readers.of(brain)
    }

    /// What the file of a brain of this folder has in its live page (`live::HOME`), and no copy or other name of it.
    pub(crate) fn home_of(&self, name: &str, file: FileId) -> u64 {
        let mut bytes = self.id.to_vec();
        bytes.extend_from_slice(&file.inode.to_le_bytes());
        bytes.extend_from_slice(&file.born.to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        // 0 stands in a page that nobody owns.
        xxh3_64(&bytes).max(1)
    }

    /// The disk.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The brains in the folder, by name: every file that ends as a brain does. Whether each is one shows when
    /// it is opened.
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

    fn created(&self) -> MutexGuard<'_, HashSet<FileId>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a file of ours that nobody needs any more, if it is what has this path in `.amemd/tmp`. One that can't
    /// be removed is left.
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

    /// Notes a file in `.amemd/tmp` that could not be taken away or kept: it is looked at again for an erase
    /// or a removal (`clear_left`), and when the folder is opened next.
    pub(crate) fn leave(&self, path: &str) {
        if let Some(name) = path.strip_prefix(TMP).and_then(|of| of.strip_prefix('/')) {
            self.left().insert(name.to_owned());
        }
    }

    /// Takes away, durably, what was left and may have what a brain has; what is somebody's is kept, or given its name
    /// back.
    pub fn clear_left(&self, brain: &str) -> Result<()> {
        // Two at once would take one for the other's.
        let _alone = self.clear_alone();
        let left = self.left().clone();
        let of_brain = left.iter().filter(|name| temporary::may_be_of(name, brain));
        let (mut cleared, mut failed) = (Vec::new(), None);
        for name in of_brain {
            match temporary::clear_one(self, name) {
                Ok(()) => cleared.push(name),
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        if !cleared.is_empty() {
            // What has its new place has it durably before it loses the old one.
            for place in ["", RECOVERED, CONFLICTS, TMP] {
                let synced = self.disk.sync_folder(place);
                synced.map_err(|e| Error::disk("sync", place, e))?;
            }
        }
        for name in cleared {
            self.left().remove(name);
        }
        failed.map_or(Ok(()), Err)
    }

    pub(crate) fn clear_alone(&self) -> MutexGuard<'_, ()> {
        self.clearing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note_kept(&self, brain: &str, path: &str, reason: Reason) {
        let noted = (
            brain.to_owned(),
            quarantine::listed(path).to_owned(),
            reason,
        );
        self.kept().push(noted);
    }

    /// The files that had a brain's name, now or in an earlier run, or in which a brain was saved that had lost it, and
    /// that were kept aside since this was asked last: of which brain, the name that each is listed by (`quarantine::list`),
    /// and why.
    pub fn newly_kept(&self) -> Vec<(String, String, Reason)> {
        std::mem::take(&mut self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(String, String, Reason)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
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
        let why = "it has not sixteen bytes: remove it, and every brain here is adopted anew";
        return Err(Error::invalid(ID, why));
    }
    let map = file.map(16).map_err(failed("read"))?;
    let bytes = map.slice(0, 16).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| failed("read")(ErrorKind::UnexpectedEof.into()))
}

fn new_id(disk: &dyn Disk) -> Result<[u8; 16]> {
    let failed = |action| move |e| Error::disk(action, ID, e);
    let id = disk.random();
    // An earlier run may have left another.
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

/// The file of a brain.
pub fn file_name(name: &str) -> Result<String> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > NAME_BYTES_MAX {
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
