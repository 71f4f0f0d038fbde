//! A new file: written under another name, synced, and given its name only when it is whole.
//!
//! Promises: a file that exists is never replaced; when `publish` returns the file is there durably; if
//! something fails before, nothing is left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amem_core::fold::image::Sink;
use amem_core::fold::{self, Options, fold};
use amem_core::view::View;
use amem_store::Error;
use amem_store::disk::os::OsDisk;
use amem_store::whole::Whole;
use uuid::Uuid;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::source::folder_of;

/// A file that has no name yet; read and written by its owner. The daemon takes a brain's mode further when it adopts it.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: Whole,
    tmp: PathBuf,
    to: PathBuf,
    name: String,
    /// Where the next bytes of a stream go.
    end: u64,
}

impl NewFile {
    /// Begins a file that is to stand at `to`, where nothing may be yet.
    pub(crate) fn create(to: &Path) -> Result<Self, Failure> {
        check_free(to)?;
        let name = to.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            let what = format!("{} has no name in UTF-8", to.display());
            Failure::new(Exit::Usage, "name", what, "choose another name")
        })?;
        let (folder, tmp) = (folder_of(to), format!("{name}.tmp"));
        let disk = OsDisk::new(&folder).map_err(|e| Failure::io("open the folder", &folder, &e))?;
        let path = folder.join(&tmp);
        let file = Whole::create(Arc::new(disk), &tmp).map_err(|e| match e {
            Error::Disk { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                Failure::refused(
                    "busy",
                    format!(
                        "{} exists: the file is being written, or was not finished",
                        path.display()
                    ),
                    "if nothing else writes it, remove it",
                )
            }
            e => failure(e, &path),
        })?;
        Ok(Self {
            file,
            tmp: path,
            to: to.to_owned(),
            name: name.to_owned(),
            end: 0,
        })
    }

    /// Gives the file its name, durably. Returns its bytes.
    pub(crate) fn publish(self) -> Result<u64, Failure> {
        let len = self.file.file().len();
        let len = len.map_err(|e| Failure::io("look at", &self.tmp, &e))?;
        match self.file.publish("", &self.name) {
            Ok(()) => Ok(len),
            Err(Error::Exists { .. }) => Err(exists(&self.to)),
            Err(e) => Err(failure(e, &self.to)),
        }
    }
}

fn failure(error: Error, path: &Path) -> Failure {
    match error {
        Error::Disk { action, source, .. } => Failure::io(action, path, &source),
        e => Failure::io("write", path, &io::Error::other(e)),
    }
}

impl Sink for NewFile {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> amem_core::Result<()> {
        let written = self.file.file().write_at(position, bytes);
        written.map_err(|e| amem_core::Error::io("write", &self.tmp, e))
    }
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.file().write_at(self.end, bytes)?;
        self.end += bytes.len() as u64;
        Ok(bytes.len())
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
