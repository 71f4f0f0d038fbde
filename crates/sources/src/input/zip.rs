//! ZIP files, read by the directory at their end, one file at a time, without writing anything.
//!
//! Refused: more than one disk, encryption, methods other than stored and deflated, files that share bytes, and files
//! that unpack to many times their size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::regular_file::open_named;
use crate::limits;

const END_BYTES: u64 = 22;
const COMMENT_BYTES_MAX: u64 = 65_535;
const END_MAGIC: &[u8] = b"PK\x05\x06";
const END64_MAGIC: &[u8] = b"PK\x06\x06";
const LOCATOR64_MAGIC: &[u8] = b"PK\x06\x07";
const ENTRY_MAGIC: &[u8] = b"PK\x01\x02";
const LOCAL_MAGIC: &[u8] = b"PK\x03\x04";
const LOCAL_BYTES: u64 = 30;
const ENTRY_BYTES: usize = 46;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const NEEDS_64: u32 = u32::MAX;

/// A file of a ZIP.
#[derive(Debug, Clone)]
pub(super) struct ZipEntry {
    pub(super) name: String,
    /// As the directory says.
    pub(super) bytes: u64,
    packed: u64,
    offset: u64,
    method: u16,
    checksum: u32,
    is_encrypted: bool,
}

/// An open ZIP.
#[derive(Debug, Clone)]
pub(super) struct ZipFile {
    file: Arc<File>,
    pub(super) entries: Vec<ZipEntry>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Where the directory is.
struct Directory {
    offset: u64,
    bytes: u64,
    entries: u64,
}

impl ZipFile {
    /// Reads the directory. An error is in words, for people.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let file = open_named(path).map_err(|e| e.to_string())?;
        let len = file.metadata().map_err(|e| e.to_string())?.len();
        let directory = find_directory(&file, len)?;
        if directory.bytes > limits::ZIP_DIRECTORY_BYTES_MAX {
            let (bytes, max) = (directory.bytes, limits::ZIP_DIRECTORY_BYTES_MAX);
            return Err(format!("its directory has {bytes} bytes, of at most {max}"));
        }
        if directory.entries > limits::FILES_MAX as u64 {
            let (files, max) = (directory.entries, limits::FILES_MAX);
            return Err(format!("it has {files} files, of at most {max}"));
        }
        let is_inside = directory
            .offset
            .checked_add(directory.bytes)
            .is_some_and(|end| end <= len);
        if !is_inside {
            return Err("the ZIP is cut off: its directory is not whole".into());
        }
        let mut bytes = vec![0; directory.bytes as usize];
        file.read_exact_at(&mut bytes, directory.offset)
            .map_err(|e| e.to_string())?;
        let entries = parse_directory(&bytes, directory.entries)?;
        check_apart(&entries, directory.offset)?;
        Ok(Self {
            file: Arc::new(file),
            entries,
        })
    }

