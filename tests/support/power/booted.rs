//! The real disk in a run of the operating system of its own, for the real one goes on when a file system's power
//! fails; and the same with a flaw, which a rig for power cuts must catch.

use std::io;
use std::sync::Arc;

use amem_core::Micros;
use amem_core::mapping::Map;
use amem_store::disk::os::OsDisk;
use amem_store::disk::{Disk, File, FileId, Lock, LockError, Source};

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
pub struct Booted {
    disk: OsDisk,
    boot: u64,
    flaw: Flaw,
}

impl Booted {
    /// Around the real disk. `boot` is which run of the operating system it is; 0 is the real one.
    pub fn new(disk: OsDisk, boot: u64, flaw: Flaw) -> Self {
        Self { disk, boot, flaw }
    }

    fn file(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        match self.flaw {
            Flaw::NoSync => Arc::new(Unsynced(file)),
            Flaw::None => file,
        }
    }
}

impl Disk for Booted {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.disk.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.disk.open(name)?))
    }

    fn source(&self, name: &str, alone: bool) -> io::Result<Box<dyn Source>> {
        self.disk.source(name, alone)
    }

    fn identity(&self, name: &str) -> io::Result<FileId> {
        self.disk.identity(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.disk.create_folder(folder)
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.publish(from, to)
    }

    fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.exchange(from, to)
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.replace(from, to)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.link(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        match self.flaw {
            Flaw::None => self.disk.sync_folder(folder),
            Flaw::NoSync => Ok(()),
        }
    }

    fn lock(&self, name: &str, text: &str) -> Result<Box<dyn Lock>, LockError> {
        self.disk.lock(name, text)
    }

    fn now(&self) -> Micros {
        self.disk.now()
    }

    fn random(&self) -> [u8; 16] {
        self.disk.random()
    }

    fn boot_id(&self) -> [u64; 2] {
        let [high, low] = self.disk.boot_id();
        [high, low ^ self.boot]
    }
}

/// A file that says it is synced.
#[derive(Debug)]
struct Unsynced(Arc<dyn File>);

impl File for Unsynced {
    fn id(&self) -> FileId {
        self.0.id()
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(position, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn map(&self, len: u64) -> io::Result<Map> {
        self.0.map(len)
    }

    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()> {
        self.0.store_cell(page, offset, value)
    }

    fn protect(&self, readers: Option<u32>) -> io::Result<()> {
        self.0.protect(readers)
    }
}
