//! The file `.amemd/webhooks.json`: the webhooks, their secrets and their positions.
//!
//! Promises: it is whole, new or old, after a power cut too; only the daemon's user can read it; a file that others can
//! read is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use amem_store::disk::Disk;
use amem_store::disk::atomic_file;
use amem_store::disk::os::OsDisk;
use amem_store::folder::OWN;
use serde::{Deserialize, Serialize};

use super::webhook::Webhook;
use crate::error::{Error, Result};
use crate::limits::WEBHOOKS_FILE_BYTES_MAX;
use amem_host::files::{FileFault, FileKind, read_file};
use amem_host::trust::OthersMay;

/// Its name among our own files.
const NAME: &str = "webhooks.json";
/// The version that this daemon writes, and the newest that it reads.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct FileHead {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct FileJson<L> {
    version: u32,
    webhooks: L,
}

/// The file of webhooks in a folder of brains.
#[derive(Debug)]
pub(super) struct WebhooksFile {
    folder: PathBuf,
    path: PathBuf,
}

impl WebhooksFile {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            path: folder.join(OWN).join(NAME),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The webhooks; none if there is no file yet.
    pub(super) fn read(&self) -> Result<Vec<Webhook>> {
        let kind = FileKind::Settings(OthersMay::Nothing);
        let read = read_file(&self.path, kind, WEBHOOKS_FILE_BYTES_MAX);
        let read = read.map_err(|fault| match fault {
            FileFault::Io { source, .. } => Error::io("read the webhooks in", &self.path, source),
            fault => self.wrong(fault.why()),
        })?;
        let Some(bytes) = read else {
            return Ok(Vec::new());
        };
        // The error of a parser may quote the file, which has secrets.
        let place = |e: serde_json::Error| {
            let (line, column) = (e.line(), e.column());
            self.wrong(format!(
                "it is damaged at line {line}, column {column}: move it away, and create the webhooks again"
            ))
        };
        let head: FileHead = serde_json::from_slice(&bytes).map_err(place)?;
        if head.version > VERSION {
            let version = head.version;
            return Err(self.wrong(format!(
                "it has version {version}, a newer amemd wrote it, and this one reads up to {VERSION}"
            )));
        }
        let whole: FileJson<Vec<Webhook>> = serde_json::from_slice(&bytes).map_err(place)?;
        Ok(whole.webhooks)
    }

    fn wrong(&self, why: String) -> Error {
        Error::File {
            origin: self.path.display().to_string(),
            why,
        }
    }

    /// Replaces the file. Its mode is 0600.
    pub(super) fn write(&self, webhooks: &[Webhook]) -> Result<()> {
        let whole = FileJson {
            version: VERSION,
            webhooks,
        };
        let bytes = serde_json::to_vec(&whole).map_err(|e| self.wrong(e.to_string()))?;
        let disk = OsDisk::new(&self.folder);
        let disk = disk.map_err(|e| Error::io("write the webhooks into", &self.path, e))?;
        let disk: Arc<dyn Disk> = Arc::new(disk);
        let (tmp, name) = (format!("{OWN}/{NAME}.new"), format!("{OWN}/{NAME}"));
        Ok(atomic_file::write(&disk, OWN, &tmp, &name, &bytes)?)
    }
}
