//! A disk with something in between: a test's own code runs before each write and each sync of a file.

use std::fmt;
use std::io;
use std::sync::Arc;

use amem_core::Micros;
use amem_core::mapping::Map;
use amem_store::disk::{Disk, File, FileId, Lock, LockError, Source};

/// What is about to happen to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// `File::write_at`
    Write,
    /// `File::sync`, `File::sync_part`
    Sync,
}

type Hook = Arc<dyn Fn(About) + Send + Sync>;

/// The disk.
#[derive(Clone)]
pub struct Hooked {
    inner: Arc<dyn Disk>,
    hook: Hook,
}

impl Hooked {
    /// Around a disk. What the hook does, the caller of the disk feels: it may wait, and it may panic.
    pub fn new(inner: Arc<dyn Disk>, hook: impl Fn(About) + Send + Sync + 'static) -> Self {
        let hook = Arc::new(hook);
        Self { inner, hook }
    }

    fn file(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        let hook = self.hook.clone();
        Arc::new(HookedFile { inner: file, hook })
    }
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Disk for Hooked {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.inner.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.inner.open(name)?))
    }

    fn source(&self, name: &str, alone: bool) -> io::Result<Box<dyn Source>> {
        self.inner.source(name, alone)
    }

    fn identity(&self, name: &str) -> io::Result<FileId> {
        self.inner.identity(name)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.create_folder(folder)
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.publish(from, to)
    }

    fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.exchange(from, to)
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.replace(from, to)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.link(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.sync_folder(folder)
    }

    fn lock(&self, name: &str, text: &str) -> Result<Box<dyn Lock>, LockError> {
        self.inner.lock(name, text)
    }

    fn now(&self) -> Micros {
        self.inner.now()
    }

    fn random(&self) -> [u8; 16] {
        self.inner.random()
    }

    fn boot_id(&self) -> [u64; 2] {
        self.inner.boot_id()
    }
}

struct HookedFile {
    inner: Arc<dyn File>,
    hook: Hook,
}

impl fmt::Debug for HookedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl File for HookedFile {
    fn id(&self) -> FileId {
        self.inner.id()
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        (self.hook)(About::Write);
        self.inner.write_at(position, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        (self.hook)(About::Sync);
        self.inner.sync()
    }

    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        (self.hook)(About::Sync);
        self.inner.sync_part(position, bytes)
    }

    fn write_out(&self) -> io::Result<()> {
        self.inner.write_out()
    }

    fn map(&self, len: u64) -> io::Result<Map> {
        self.inner.map(len)
    }

    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()> {
        self.inner.store_cell(page, offset, value)
    }

    fn protect(&self, readers: Option<u32>) -> io::Result<()> {
        self.inner.protect(readers)
    }
}
