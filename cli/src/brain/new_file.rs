//! New files: complete or absent (`atomic_file`), with failures that say what to do.

use std::fs;
use std::io;
use std::path::Path;

use amem_format::base::image::Sink;
use amem_format::base_builder;
use amem_format::base_builder::{Options, write_base};
use amem_format::view::View;
use uuid::Uuid;

use crate::atomic_file::folder_of;
use crate::atomic_file::{AtomicFile, FileError, OsFileSystem};
use crate::exit::Exit;
use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct NewFile {
    whole: AtomicFile<OsFileSystem>,
    /// The position of the next bytes of a stream.
    end: u64,
}

impl NewFile {
    /// Nothing may exist at `to`.
    pub(crate) fn create(to: &Path) -> Result<Self, Failure> {
        check_free(to)?;
        let whole =
            AtomicFile::create(OsFileSystem, to).map_err(|failed| match failed.source.kind() {
                io::ErrorKind::AlreadyExists => Failure::refused(
                    "busy",
                    format!(
                        "{} exists: the file is being written, or was left incomplete",
                        failed.path.display()
                    ),
                    "if nothing else writes it, remove it",
                ),
                _ => io_failure(&failed),
            })?;
        Ok(Self { whole, end: 0 })
    }

    /// Gives the file its name, durably. Returns its size in bytes.
    pub(crate) fn publish(self) -> Result<u64, Failure> {
        self.whole
            .publish()
            .map_err(|failed| match failed.source.kind() {
                io::ErrorKind::AlreadyExists => exists(&failed.path),
                _ => io_failure(&failed),
            })
    }
}

fn io_failure(failed: &FileError) -> Failure {
    Failure::io(failed.action, &failed.path, &failed.source)
}

impl Sink for NewFile {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> amem_format::Result<()> {
        self.whole.write_at(position, bytes)
    }
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.whole.write(self.end, bytes)?;
        self.end += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a brain: a base, and an empty journal.
pub(crate) fn write_brain(
    view: &View,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), Failure> {
    let end = write_base(view, options, sink)?;
    let epoch = Uuid::new_v4().as_u64_pair();
    base_builder::journal(&options.identity, epoch.0 ^ epoch.1, end, sink)?;
    Ok(())
}

/// Returns the size in bytes.
pub(crate) fn publish_brain(view: &View, options: &Options, to: &Path) -> Result<u64, Failure> {
    let mut file = NewFile::create(to)?;
    write_brain(view, options, &mut file)?;
    file.publish()
}

/// Refuses a path that exists, or whose folder does not.
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
            format!("create it: mkdir -p {}", folder.display()),
        ));
    }
    Ok(())
}

fn exists(to: &Path) -> Failure {
    Failure::refused(
        "exists",
        format!("{} exists and is not overwritten", to.display()),
        "choose another name, or remove it",
    )
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
