//! The real disk in a run of the operating system of its own, for the real one goes on when a file system's power
//! fails; and the same with a flaw, which a rig for power cuts must catch.

use std::io;
use std::sync::Arc;

use amem_store::disk::os::OsDisk;
use amem_store::disk::{Disk, File};

use crate::disk::forward;

/// What is done wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// Neither files nor folders are synced.
    NoSync,
}

impl Flaw {
    /// The flaw of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "no-sync" => Some(Self::NoSync),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NoSync => "no-sync",
        }
    }
}

/// The disk.
#[derive(Debug)]
pub struct BootDisk {
    disk: OsDisk,
    boot: u64,
    flaw: Flaw,
}

impl BootDisk {
    /// Around the real disk. `boot` is which run of the operating system it is; 0 is the real one.
    pub fn new(disk: OsDisk, boot: u64, flaw: Flaw) -> Self {
        Self { disk, boot, flaw }
    }

    fn file(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        match self.flaw {
            Flaw::NoSync => Arc::new(UnsyncedFile(file)),
            Flaw::None => file,
        }
    }
}

impl Disk for BootDisk {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.disk.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.disk.open(name)?))
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        match self.flaw {
            Flaw::None => self.disk.sync_folder(folder),
            Flaw::NoSync => Ok(()),
        }
    }

    fn boot_id(&self) -> [u64; 2] {
        let [high, low] = self.disk.boot_id();
        [high, low ^ self.boot]
    }

    forward!(Disk, |this| this.disk;
        source, identity, list, create_folder, publish, exchange, replace, link, remove, lock, now, random, preallocation);
}

/// A file that says it is synced.
#[derive(Debug)]
struct UnsyncedFile(Arc<dyn File>);

impl File for UnsyncedFile {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    forward!(File, |this| this.0; id, len, read_at, write_at, map, store_cell, protect, is_sole_opening);
}
