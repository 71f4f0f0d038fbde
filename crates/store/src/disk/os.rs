//! The real disk: one folder of a local file system.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use amem_format::Micros;
use amem_format::mapping::{Cells, Map};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{Disk, File, FileId, Lock, LockError, SourceFile, Stamp};
#[cfg(target_os = "linux")]
use crate::limits::PARTIAL_SYNC_BYTES_MAX;

/// A folder of a local file system.
#[derive(Debug)]
pub struct OsDisk {
    root: PathBuf,
}

impl OsDisk {
    /// The folder at `root`, which must exist.
    pub fn new(root: impl Into<PathBuf>) -> io::Result<Self> {
        let root = root.into();
        if !fs::metadata(&root)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        Ok(Self { root })
    }

    /// The folder's path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Exchanges the names of two new files, or gives one a third.
    fn try_names(&self, [first, second, third]: &[String; 3]) -> io::Result<()> {
        drop((self.create(first)?, self.create(second)?));
        match self.exchange(first, second) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
            done => return done,
        }
        match self.link(first, third) {
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
                ) =>
            {
                let why = format!(
                    "the file system of {} can neither exchange two names nor give a file two",
                    self.root.display()
                );
                Err(io::Error::new(io::ErrorKind::Unsupported, why))
            }
            done => done,
        }
    }

    fn file(&self, file: fs::File) -> io::Result<Arc<dyn File>> {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(Arc::new(OsFile {
            id: id(&meta),
            file,
            cells: OnceLock::new(),
        }))
    }
}

impl Disk for OsDisk {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.path(name))?;
        self.file(file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let path = self.path(name);
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let open = |how| retry_on_intr(|| rustix::fs::open(&path, flags | how, Mode::empty()));
        let read_only = open(OFlags::RDONLY)?;
        let read_only = fs::File::from(read_only);
        // Our own files are read-only, against accidents. The right to write comes back through our descriptor, and the
        // path must still name the same file.
        let before = read_only.metadata()?;
        // Readers in the group keep their access.
        let group = before.mode() & 0o040;
        read_only.set_permissions(fs::Permissions::from_mode(0o600 | group))?;
        let opened = open(OFlags::RDWR);
        let opened = opened.map_err(io::Error::from).and_then(|opened| {
            let file = fs::File::from(opened);
            let after = file.metadata()?;
            if (before.dev(), before.ino()) == (after.dev(), after.ino()) {
                self.file(file)
            } else {
                Err(io::Error::other(
                    "the file was replaced while it was opened",
                ))
            }
        });
        // The mode is restored at once: a check of modes would take this one for a user's. If that fails, the file is
        // protected once it is open.
        drop(read_only.set_permissions(before.permissions()));
        opened
    }

    fn source(&self, name: &str, alone: bool) -> io::Result<Box<dyn SourceFile>> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::RDONLY;
        let path = self.path(name);
        let file = match retry_on_intr(|| rustix::fs::open(&path, flags, Mode::empty())) {
            Ok(file) => fs::File::from(file),
            Err(Errno::LOOP) => {
                return Err(refused("it is a symbolic link: put the file itself here"));
            }
            // A socket, or a device without a driver.
            Err(Errno::NXIO | Errno::NODEV) => return Err(refused("it is no regular file")),
            Err(e) => return Err(e.into()),
        };
        let meta = file.metadata()?;
        let own = rustix::process::geteuid().as_raw();
        if !meta.is_file() {
            return Err(refused("it is no regular file"));
        }
        if alone && meta.nlink() > 1 {
            return Err(refused(
                "it has other names (hard links), through which it could be written: copy it here",
            ));
        }
        if meta.uid() != own && own != 0 {
            let why = format!(
                "it belongs to user {}, and this daemon is user {own}: copy it here as that user",
                meta.uid()
            );
            return Err(refused(why));
        }
        Ok(Box::new(OsSource(file)))
    }

    fn identity(&self, name: &str) -> io::Result<FileId> {
        let path = self.path(name);
        #[cfg(target_os = "linux")]
        match super::linux::identity(&path) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
            done => return done,
        }
        Ok(id(&fs::symlink_metadata(path)?))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let path = self.path(folder);
        for entry in uninterrupted(|| fs::read_dir(&path))? {
            let entry = entry?;
            if !entry.file_type()?.is_dir()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        match fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(self.path(folder))
        {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            done => done,
        }
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.path(from), self.path(to));
        match rustix::fs::renameat_with(CWD, &from, CWD, &to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::INVAL | Errno::NOSYS) => {
                // A file system without it: a hard link refuses to replace as well.
                fs::hard_link(&from, &to)?;
                fs::remove_file(&from)
            }
            Err(e) => Err(e.into()),
        }
    }

    fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.path(from), self.path(to));
        match rustix::fs::renameat_with(CWD, &from, CWD, &to, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            Err(Errno::INVAL | Errno::NOSYS) => Err(io::ErrorKind::Unsupported.into()),
            Err(e) => Err(e.into()),
        }
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.path(from), self.path(to))
    }

    fn check_file_system(&self, folder: &str) -> io::Result<()> {
        let random = u128::from_le_bytes(self.random());
        let probes = ["a", "b", "c"].map(|part| format!("{folder}/probe-{random:032x}-{part}"));
        let checked = self.try_names(&probes);
        for probe in &probes {
            // Not every one was made; one that stays is cleared as any unfinished file is.
            drop(self.remove(probe));
        }
        checked
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        fs::File::open(self.path(folder))?.sync_all()
    }

    fn lock(&self, name: &str, text: &str) -> Result<Box<dyn Lock>, LockError> {
        let path = self.path(name);
        let mut file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(LockError::Io)?;
        match retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).map_err(LockError::Io)?;
                return Err(LockError::Held(holder.trim().to_owned()));
            }
            Err(e) => return Err(LockError::Io(e.into())),
        }
        let written = file.write_all_at(text.as_bytes(), 0);
        match written.and_then(|()| file.set_len(text.len() as u64)) {
            // The lock holds without the text, and brains are to be read on a full disk.
            Err(e) if e.kind() != io::ErrorKind::StorageFull => return Err(LockError::Io(e)),
            _ => {}
        }
        let meta = file.metadata().map_err(LockError::Io)?;
        let id = (meta.dev(), meta.ino());
        let lock = OsLock {
            _file: file,
            path,
            id,
        };
        // Another process may have replaced the file between opening and locking it.
        match lock.is_held() {
            Ok(true) => Ok(Box::new(lock)),
            Ok(false) => Err(LockError::Io(io::Error::other(
                "it was replaced while it was locked",
            ))),
            Err(e) => Err(LockError::Io(e)),
        }
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let found = retry_on_intr(|| rustix::fs::statvfs(&self.root))?;
        Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
    }

    fn now(&self) -> Micros {
        let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |m| -m),
        };
        Micros(micros)
    }

    fn random(&self) -> [u8; 16] {
        // Two version-4 UUIDs carry 244 random bits; folded, every one of the 128 is random.
        let (a, b) = (
            uuid::Uuid::new_v4().as_u128(),
            uuid::Uuid::new_v4().as_u128(),
        );
        (a ^ b.rotate_left(64)).to_le_bytes()
    }

    fn boot_id(&self) -> [u64; 2] {
        amem_format::reader::boot_id()
    }
}

