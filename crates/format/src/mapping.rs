//! Memory-mapped files: the only module of this crate with unsafe code.
//!
//! A brain's file is mapped read-only and shared, so that the writer's additions appear without copying. Two parts of
//! such a mapping change while readers use it: the journal past its committed end, and the live page. So a `Map` never
//! hands out all its bytes: callers ask for ranges that they know to be immutable (the base, or frames below
//! `committed`), and load the cells of the live page atomically.
//!
//! Promises: a range outside the mapping is `None`, never a fault.
//! Not promised: a process that *truncates* a mapped file kills its readers with SIGBUS. Owned brains have mode 0400,
//! so that this takes intent; a reader of untrusted files works on a copy (`Map::owned`).

#![expect(
    unsafe_code,
    reason = "borrows bytes of a mapping, and loads its cells as atomics"
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

/// Address space reserved behind a mapped file for its growth: at least this, or the length of the file if that is
/// more. It costs addresses, not memory.
const RESERVE_MIN: u64 = 64 << 20;

/// The first bytes of a file, mapped or copied.
#[derive(Debug)]
pub struct Map(Backing);

#[derive(Debug)]
enum Backing {
    /// A mapping that may extend past the file's end, and the known length of the file; bytes past that are never
    /// accessed.
    Shared(MmapRaw, AtomicU64),
    /// Eight-byte words, so that sections stay aligned, and the length in bytes.
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

    /// Maps `bytes`, which are within the file, and the reserve behind them.
    fn with_reserve(bytes: usize, map: impl Fn(usize) -> io::Result<MmapRaw>) -> io::Result<Self> {
        let len = bytes as u64;
        let reserved = usize::try_from(len.saturating_add(len.max(RESERVE_MIN))).ok();
        // If address space is limited, as by `ulimit -v`, a file that grows is mapped again.
        let mapping = match reserved.and_then(|bytes| map(bytes).ok()) {
            Some(mapping) => mapping,
            None => map(bytes)?,
        };
        Ok(Self(Backing::Shared(mapping, AtomicU64::new(len))))
    }

