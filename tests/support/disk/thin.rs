//! A disk on which a file of any size takes no room: of a part that is written at once, and is long, it keeps the last
//! byte.

use std::io;
use std::sync::Arc;

use amem_store::disk::{Disk, File};

use super::forward;

/// Parts of so many bytes are long.
pub const LONG: usize = 1 << 20;

/// The disk.
#[derive(Debug, Clone)]
pub struct Thin(Arc<dyn Disk>);

impl Thin {
    /// Around a disk that keeps holes as such.
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        Self(inner)
    }
}

impl Disk for Thin {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(ThinFile(self.0.create(name)?)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(ThinFile(self.0.open(name)?)))
    }

    forward!(Disk, |this| this.0;
        source, identity, list, create_folder, publish, exchange, replace, link, remove, sync_folder, lock, now, random,
        boot_id, preallocation);
}

#[derive(Debug)]
struct ThinFile(Arc<dyn File>);

impl File for ThinFile {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [before @ .., last] if bytes.len() >= LONG => {
                self.0.write_at(position + before.len() as u64, &[*last])
            }
            _ => self.0.write_at(position, bytes),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.sync_part(position, bytes)
    }

    forward!(File, |this| this.0; id, len, read_at, write_out, map, store_cell, protect, is_sole_opening);
}