    /// A stream of the unpacked bytes, which fails if they are not what the directory says.
    pub(super) fn read(&self, entry: &ZipEntry) -> io::Result<Box<dyn Read>> {
        if entry.is_encrypted {
            return Err(refused("the file is encrypted"));
        }
        let mut head = [0; LOCAL_BYTES as usize];
        self.file.read_exact_at(&mut head, entry.offset)?;
        let lengths = u16_at(&head, 26).zip(u16_at(&head, 28));
        let Some((name, extra)) = lengths.filter(|_| head.starts_with(LOCAL_MAGIC)) else {
            return Err(refused(
                "the ZIP is damaged: a file does not begin where its directory says",
            ));
        };
        let section = FileSection {
            file: Arc::clone(&self.file),
            at: entry.offset + LOCAL_BYTES + u64::from(name) + u64::from(extra),
            remaining: entry.packed,
        };
        let bytes: Box<dyn Read> = match entry.method {
            STORED => Box::new(section),
            DEFLATED => Box::new(DeflateDecoder::new(io::BufReader::new(section))),
            other => return Err(refused(&format!("the file is packed by method {other}"))),
        };
        let ratio = entry.packed.saturating_mul(limits::ZIP_RATIO_MAX);
        Ok(Box::new(CheckedStream {
            bytes,
            crc: Crc::new(),
            expected: entry.checksum,
            remaining: entry.bytes,
            allowed: ratio.max(limits::ZIP_FREE_BYTES),
        }))
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

fn find_directory(file: &File, len: u64) -> Result<Directory, String> {
    let tail_bytes = len.min(END_BYTES + COMMENT_BYTES_MAX);
    let mut tail = vec![0; tail_bytes as usize];
    file.read_exact_at(&mut tail, len - tail_bytes)
        .map_err(|e| e.to_string())?;
    let cut = "the ZIP is cut off or damaged: it has no directory at its end";
    let last = tail.len().checked_sub(END_BYTES as usize).ok_or(cut)?;
    let at = (0..=last)
        .rev()
        .find(|at| tail[*at..].starts_with(END_MAGIC))
        .ok_or(cut)?;
    let end = &tail[at..];
    let (disk, entries) = (u16_at(end, 4).ok_or(cut)?, u16_at(end, 10).ok_or(cut)?);
    let (bytes, offset) = (u32_at(end, 12).ok_or(cut)?, u32_at(end, 16).ok_or(cut)?);
    let needs_64 = entries == u16::MAX || bytes == NEEDS_64 || offset == NEEDS_64;
    let locator = at.checked_sub(20).map(|at| &tail[at..]);
    if needs_64 && let Some(locator) = locator.filter(|l| l.starts_with(LOCATOR64_MAGIC)) {
        let mut end64 = [0; 56];
        file.read_exact_at(&mut end64, u64_at(locator, 8).ok_or(cut)?)
            .map_err(|_| cut)?;
        if !end64.starts_with(END64_MAGIC) {
            return Err(cut.into());
        }
        return Ok(Directory {
            entries: u64_at(&end64, 32).ok_or(cut)?,
            bytes: u64_at(&end64, 40).ok_or(cut)?,
            offset: u64_at(&end64, 48).ok_or(cut)?,
        });
    }
    if disk != 0 && disk != u16::MAX {
        return Err("the ZIP is one of several parts".into());
    }
    Ok(Directory {
        offset: offset.into(),
        bytes: bytes.into(),
        entries: entries.into(),
    })
}

fn parse_directory(bytes: &[u8], count: u64) -> Result<Vec<ZipEntry>, String> {
    let (mut entries, mut at) = (Vec::new(), 0);
    for number in 1..=count {
        let entry = parse_entry(bytes, at).ok_or_else(|| {
            format!("the ZIP is damaged: entry {number} of its directory cannot be read")
        })?;
        at = entry.1;
        entries.push(entry.0);
    }
    Ok(entries)
}

/// The entry, and where the next one begins.
fn parse_entry(bytes: &[u8], at: usize) -> Option<(ZipEntry, usize)> {
    let head = bytes.get(at..at + ENTRY_BYTES)?;
    if !head.starts_with(ENTRY_MAGIC) {
        return None;
    }
    let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(head, at).map(usize::from));
    let (name, extra, comment) = (name?, extra?, comment?);
    let name_at = at + ENTRY_BYTES;
    let extra_at = name_at + name;
    let next = extra_at + extra + comment;
    let name = bytes.get(name_at..extra_at)?;
    let extra = bytes.get(extra_at..extra_at + extra)?;
    let (packed, unpacked, offset) = (u32_at(head, 20)?, u32_at(head, 24)?, u32_at(head, 42)?);
    let mut wide = wide_fields(extra).into_iter();
    let mut widened = |narrow: u32| match narrow {
        NEEDS_64 => wide.next(),
        narrow => Some(narrow.into()),
    };
    let bytes = widened(unpacked)?;
    let entry = ZipEntry {
        name: String::from_utf8_lossy(name).into_owned(),
        bytes,
        packed: widened(packed)?,
        offset: widened(offset)?,
        method: u16_at(head, 10)?,
        checksum: u32_at(head, 16)?,
        is_encrypted: u16_at(head, 8)? & 1 == 1,
    };
    Some((entry, next))
}

/// The numbers of the ZIP64 field, in their fixed order: unpacked, packed, offset.
fn wide_fields(extra: &[u8]) -> Vec<u64> {
    let mut at = 0;
    while let (Some(id), Some(len)) = (u16_at(extra, at), u16_at(extra, at + 2)) {
        let end = at + 4 + usize::from(len);
        if id == 1 {
            let field = extra.get(at + 4..end).unwrap_or_default();
            return (0..field.len() / 8)
                .filter_map(|n| u64_at(field, n * 8))
                .collect();
        }
        at = end;
    }
    Vec::new()
}

/// Files that share bytes unpack one stream many times: no tool for people writes that.
fn check_apart(entries: &[ZipEntry], end: u64) -> Result<(), String> {
    let mut by_offset = BTreeMap::new();
    for entry in entries {
        if by_offset.insert(entry.offset, entry).is_some() {
            return Err(format!(
                "the ZIP is damaged: {:?} shares its bytes",
                entry.name
            ));
        }
    }
    let mut before = 0;
    for entry in by_offset.values() {
        if entry.offset < before {
            return Err(format!(
                "the ZIP is damaged: {:?} shares its bytes",
                entry.name
            ));
        }
        before = (entry.offset.checked_add(LOCAL_BYTES))
            .and_then(|at| at.checked_add(entry.packed))
            .filter(|at| *at <= end)
            .ok_or_else(|| format!("the ZIP is cut off: {:?} is not whole", entry.name))?;
    }
    Ok(())
}

/// A part of a file, by its own position.
struct FileSection {
    file: Arc<File>,
    at: u64,
    remaining: u64,
}

impl Read for FileSection {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = (out.len() as u64).min(self.remaining) as usize;
        let n = self.file.read_at(&mut out[..most], self.at)?;
        if n == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += n as u64;
        self.remaining -= n as u64;
        Ok(n)
    }
}

/// Compares length and checksum with the directory's, and bounds what is unpacked.
struct CheckedStream {
    bytes: Box<dyn Read>,
    crc: Crc,
    expected: u32,
    remaining: u64,
    allowed: u64,
}

impl Read for CheckedStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(out)?;
        if n == 0 {
            if out.is_empty() {
                return Ok(0);
            }
            if self.remaining > 0 {
                return Err(refused(
                    "the file of the ZIP is shorter than its directory says",
                ));
            }
            if self.crc.sum() != self.expected {
                return Err(refused(
                    "the file of the ZIP is damaged: its checksum differs",
                ));
            }
            return Ok(0);
        }
        self.crc.update(&out[..n]);
        let n64 = n as u64;
        if n64 > self.remaining {
            return Err(refused(
                "the file of the ZIP is longer than its directory says",
            ));
        }
        if n64 > self.allowed {
            let max = limits::ZIP_RATIO_MAX;
            return Err(refused(&format!(
                "the file unpacks to more than {max} times its size: a ZIP bomb"
            )));
        }
        self.remaining -= n64;
        self.allowed -= n64;
        Ok(n)
    }
}