    /// Extends the known length to `len`, which must be within the file; false if the file must be mapped again.
    fn extend(&self, len: u64) -> bool {
        match &self.0 {
            Backing::Shared(map, known) if len <= map.len() as u64 => {
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
        Self(Backing::Owned(words, bytes.len()))
    }

    /// The first `len` bytes of little-endian words; all of them if there are fewer.
    pub fn of_words(words: Box<[u64]>, len: u64) -> Self {
        let len = len.min(8 * words.len() as u64) as usize;
        Self(Backing::Owned(words, len))
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> u64 {
        match &self.0 {
            // Relaxed: a caller that knows of added bytes has seen a publication that followed this store.
            Backing::Shared(_, known) => known.load(Ordering::Relaxed),
            Backing::Owned(_, len) => *len as u64,
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
            Backing::Shared(map, _) => {
                // SAFETY: `offset + len` is within the mapping and the file (checked above), and the mapping lives
                // as long as `self`. The range is immutable: callers ask only for the base and for committed frames,
                // which no writer changes (P2). The module's documentation covers truncation by others.
                Some(unsafe {
                    std::slice::from_raw_parts(map.as_ptr().add(offset as usize), len as usize)
                })
            }
            Backing::Owned(words, _) => {
                bytemuck::cast_slice::<u64, u8>(words).get(offset as usize..end as usize)
            }
        }
    }

    /// The 8-byte cell at `offset`, which a writer may change: loaded with acquire, so that everything the writer
    /// stored before its release store of the cell is visible.
    #[inline]
    pub fn load(&self, offset: u64) -> Option<u64> {
        if !offset.is_multiple_of(8) || offset.checked_add(8)? > self.len() {
            return None;
        }
        match &self.0 {
            Backing::Shared(map, _) => {
                // SAFETY: in bounds and aligned (checked above; mappings begin at a page). The memory may be
                // read-only: Rust allows relaxed atomic loads of at most pointer size there.
                let cell = unsafe {
                    AtomicU64::from_ptr(map.as_mut_ptr().add(offset as usize).cast::<u64>())
                };
                Some(u64::from_le(publish::load(cell)))
            }
            Backing::Owned(words, _) => Some(u64::from_le(words[offset as usize / 8])),
        }
    }
}

/// True if no process has the file open or mapped, except through this descriptor and its duplicates.
///
/// Fails with kind `Unsupported` on file systems without leases, and with the system's error otherwise, for example on
/// a file of another user. The kernel grants a write lease only on a sole opening (fcntl(2), `F_SETLEASE`); the lease
/// is released at once.
#[cfg(target_os = "linux")]
pub fn is_sole_opening(file: &File) -> io::Result<bool> {
    /// From the kernel's asm-generic/fcntl.h, which holds for every supported processor; libc lacks it.
    const F_SETSIG: i32 = 10;
    let call = |command: i32, argument: i32| {
        // SAFETY: the descriptor is open as long as `file` lives, and these commands take an integer: no memory of
        // this process is read or written.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // The kernel signals the holder of a lease when another process opens the file: SIGURG is ignored by default.
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

/// Always `Unsupported`: only Linux can answer.
#[cfg(not(target_os = "linux"))]
pub fn is_sole_opening(_file: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The successive mappings of one growing file, each from its start and longer than the previous one.
///
/// Slices of earlier mappings stay valid: mappings are dropped together.
#[derive(Debug, Default)]
pub struct GrowingMap(AppendVec<Arc<Map>>);

impl GrowingMap {
    /// Starts with one mapping.
    pub fn new(map: Arc<Map>) -> Self {
        let maps = AppendVec::new();
        maps.push(map);
        Self(maps)
    }

    /// Makes `len` bytes available, which must be within the file; calls `map` if the newest mapping is too short.
    ///
    /// Each mapping reserves twice the file's length, so that few are made, however many steps the file grows in.
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

    /// The known length of the file.
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

/// One page of a file, mapped writable: the cells that readers load.
#[derive(Debug)]
pub struct Cells(MmapRaw);

impl Cells {
    /// Maps `len` bytes at `offset` (a multiple of the page size) for reading and writing.
    pub fn shared(file: &File, offset: u64, len: usize) -> io::Result<Self> {
        Ok(Self(
            MmapOptions::new().offset(offset).len(len).map_raw(file)?,
        ))
    }

    /// Stores a cell with release. Fails if the file system cannot write the page: it has failed, or it is full and
    /// writes changed pages to new blocks.
    ///
    /// # Panics
    /// If `offset` is not aligned or outside the page; offsets are constants of the format.
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

    /// Makes the page writable before the store: after a write-back the next store asks the file system again, and a
    /// failure there would end the process with SIGBUS (madvise(2), `MADV_POPULATE_WRITE`, Linux 5.14).
    #[cfg(target_os = "linux")]
    fn make_writable(&self) -> io::Result<()> {
        match self.0.advise(Advice::PopulateWrite) {
            Err(e) if e.raw_os_error() == Some(libc::EFAULT) => {
                let why =
                    "the file system cannot write a page of the file: it is full or has failed";
                Err(io::Error::new(io::ErrorKind::StorageFull, why))
            }
            // Linux before 5.14.
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
    fn a_growing_file_is_mapped_few_times_and_earlier_slices_stay_valid() -> io::Result<()> {
        const STEP: u64 = 1 << 20;
        let file = tempfile::tempfile()?;
        let write = |step: u64| file.write_all_at(&[step as u8; 8], step * STEP);
        write(0)?;
        let map = |len| Map::shared(&file, len);
        let growing = GrowingMap::new(Arc::new(map(8)?));
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
        let growing = GrowingMap::new(Arc::new(Map::with_reserve(4096, short)?));
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
