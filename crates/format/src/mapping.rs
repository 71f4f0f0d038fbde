//! Bytes of a file in memory: the one place of this crate with unsafe code besides SIMD.
//!
//! A brain's file is mapped read-only and shared, so what its writer adds appears without copying. Part of
//! such a mapping changes under the reader: the journal past its committed end, and the live page. So a
//! `Map` never hands out the whole; callers ask for ranges that they know to be immutable (the base, or
//! frames below `committed`), and read the live page's cells atomically.
//!
//! Promises: a range outside the mapping is `None`, never a fault.
//! Not promised: anyone who *truncates* a mapped file kills its readers with SIGBUS. Owned brains have mode
//! 0400 so that this takes intent; a reader of files it does not trust takes a copy (`Map::owned`).

#![expect(
    unsafe_code,
    reason = "a mapping lends its bytes, and cells of it are loaded as atomics"
)]

use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::{MmapOptions, MmapRaw};

use crate::append::AppendVec;
use crate::publish;

/// Address space that is set aside behind a mapped file for what is added to it, at least; as much as the file has if
/// that is more. It costs addresses, not memory.
const RESERVE_MIN: u64 = 64 << 20;

/// The bytes of a file from its start up to a length, which is known to be within the file.
#[derive(Debug)]
pub struct Map(Kind);

#[derive(Debug)]
enum Kind {
    /// A mapping that may reach past the file's end, and how far the file is known to reach: what is behind that is
    /// never touched.
    Shared(MmapRaw, AtomicU64),
    /// Eight-byte words, so that sections keep their alignment; and the length in bytes.
    Owned(Box<[u64]>, usize),
}

impl Map {
    /// Maps the first `len` bytes of a file, shared and read-only. `len` must not pass the file's end.
    pub fn shared(file: &File, len: u64) -> io::Result<Self> {
        let bytes =
            usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        if bytes == 0 {
            return Ok(Self::owned(&[]));
        }
        if file.metadata()?.len() < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let map = |bytes| MmapOptions::new().len(bytes).map_raw_read_only(file);
        Self::with_reserve(bytes, map)
    }

    /// Maps so many bytes, which the file has, and what is set aside behind them.
    fn with_reserve(bytes: usize, map: impl Fn(usize) -> io::Result<MmapRaw>) -> io::Result<Self> {
        let len = bytes as u64;
        let reserved = usize::try_from(len.saturating_add(len.max(RESERVE_MIN))).ok();
        // Addresses may be short, as by `ulimit -v`: then the file is mapped anew when it has grown.
        let mapping = match reserved.and_then(|bytes| map(bytes).ok()) {
            Some(mapping) => mapping,
            None => map(bytes)?,
        };
        Ok(Self(Kind::Shared(mapping, AtomicU64::new(len))))
    }

