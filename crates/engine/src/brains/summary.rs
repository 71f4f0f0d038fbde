//! What a closed brain holds, read from its file as a reader would: nothing is opened for writing.
//!
//! Not here: which brains are asked for (`listing`).

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use amem_format::reader::Reader;
use amem_format::view::View;
use amem_format::{Lsn, Micros};
use uuid::Uuid;

/// Size and last commit of a brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrainSummary {
    /// The file's instance.
    pub instance: Uuid,
    /// The newest commit.
    pub lsn: Lsn,
    /// The time of the newest commit.
    pub time: Micros,
    /// Number of events, forgotten ones included.
    pub events: u64,
    /// Number of edges.
    pub edges: u64,
    /// Size of the file.
    pub file_bytes: u64,
}

/// Equal as long as nothing has written to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl FileStamp {
    fn of(path: &Path) -> io::Result<Self> {
        let meta = std::fs::metadata(path)?;
        Ok(Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            changed: (meta.mtime(), meta.mtime_nsec()),
        })
    }
}

impl BrainSummary {
    /// Of an open brain, or of a view of a file of this size.
    pub fn of(view: &View, file_bytes: u64) -> Self {
        Self {
            instance: view.instance(),
            lsn: view.lsn(),
            time: view.time(),
            events: view.nodes(),
            edges: view.edges(),
            file_bytes,
        }
    }

    /// `None` if the file is missing or cannot be read: opening it says why.
    pub(super) fn read(path: &Path, known: Option<(FileStamp, Self)>) -> Option<(FileStamp, Self)> {
        let stamp = FileStamp::of(path).ok()?;
        if let Some((before, summary)) = known
            && before == stamp
        {
            return Some((stamp, summary));
        }
        let view = Reader::open(path).and_then(|reader| reader.view()).ok()?;
        Some((stamp, Self::of(&view, stamp.bytes)))
    }
}
