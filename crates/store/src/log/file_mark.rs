//! What a store left in its file, in two short reads: its length, and two cells of its live page.
//!
//! Not here: when that is compared, and what follows (`content_check`).

use std::io;

use amem_format::bytes::get_u64;
use amem_format::journal::live::{COMMITTED, HOME, LOOK};
use amem_format::journal::{frame, frame::Frame};

use crate::disk::File;

/// Bytes of the live page up to the end of the last cell that is read.
const CELLS: usize = HOME as usize + 8;

/// Where the checksum of a frame stands, from the start of the frame.
const CHECKSUM: u64 = 32;

/// What a store left in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileMark {
    /// Where the live page begins.
    pub(crate) page: u64,
    /// The cell that says whose file it is.
    pub(crate) home: u64,
    /// Its length, at least.
    pub(crate) bytes: u64,
    /// Its length, at most: an extension that the disk refused may have taken place in part.
    pub(crate) bytes_max: u64,
    /// Up to where frames are published.
    pub(crate) committed: u64,
}

/// The checksum of a frame that was synced, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameSeal {
    pub(crate) at: u64,
    pub(crate) checksum: u64,
}

impl FrameSeal {
    pub(crate) fn of(frame: &Frame<'_>) -> Self {
        Self {
            at: frame.payload_position - frame::HEADER as u64 + CHECKSUM,
            checksum: frame.checksum,
        }
    }
}

/// How the cells and the length of a file compare to a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closeness {
    /// As this store left them: it is the only writer.
    Exactly,
    /// At least so far: the writer may have gone on since.
    AtLeast,
}

/// What is wrong with a file; `None` if it is as it was left.
pub(crate) fn compare(
    file: &dyn File,
    mark: &FileMark,
    closeness: Closeness,
) -> io::Result<Option<String>> {
    let is_exact = closeness == Closeness::Exactly;
    let bytes = file.len()?;
    if bytes < mark.bytes || is_exact && bytes > mark.bytes_max {
        let left = mark.bytes;
        return Ok(Some(format!("it has {bytes} bytes, and had {left}")));
    }
    let mut cells = [0; CELLS];
    if !read_exact(file, mark.page, &mut cells)? {
        return Ok(Some("it is shorter than it was".into()));
    }
    if get_u64(&cells, HOME as usize) != mark.home {
        return Ok(Some("its live page is that of another file".into()));
    }
    let committed = get_u64(&cells, COMMITTED as usize) & !LOOK;
    if committed < mark.committed || is_exact && committed != mark.committed {
        let wrote = mark.committed;
        return Ok(Some(format!(
            "its journal ends at byte {committed}, and had been written up to byte {wrote}"
        )));
    }
    Ok(None)
}

/// Fills a buffer; false if the file ends before that.
pub(crate) fn read_exact(file: &dyn File, mut at: u64, mut into: &mut [u8]) -> io::Result<bool> {
    while !into.is_empty() {
        match file.read_at(at, into)? {
            0 => return Ok(false),
            read => {
                at += read as u64;
                into = &mut into[read..];
            }
        }
    }
    Ok(true)
}