/// Repeats a call that a signal interrupted, where the standard library does not.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn id(meta: &fs::Metadata) -> FileId {
    FileId {
        device: meta.dev(),
        inode: meta.ino(),
        born: meta.created().map_or(0, nanoseconds),
    }
}

/// Nanoseconds since 1970; 0 before.
fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Why a file is not read.
fn refused(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// A file that another process may still write.
#[derive(Debug)]
struct OsSource(fs::File);

impl SourceFile for OsSource {
    fn stamp(&self) -> io::Result<Stamp> {
        let meta = self.0.metadata()?;
        Ok(Stamp {
            id: id(&meta),
            bytes: meta.len(),
            modified: nanoseconds(meta.modified()?),
        })
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.read_at(into, position))
    }

    #[cfg(target_os = "linux")]
    fn data_from(&self, position: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(&self.0, rustix::fs::SeekFrom::Data(position)) {
            Ok(at) => Ok(Some(at)),
            Err(Errno::NXIO) => Ok(None),
            // This file system tells of no holes.
            Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::SPIPE) => Ok(Some(position)),
            Err(e) => Err(e.into()),
        }
    }
}

/// A file's descriptor.
#[derive(Debug)]
struct OsFile {
    file: fs::File,
    id: FileId,
    /// The one page whose cells are stored to, mapped at its first store.
    cells: OnceLock<(u64, Cells)>,
}

impl File for OsFile {
    fn id(&self) -> FileId {
        self.id
    }

    fn len(&self) -> io::Result<u64> {
        #[cfg(target_os = "linux")]
        match super::linux::len(&self.file) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
            done => return done,
        }
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.file.read_at(into, position))
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, position)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    #[cfg(target_os = "linux")]
    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > PARTIAL_SYNC_BYTES_MAX {
            return self.sync();
        }
        match super::linux::write_synced(&self.file, position, bytes) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => self.sync(),
            done => done,
        }
    }

    #[cfg(not(target_vendor = "apple"))]
    fn write_out(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// To the drive, which may still have it in its cache: emptying that takes as long as a whole file's sync does.
    #[cfg(target_vendor = "apple")]
    fn write_out(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.file)?)
    }

    fn map(&self, len: u64) -> io::Result<Map> {
        Map::shared(&self.file, len)
    }

    fn is_sole_opening(&self) -> io::Result<bool> {
        amem_format::mapping::is_sole_opening(&self.file)
    }

    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()> {
        if self.cells.get().is_none() {
            let mapped = Cells::shared(&self.file, page, 4096)?;
            // Only the store's one thread comes here; a lost race would drop an equal mapping.
            drop(self.cells.set((page, mapped)));
        }
        match self.cells.get() {
            Some((mapped, cells)) if *mapped == page => cells.store(offset as usize, value),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a file has one live page",
            )),
        }
    }

    fn protect(&self, readers: Option<u32>) -> io::Result<()> {
        let mode = |mode| self.file.set_permissions(fs::Permissions::from_mode(mode));
        let Some(group) = readers else {
            return mode(0o400);
        };
        if self.file.metadata()?.gid() != group {
            // No other group may read it meanwhile, nor afterwards if this fails.
            mode(0o400)?;
            std::os::unix::fs::fchown(&self.file, None, Some(group)).map_err(|e| {
                let why = format!("giving it to group {group} ({e}): is this user in the group?");
                io::Error::new(e.kind(), why)
            })?;
        }
        mode(0o440)
    }
}

/// A locked descriptor; closing it unlocks.
#[derive(Debug)]
struct OsLock {
    _file: fs::File,
    path: PathBuf,
    /// Device and inode of the file.
    id: (u64, u64),
}

impl Lock for OsLock {
    fn is_held(&self) -> io::Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Ok(meta) => Ok((meta.dev(), meta.ino()) == self.id),
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            Err(e) => Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_what_a_file_system_can_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let disk = OsDisk::new(folder.path()).unwrap();
        disk.create_folder("own").unwrap();
        disk.check_file_system("own").unwrap();
        assert_eq!(disk.list("own").unwrap(), [""; 0]);
    }
}
