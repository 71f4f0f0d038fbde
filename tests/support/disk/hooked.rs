//! A disk with something in between: a test's own code runs before a file is opened, before each write and each sync of
//! one, and before one loses its name.

use std::fmt;
use std::io;
use std::sync::Arc;

use amem_store::disk::{Disk, File};

use super::forward;

/// What is about to happen to a file, or to whatever has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// `Disk::open`
    Open,
    /// `File::write_at`
    Write,
    /// `File::sync`, `File::sync_part`
    Sync,
    /// `Disk::remove`, `Disk::replace`
    Unname,
}

type Hook = Arc<dyn Fn(About) + Send + Sync>;

/// The disk.
#[derive(Clone)]
pub struct HookedDisk {
    inner: Arc<dyn Disk>,
    hook: Hook,
}

impl HookedDisk {
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

impl fmt::Debug for HookedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Disk for HookedDisk {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.inner.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        (self.hook)(About::Open);
        Ok(self.file(self.inner.open(name)?))
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        (self.hook)(About::Unname);
        self.inner.replace(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        (self.hook)(About::Unname);
        self.inner.remove(name)
    }

    forward!(Disk, |this| this.inner;
        source, identity, list, create_folder, publish, exchange, link, sync_folder, lock, now, random, boot_id, preallocation);
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

    forward!(File, |this| this.inner; id, len, read_at, write_out, map, store_cell, protect, is_sole_opening);
}
