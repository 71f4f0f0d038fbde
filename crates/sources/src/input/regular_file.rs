//! Files that the person named to be read.

use std::fs::File;
use std::io;
use std::path::Path;

use amem_host::files::{FileFault, FileKind, open_file};

/// A file that the person named: a pipe or a device is refused at once, and does not hold the import.
pub(super) fn open_named(path: &Path) -> io::Result<File> {
    match open_file(path, FileKind::Named) {
        Ok(Some((file, _))) => Ok(file),
        Ok(None) => Err(io::ErrorKind::NotFound.into()),
        Err(FileFault::Io { source, .. }) => Err(source),
        Err(fault) => Err(io::Error::new(io::ErrorKind::InvalidInput, fault)),
    }
}
