//! Faster calls of Linux: identifying and measuring a file without reading its times, and syncing a part of a file.
//!
//! Both return an error of kind `Unsupported` if this kernel or file system cannot.

use std::fs;
use std::io::{self, IoSlice};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags};

use super::FileId;

/// Which file has a path, following no symbolic link.
///
/// Reading a file's times makes the kernel update them with the next write, and each sync then writes the inode as well
/// (+ 35 µs a commit).
pub(super) fn identity(path: &Path) -> io::Result<FileId> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    match rustix::fs::statx(CWD, path, flags, StatxFlags::INO | StatxFlags::BTIME) {
        Ok(stat) => Ok(FileId {
            device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            born: born(&stat),
        }),
        // A sandbox may forbid statx.
        Err(Errno::NOSYS | Errno::PERM) => Err(io::ErrorKind::Unsupported.into()),
        Err(e) => Err(e.into()),
    }
}

/// The length of an open file, without reading its times, as above: it is asked for with each group of commits.
pub(super) fn len(file: &fs::File) -> io::Result<u64> {
    match rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::SIZE) {
        Ok(stat) => Ok(stat.stx_size),
        Err(Errno::NOSYS | Errno::PERM) => Err(io::ErrorKind::Unsupported.into()),
        Err(e) => Err(e.into()),
    }
}

/// When a file was made, if the file system keeps that.
fn born(stat: &Statx) -> u64 {
    if stat.stx_mask & StatxFlags::BTIME.bits() == 0 {
        return 0;
    }
    let seconds = u64::try_from(stat.stx_btime.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::from(stat.stx_btime.tv_nsec)
}

/// Writes bytes and makes them durable, and nothing else of the file.
///
/// `fdatasync` writes the live page as well, whose next store then faults.
pub(super) fn write_synced(file: &fs::File, position: u64, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let rest = [IoSlice::new(&bytes[done..])];
        let at = position + done as u64;
        match rustix::io::pwritev2(file, &rest, at, ReadWriteFlags::DSYNC) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => done += written,
            Err(Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => {
                return Err(io::ErrorKind::Unsupported.into());
            }
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}
