//! A file that gets its name only when it is complete: written under a temporary name, synced, renamed.
//!
//! Promises: an existing file is never replaced; when `publish` returns, the file is durable; after a failure no file
//! is left behind.
//!
//! Not here: how a failure is reported (`new_file`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use amem_format::base::image::Sink;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Owner only; the daemon widens the mode of a brain that it adopts.
const MODE: u32 = 0o600;

/// The file system, or a simulated one that can crash.
pub trait FileSystem {
    type File;

    /// Creates a file; it must not exist.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    fn write_at(&self, file: &Self::File, position: u64, bytes: &[u8]) -> io::Result<()>;

    fn sync(&self, file: &Self::File) -> io::Result<()>;

    /// Renames `from` to `to`. `AlreadyExists` if `to` exists.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;
}

#[derive(Debug)]
pub struct OsFileSystem;

impl FileSystem for OsFileSystem {
    type File = File;

    fn create(&self, path: &Path) -> io::Result<File> {
        let mut how = OpenOptions::new();
        let how = how.read(true).write(true).create_new(true);
        how.mode(MODE).open(path)
    }

    fn write_at(&self, file: &File, position: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, position)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot; a second name can be given by all that have links, and to nothing else.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                fs::hard_link(from, to)?;
                fs::remove_file(from).inspect_err(|_| {
                    // The caller of a failed publish may assume that `to` does not exist.
                    let file =
                        |path| fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino()));
                    if file(from).is_ok_and(|ours| file(to).is_ok_and(|named| named == ours)) {
                        drop(fs::remove_file(to));
                    }
                })
            }
            done => Ok(done?),
        }
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

#[derive(Debug)]
pub struct FileError {
    /// A verb with an object, after "cannot".
    pub action: &'static str,
    pub path: PathBuf,
    pub source: io::Error,
}

/// A file that is not complete yet. Dropping it removes it.
#[derive(Debug)]
pub struct AtomicFile<P: FileSystem> {
    place: P,
    file: P::File,
    tmp: PathBuf,
    to: PathBuf,
    bytes: u64,
    is_published: bool,
}

impl<P: FileSystem> AtomicFile<P> {
    /// Creates the file under the temporary name `to`.tmp. `AlreadyExists` if another attempt left one, or is writing
    /// it.
    pub fn create(place: P, to: &Path) -> Result<Self, FileError> {
        let mut tmp = to.as_os_str().to_owned();
        tmp.push(".tmp");
        let tmp = PathBuf::from(tmp);
        match place.create(&tmp) {
            Ok(file) => Ok(Self {
                place,
                file,
                tmp,
                to: to.to_owned(),
                bytes: 0,
                is_published: false,
            }),
            Err(source) => Err(FileError {
                action: "create",
                path: tmp,
                source,
            }),
        }
    }

    pub fn write(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.place.write_at(&self.file, position, bytes)?;
        self.bytes = self.bytes.max(position + bytes.len() as u64);
        Ok(())
    }

    /// Gives the file its name, durably. Returns its size in bytes. `AlreadyExists` if `to` exists.
    pub fn publish(mut self) -> Result<u64, FileError> {
        let fail = |action, path: &Path, source| FileError {
            action,
            path: path.to_owned(),
            source,
        };
        let synced = self.place.sync(&self.file);
        synced.map_err(|e| fail("sync", &self.tmp, e))?;
        let named = self.place.publish(&self.tmp, &self.to);
        named.map_err(|e| fail("name", &self.to, e))?;
        self.is_published = true;
        let folder = folder_of(&self.to);
        let synced = self.place.sync_folder(&folder);
        synced.map_err(|e| fail("sync the folder", &folder, e))?;
        Ok(self.bytes)
    }
}

impl<P: FileSystem> Drop for AtomicFile<P> {
    fn drop(&mut self) {
        if !self.is_published {
            // The failure itself was reported; the next attempt reports a file that stays.
            let _leftover = self.place.remove(&self.tmp);
        }
    }
}

impl<P: FileSystem> Sink for AtomicFile<P> {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> amem_format::Result<()> {
        let written = self.write(position, bytes);
        written.map_err(|e| amem_format::Error::io("write", &self.tmp, e))
    }
}

pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
