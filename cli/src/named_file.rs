//! Files that the person named on the command line: any owner, but no pipe and no device.

use std::fs::File;
use std::io;
use std::path::Path;

use amem_host::files::{FileKind, open_file, read_file};

use crate::failure::Failure;

/// Opens a file for reading. A pipe or a device is refused at once: it could hold the command for ever.
pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    match open_file(path, FileKind::Named).map_err(|fault| Failure::file(&fault))? {
        Some((file, _)) => Ok(file),
        None => Err(missing(path)),
    }
}

/// The bytes of a file, at most `bytes_max`.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let read = read_file(path, FileKind::Named, bytes_max);
    let bytes = read.map_err(|fault| Failure::file(&fault))?;
    bytes.ok_or_else(|| missing(path))
}

fn missing(path: &Path) -> Failure {
    Failure::io("open", path, &io::ErrorKind::NotFound.into())
}