    /// Has the mapping reach `len` bytes, which the file has; false if it can't, and the file must be mapped anew.
    fn extend(&self, len: u64) -> bool {
        match &self.0 {
            Kind::Shared(map, known) if len <= map.len() as u64 => {
                known.fetch_max(len, Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }

    /// A copy of bytes.
    pub fn owned(bytes: &[u8]) -> Self {
        let mut words = vec![0u64; bytes.len().div_ceil(8)].into_boxed_slice();
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self(Kind::Owned(words, bytes.len()))
    }

    /// The first `len` bytes of these words, which are little-endian; fewer if there are fewer.
    pub fn of_words(words: Box<[u64]>, len: u64) -> Self {
        let len = len.min(8 * words.len() as u64) as usize;
        Self(Kind::Owned(words, len))
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> u64 {
        match &self.0 {
            // Whoever asks for bytes that were added has seen what leads to them, which was published after this.
            Kind::Shared(_, known) => known.load(Ordering::Relaxed),
            Kind::Owned(_, len) => *len as u64,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes `offset..offset + len`, which the caller knows to be immutable.
    #[inline]
    pub fn slice(&self, offset: u64, len: u64) -> Option<&[u8]> {
        let end = offset.checked_add(len)?;
        if end > self.len() {
            return None;
        }
        match &self.0 {
            Kind::Shared(map, _) => {
                // SAFETY: `offset + len` is within the mapping and the file (checked above), and the mapping lives
                // as long as `self`. The range is immutable: callers ask only for the base and for committed frames,
                // which no writer of ours changes (P2), and a foreign truncation is documented above.
                Some(unsafe {
                    std::slice::from_raw_parts(map.as_ptr().add(offset as usize), len as usize)
                })
            }
            Kind::Owned(words, _) => {
                bytemuck::cast_slice::<u64, u8>(words).get(offset as usize..end as usize)
            }
        }
    }

    /// The 8-byte cell at `offset`, which a writer may change: a relaxed load, then an acquire fence, so that
    /// what the writer stored before its release store of this cell is visible afterwards.
    #[inline]
    pub fn load(&self, offset: u64) -> Option<u64> {
        if !offset.is_multiple_of(8) || offset.checked_add(8)? > self.len() {
            return None;
        }
        match &self.0 {
            Kind::Shared(map, _) => {
                // SAFETY: in bounds and aligned (checked above; mappings begin at a page). The memory may be
                // read-only: Rust allows relaxed atomic loads of at most pointer size there.
                let cell = unsafe {
                    AtomicU64::from_ptr(map.as_mut_ptr().add(offset as usize).cast::<u64>())
                };
                Some(u64::from_le(publish::load(cell)))
            }
            Kind::Owned(words, _) => Some(u64::from_le(words[offset as usize / 8])),
        }
    }
}

/// True if this descriptor, with what was mapped or duplicated from it, is all that has its file open: in no process is
/// there another descriptor, or a mapping that was made by one. An error of kind `Unsupported` where no one can tell;
/// others, as of a file that belongs to another user, are the system's.
///
/// A write lease is had by that one alone (fcntl(2), `F_SETLEASE`); it is given back at once.
#[cfg(target_os = "linux")]
pub fn is_sole_opening(file: &File) -> io::Result<bool> {
    /// Of the kernel's asm-generic/fcntl.h, which the processors that we build for follow; libc does not have it.
    const F_SETSIG: i32 = 10;
    let call = |command: i32, argument: i32| {
        // SAFETY: the descriptor is open as long as `file` lives, and these commands take an integer: no memory of
        // this process is read or written.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // Whoever opens the file while the lease is held makes the kernel tell us: by what is ignored unless asked for.
    call(F_SETSIG, libc::SIGURG)?;
    match call(libc::F_SETLEASE, libc::F_WRLCK) {
        Ok(()) => call(libc::F_SETLEASE, libc::F_UNLCK).map(|()| true),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY)) => Ok(false),
        // A file system without leases.
        Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP)) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(e) => Err(e),
    }
}

/// True if this descriptor is all that has its file open; only Linux can tell.
#[cfg(not(target_os = "linux"))]
pub fn is_sole_opening(_file: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The successive mappings of one growing file, each from its start and twice as long.
///
/// A slice handed out from an earlier, shorter mapping stays valid: none is dropped before all are.
#[derive(Debug, Default)]
pub struct Growing(AppendVec<Arc<Map>>);

impl Growing {
    /// A file mapped once.
    pub fn new(map: Arc<Map>) -> Self {
        let maps = AppendVec::new();
        maps.push(map);
        Self(maps)
    }

    /// Has the newest mapping reach `len` bytes, which the file has: where it can't, the file is mapped anew.
    ///
    /// Mappings of a file that grows are doubled, so that they are few whatever the number of steps.
    pub fn reach(&self, len: u64, map: impl FnOnce() -> io::Result<Map>) -> io::Result<()> {
        if !self.newest().is_some_and(|newest| newest.extend(len)) {
            self.0.push(Arc::new(map()?));
        }
        Ok(())
    }

    /// The newest mapping.
    #[inline]
    pub fn newest(&self) -> Option<&Map> {
        self.0.get(self.0.len().wrapping_sub(1)).map(Arc::as_ref)
    }

    /// The bytes mapped.
    pub fn len(&self) -> u64 {
        self.newest().map_or(0, Map::len)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As `Map::slice`, of the newest mapping.
    #[inline]
    pub fn slice(&self, offset: u64, len: u64) -> Option<&[u8]> {
        self.newest()?.slice(offset, len)
    }

    /// As `Map::load`, of the newest mapping.
    #[inline]
    pub fn load(&self, offset: u64) -> Option<u64> {
        self.newest()?.load(offset)
    }
}

/// One page of a file, mapped for its writer: the cells that readers watch.
#[derive(Debug)]
pub struct Cells(MmapRaw);

impl Cells {
    /// Maps `len` bytes at `offset` (a multiple of the page size) for reading and writing.
    pub fn shared(file: &File, offset: u64, len: usize) -> io::Result<Self> {
        Ok(Self(
            MmapOptions::new().offset(offset).len(len).map_raw(file)?,
        ))
    }

    /// Stores a cell with release: who loads it sees everything written before. An error if the file system can't take
    /// it: it is full, and writes to a place of its own what is written again, or it has failed.
    ///
    /// # Panics
    /// If `offset` is not aligned or not within the page: both are constants of the format.
    pub fn store(&self, offset: usize, value: u64) -> io::Result<()> {
        assert!(
            offset.is_multiple_of(8) && offset + 8 <= self.0.len(),
            "a cell outside its page"
        );
        self.make_writable()?;
        // SAFETY: in bounds and aligned (just asserted; the mapping begins at a page), and mapped writable.
        let cell = unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().add(offset).cast::<u64>()) };
        publish::store(cell, value.to_le());
        Ok(())
    }

    /// Has the system do now what it else does at a store, where its failure would end the process (SIGBUS): after the
    /// page went to the medium, a store asks the file system anew (madvise(2), `MADV_POPULATE_WRITE`, Linux 5.14).
    #[cfg(target_os = "linux")]
    fn make_writable(&self) -> io::Result<()> {
        match self.0.advise(Advice::PopulateWrite) {
            Err(e) if e.raw_os_error() == Some(libc::EFAULT) => {
                let why = "the file system takes no write of a page that it has: it is full, or has failed";
                Err(io::Error::new(io::ErrorKind::StorageFull, why))
            }
            // An earlier Linux.
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            done => done,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn make_writable(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mapping_of_a_removed_file_counts_as_an_opening_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, [7; 5000]).unwrap();
        for writable in [false, true] {
            let open = || {
                let mut options = File::options();
                options.read(true).write(writable).open(&path).unwrap()
            };
            let ours = open();
            assert!(is_sole_opening(&ours).unwrap());
            // What came of our own descriptor is ours.
            let own = Map::shared(&ours, 5000).unwrap();
            let other = File::open(&path).unwrap();
            assert!(!is_sole_opening(&ours).unwrap());
            let mapped = Map::shared(&other, 5000).unwrap();
            drop(other);
            assert!(!is_sole_opening(&ours).unwrap());
            assert_eq!(mapped.slice(4999, 1), Some(&[7][..]));
            drop(mapped);
            assert!(is_sole_opening(&ours).unwrap());
            assert_eq!(own.slice(4999, 1), Some(&[7][..]));
        }
        let ours = File::options().read(true).write(true).open(&path).unwrap();
        let other = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!is_sole_opening(&ours).unwrap());
        drop(other);
        assert!(is_sole_opening(&ours).unwrap());
    }

    #[test]
    fn a_file_that_grows_step_by_step_is_mapped_few_times_and_what_was_lent_stays() -> io::Result<()>
    {
        const STEP: u64 = 1 << 20;
        let file = tempfile::tempfile()?;
        let write = |step: u64| file.write_all_at(&[step as u8; 8], step * STEP);
        write(0)?;
        let map = |len| Map::shared(&file, len);
        let growing = Growing::new(Arc::new(map(8)?));
        let first = growing.slice(0, 8);
        for step in 1..=1000 {
            write(step)?;
            let len = step * STEP + 8;
            assert_eq!(growing.slice(step * STEP, 8), None, "not known to be there");
            growing.reach(len, || map(len))?;
            assert_eq!(growing.len(), len);
            assert_eq!(growing.slice(step * STEP, 8), Some(&[step as u8; 8][..]));
            assert_eq!(growing.slice(step * STEP + 1, 8), None);
            assert_eq!(growing.load(step * STEP + 8), None);
        }
        assert_eq!(first, Some(&[0; 8][..]));
        // 64 MiB, 128 and so on up to 1 GiB.
        assert!(growing.0.len() <= 6, "{} mappings", growing.0.len());
        Ok(())
    }

    #[test]
    fn without_spare_addresses_a_file_is_mapped_at_its_length_and_remapped_on_growth()
    -> io::Result<()> {
        let file = tempfile::tempfile()?;
        file.write_all_at(&[1; 4096], 0)?;
        let short = |bytes: usize| {
            if bytes as u64 > RESERVE_MIN {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            MmapOptions::new().len(bytes).map_raw_read_only(&file)
        };
        let growing = Growing::new(Arc::new(Map::with_reserve(4096, short)?));
        let first = growing.slice(0, 4096);
        file.write_all_at(&[2; 4096], 4096)?;
        growing.reach(8192, || Map::with_reserve(8192, short))?;
        assert_eq!(growing.0.len(), 2, "mappings");
        assert_eq!(growing.slice(4096, 4096), Some(&[2; 4096][..]));
        assert_eq!(growing.slice(4097, 4096), None);
        assert_eq!(first, Some(&[1; 4096][..]));
        let refused = Map::with_reserve(8192, |_| Err(io::ErrorKind::OutOfMemory.into()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        Ok(())
    }

    #[test]
    fn ranges_outside_are_none() {
        let map = Map::owned(b"0123456789");
        assert_eq!(map.slice(2, 3), Some(&b"234"[..]));
        assert_eq!(map.slice(10, 0), Some(&b""[..]));
        assert_eq!(map.slice(10, 1), None);
        assert_eq!(map.slice(u64::MAX, 2), None);
        assert_eq!(map.load(0), Some(u64::from_le_bytes(*b"01234567")));
        assert_eq!(map.load(4), None);
        assert_eq!(map.load(8), None);
    }
}
