//! Files that the person named to be read.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

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

/// An open file from its beginning, whatever others read of it.
pub(super) struct PositionedFile {
    file: Arc<File>,
    at: u64,
}

impl PositionedFile {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for PositionedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
