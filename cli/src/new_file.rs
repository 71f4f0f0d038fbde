//! A new file: written under another name, synced, and given its name only when it is whole.
//!
//! Promises: a file that exists is never replaced; when `publish` returns the file is there durably; if
//! something fails before, nothing is left behind.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use amem_core::fold::image::Sink;
use amem_core::fold::{self, Options, fold};
use amem_core::view::View;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use uuid::Uuid;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::source::folder_of;

/// Read and written by its owner; the daemon takes a brain's mode further when it adopts it.
const MODE: u32 = 0o600;

/// A file that has no name yet.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    tmp: PathBuf,
    to: PathBuf,
    /// Where the next bytes of a stream go.
    end: u64,
    is_published: bool,
}

impl NewFile {
    /// Begins a file that is to stand at `to`, where nothing may be yet.
    pub(crate) fn create(to: &Path) -> Result<Self, Failure> {
        check_free(to)?;
        let mut tmp = to.as_os_str().to_owned();
        tmp.push(".tmp");
        let tmp = PathBuf::from(tmp);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(MODE)
            .open(&tmp)
            .map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => Failure::refused(
                    "busy",
                    format!(
                        "{} exists: the file is being written, or was not finished",
                        tmp.display()
                    ),
                    "if nothing else writes it, remove it",
                ),
                _ => Failure::io("create", &tmp, &e),
            })?;
        Ok(Self {
            file,
            tmp,
            to: to.to_owned(),
            end: 0,
            is_published: false,
        })
    }

    /// Gives the file its name, durably. Returns its bytes.
    pub(crate) fn publish(mut self) -> Result<u64, Failure> {
        let fail = |action: &str, e: io::Error| Failure::io(action, &self.tmp, &e);
        self.file.sync_all().map_err(|e| fail("sync", e))?;
        let len = self.file.metadata().map_err(|e| fail("look at", e))?.len();
        rename_new(&self.tmp, &self.to)?;
        self.is_published = true;
        let folder = folder_of(&self.to);
        File::open(&folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|e| Failure::io("sync the folder", &folder, &e))?;
        Ok(len)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published {
            // Whatever failed has been told; a file that stays is told by the next try.
            let _leftover = fs::remove_file(&self.tmp);
        }
    }
}

impl Sink for NewFile {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> amem_core::Result<()> {
        self.file
            .write_all_at(bytes, position)
            .map_err(|e| amem_core::Error::io("write", &self.tmp, e))
    }
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(bytes, self.end)?;
        self.end += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a whole brain: base, and an empty journal behind it.
pub(crate) fn write_brain(
    view: &View,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), Failure> {
    let end = fold(view, options, sink)?;
    let epoch = Uuid::new_v4().as_u64_pair();
    fold::journal(&options.identity, epoch.0 ^ epoch.1, end, sink)?;
    Ok(())
}

/// Makes a new file that is a brain. Returns its bytes.
pub(crate) fn publish_brain(view: &View, options: &Options, to: &Path) -> Result<u64, Failure> {
    let mut file = NewFile::create(to)?;
    write_brain(view, options, &mut file)?;
    file.publish()
}

/// Nothing stands at a path yet, and its folder is there.
pub(crate) fn check_free(to: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(exists(to));
    }
    let folder = folder_of(to);
    if !folder.is_dir() {
        return Err(Failure::new(
            Exit::NotFound,
            "no_folder",
            format!("the folder {} does not exist", folder.display()),
            format!("make it: mkdir -p {}", folder.display()),
        ));
    }
    Ok(())
}

fn exists(to: &Path) -> Failure {
    Failure::refused(
        "exists",
        format!("{} exists, and is not overwritten", to.display()),
        "choose another name, or remove it",
    )
}

fn rename_new(from: &Path, to: &Path) -> Result<(), Failure> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(exists(to)),
        // Some file systems cannot; a second name can be given by all that have links, and to nothing else.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::hard_link(from, to).map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => exists(to),
                _ => Failure::io("name", to, &e),
            })?;
            fs::remove_file(from).map_err(|e| Failure::io("remove", from, &e))
        }
        Err(e) => Err(Failure::io("rename", from, &e.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new");
        let mut file = NewFile::create(&to).unwrap();
        file.write_all(b"whole").unwrap();
        assert_eq!(NewFile::create(&to).unwrap_err().code, "busy");
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut file = NewFile::create(&to).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!to.exists());
        assert_eq!(file.publish().unwrap(), 5);
        assert_eq!(fs::read(&to).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(NewFile::create(&to).unwrap_err().code, "exists");
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new");
        let file = NewFile::create(&to).unwrap();
        fs::write(&to, "other").unwrap();
        assert_eq!(file.publish().unwrap_err().code, "exists");
        assert_eq!(fs::read(&to).unwrap(), b"other");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
