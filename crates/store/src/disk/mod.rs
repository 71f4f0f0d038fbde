//! The environment of a store: files, clock and randomness, as one trait.
//!
//! `Disk` is one folder of brains. Names are paths relative to it, with `/`. `os::OsDisk` is the real one; the
//! tests have one that forgets what was not synced.
//!
//! Promises an implementation makes: after `File::sync` has returned, what was written to the file before
//! survives power loss; after `sync_folder`, so do creations, renames and removals in that folder. Nothing
//! else is promised: unsynced writes may survive in any order and in parts.

pub mod atomic_file;
#[cfg(target_os = "linux")]
mod linux;
pub mod os;

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use amem_format::Micros;
use amem_format::mapping::Map;

use crate::limits::{LAST_ROUND_BYTES_MAX, SPACE_BYTES_MAX, SPACE_BYTES_MIN};

/// Identifies a file, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode on it.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970; 0 if unknown. Distinguishes a file from a later one with the same
    /// inode.
    pub born: u64,
}

/// The state of a file, which every write changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The identity of the file.
    pub id: FileId,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was written last, in nanoseconds since 1970; before that 0.
    pub modified: u64,
}

/// A folder of brains, the clock, and randomness.
pub trait Disk: Debug + Send + Sync {
    /// Creates a file that must not exist, for reading and writing, mode 0600.
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>>;

    /// Opens an existing regular file for reading and writing (whatever its mode, if it is ours), following
    /// no symbolic link.
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>>;

    /// Opens any file for reading, without blocking, following no symbolic link. Refuses a file that is not regular or
    /// belongs to another user, and, with `alone`, one with other names: `InvalidInput`, with the reason.
    fn source(&self, name: &str, alone: bool) -> io::Result<Box<dyn SourceFile>>;

    /// Which file has a name; an error of kind `NotFound` if none has.
    fn identity(&self, name: &str) -> io::Result<FileId>;

    /// The names in a folder (`""` is the root), sorted, folders left out.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Makes a folder if it is not there, mode 0700.
    fn create_folder(&self, folder: &str) -> io::Result<()>;

    /// Gives a file a name that no file has; an error of kind `AlreadyExists` if one does.
    fn publish(&self, from: &str, to: &str) -> io::Result<()>;

    /// Exchanges two names, atomically. An error of kind `Unsupported` if the file system cannot: nothing was done.
    fn exchange(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file the name that another has, in one step; the other loses it.
    fn replace(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file a second name, which no file has (`AlreadyExists`). An error of kind `Unsupported` or
    /// `PermissionDenied` if this one cannot have two.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;

    /// Refuses a file system that can neither exchange two names nor give a file a second one, with an error of kind
    /// `Unsupported` that says where. `folder` is one of our own, for files to try it with.
    fn check_file_system(&self, folder: &str) -> io::Result<()> {
        let _ = folder;
        Ok(())
    }

    /// Removes a name.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes creations, renames and removals in a folder (`""` is the root) durable.
    fn sync_folder(&self, folder: &str) -> io::Result<()>;

    /// Locks a file for as long as the result lives, creating it if needed; `Err(WouldBlock)` with the
    /// holder's text if another holds it. `text` is left in the file for the next one to read.
    fn lock(&self, name: &str, text: &str) -> Result<Box<dyn Lock>, LockError>;

    /// The time.
    fn now(&self) -> Micros;

    /// Sixteen random bytes.
    fn random(&self) -> [u8; 16];

    /// This boot of the operating system: the cache of an earlier one is gone.
    fn boot_id(&self) -> [u64; 2];

    /// Bytes that files may still take; `None` if the system cannot say.
    fn free_bytes(&self) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// How much files are extended in advance; little where every byte costs, as in a simulation.
    fn preallocation(&self) -> Preallocation {
        Preallocation::default()
    }
}

/// Bytes of zeros that files get in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preallocation {
    /// A journal grows by at least these bytes.
    pub min: u64,
    /// A journal grows by at most these bytes, unless one commit needs more.
    pub max: u64,
    /// A new generation has these bytes for the last round of carried frames.
    pub last_round: u64,
}

impl Default for Preallocation {
    fn default() -> Self {
        Self {
            min: SPACE_BYTES_MIN,
            max: SPACE_BYTES_MAX,
            last_round: LAST_ROUND_BYTES_MAX,
        }
    }
}

/// A held lock; dropping it releases it.
pub trait Lock: Debug + Send + Sync {
    /// False if the path of the lock names another file now, or none: another process can lock that.
    fn is_held(&self) -> io::Result<bool> {
        Ok(true)
    }
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Another process, or another store of this one, holds it; the text that it left in the file.
    Held(String),
    /// The file could not be made or locked.
    Io(io::Error),
}

/// A file that another process may still write.
pub trait SourceFile: Debug + Send {
    /// Its state now.
    fn stamp(&self) -> io::Result<Stamp>;

    /// Reads bytes at a position; returns how many, 0 at the end.
    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize>;

    /// The first position from one on that is in no hole; none if the rest of the file is a hole.
    fn data_from(&self, position: u64) -> io::Result<Option<u64>> {
        Ok(Some(position))
    }
}

/// An open file.
pub trait File: Debug + Send + Sync {
    /// The identity of the file.
    fn id(&self) -> FileId;

    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// True if it has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads bytes at a position; returns how many, 0 at the end.
    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at a position, growing the file if needed.
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was written durable (data, and the length if it grew).
    fn sync(&self) -> io::Result<()>;

    /// Makes `bytes` durable, which overwrote synced bytes at `position`. Other writes to the file may become durable
    /// as well, or not.
    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let _ = (position, bytes);
        self.sync()
    }

    /// Waits until what was written so far has left memory, so that syncs of other files wait for little. It need not
    /// survive a power cut.
    fn write_out(&self) -> io::Result<()> {
        Ok(())
    }

    /// Maps the first `len` bytes; later writes show, unless the implementation copies.
    fn map(&self, len: u64) -> io::Result<Map>;

    /// True if the file is not open or mapped elsewhere, in this process or another; what was mapped through this
    /// opening does not count. An error of kind `Unsupported` if the system cannot say.
    fn is_sole_opening(&self) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Stores a cell of a page for readers (an atomic release store); durable at some time, or never.
    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()>;

    /// Makes the file read-only, against accidents (mode 0400); `readers` is a group that may read it (0440). After an
    /// error only the owner may.
    fn protect(&self, readers: Option<u32>) -> io::Result<()>;
}
