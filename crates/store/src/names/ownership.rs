//! The owner of a file that has or had a brain's name.
//!
//! Every file that ever has a brain's name is in one of these states. The store asks for the state before it opens,
//! adopts, displaces or removes a file; it never infers it from the name alone.
//!
//! ```text
//!                create, import, checkpoint
//!                           │
//!                           ▼            the name is free
//!                       temporary ───────────────────────────▶ OWN ◀─────────────┐
//!                    .amemd/tmp/*.swap                      NAME.amem            │
//!                           │                                │     │             │ given back: nothing
//!                           │ the name is taken:             │     │ rm, mv      │ else has the name
//!                           │ the two files exchange names   │     ▼             │
//!                           │                   checkpoint   │   MISSING         │
//!   UNTRACKED ──────────────┤                   or removal   │     │ saved from  │
//!   NAME.amem    adoption   ▼                                │     │ the open    │
//!       │               displaced ◀──────────────────────────┘     │ handle      │
//!       │            .amemd/tmp/*.swap, *.out ─────────────────────┼─────────────┘
//!       │                │            │                            │
//!       │                │ own, or    │ anything else              ▼
//!       ▼                │ unchanged  └───────────────────▶   quarantine
//!   REJECTED             │ since its                        .amemd/conflicts
//!   stays where it is    ▼ adoption                         .amemd/recovered
//!                     removed
//! ```
//!
//! `Ownership` holds the states that a brain's name can show (in capitals). `temporary`, `displaced` and `quarantine`
//! are places of our own, each with a module of that name.
//!
//! A file is the brain's own if its live page has the hash of this folder, this inode and this name: a copy, another
//! name or another folder's file has another.

use std::io;

use amem_format::base::section::tag;
use amem_format::bytes::{get_u32, get_u64};
use amem_format::journal::{head, live};
use amem_format::limits::SECTIONS_MAX;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{File, FileId, SourceFile, Stamp};
use crate::error::{Error, Result};
use crate::limits::{FOREIGN_BYTES_MAX, INCOMING_JOURNAL_BYTES_MAX, READ_BYTES};
use crate::names::folder::{Folder, file_name};

/// Bytes of a section header: tag and length.
const SECTION_HEADER: u64 = 9;

/// The owner of the file with a brain's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// The brain's own file: it can be opened.
    Own,
    /// Another file, or a copy of ours: it can be adopted.
    Untracked(Stamp),
    /// The brain's file, to which another program wrote while this process had it open, and what is wrong with it.
    Overwritten(String),
    /// A link, a special file, or another user's file, and why it stays where it is.
    Rejected(String),
    /// No file.
    Missing,
}

/// Checks the file under a brain's name.
pub fn ownership(folder: &Folder, name: &str) -> Result<Ownership> {
    let file = file_name(name)?;
    let source = match folder.disk().source(&file, false) {
        Ok(source) => source,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Ownership::Missing),
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => {
            return Ok(Ownership::Rejected(e.to_string()));
        }
        Err(e) => return Err(Error::disk("look at", file, e)),
    };
    match of_source(folder, name, &*source) {
        Ok(ownership) => Ok(ownership),
        Err(e) => Err(Error::disk("look at", name, e)),
    }
}

/// Checks a displaced file, which had the brain's name. An unreadable file is not the brain's own.
pub(crate) fn of_displaced(folder: &Folder, path: &str, brain: &str) -> io::Result<Ownership> {
    let looked = folder.disk().source(path, false);
    match looked.and_then(|source| of_source(folder, brain, &*source)) {
        Err(e) if is_closed(&e) => Ok(Ownership::Rejected(e.to_string())),
        looked => looked,
    }
}

fn of_source(folder: &Folder, brain: &str, source: &dyn SourceFile) -> io::Result<Ownership> {
    let stamp = source.stamp()?;
    if let Some(what) = folder.why_overwritten(stamp.id) {
        return Ok(Ownership::Overwritten(what));
    }
    let is_own = home(source, stamp.bytes)? == Some(home_of(folder, brain, stamp.id));
    Ok(if is_own {
        Ownership::Own
    } else {
        Ownership::Untracked(stamp)
    })
}

/// True for a file that may not be read: a link, or another user's.
pub(crate) fn is_closed(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
    )
}

/// The value that identifies a brain's own file in its live page (`live::HOME`); copies and renamed files differ.
pub(crate) fn home_of(folder: &Folder, name: &str, file: FileId) -> u64 {
    let mut bytes = folder.id().to_vec();
    bytes.extend_from_slice(&file.inode.to_le_bytes());
    bytes.extend_from_slice(&file.born.to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    // 0 stands in a page without an owner.
    xxh3_64(&bytes).max(1)
}

/// Marks a file as owned in this boot, and stores up to where it is committed, for readers.
pub(crate) fn claim(
    folder: &Folder,
    name: &str,
    file: &dyn File,
    page: u64,
    committed: u64,
) -> io::Result<()> {
    let id = file.id();
    let owner = live::Owner {
        boot: folder.disk().boot_id(),
        device: id.device,
        inode: id.inode,
    };
    file.store_cell(page, live::COMMITTED, committed)?;
    for (at, cell) in owner.cells().into_iter().enumerate() {
        file.store_cell(page, live::OWNER + 8 * at as u64, cell)?;
    }
    file.store_cell(page, live::HOME, home_of(folder, name, id))
}

/// The `home` cell of a file's live page; none if it has no live page.
fn home(source: &dyn SourceFile, len: u64) -> io::Result<Option<u64>> {
    let Some((at, _)) = section(source, len, head::TAG)? else {
        return Ok(None);
    };
    let Some(cell) = at.checked_add(head::PAGE + live::HOME - SECTION_HEADER) else {
        return Ok(None);
    };
    let mut bytes = [0; 8];
    Ok(read(source, cell, &mut bytes)?.then(|| u64::from_le_bytes(bytes)))
}

/// Lineage and number of events that a brain's file claims for its base.
pub(crate) fn lineage_and_events(
    source: &dyn SourceFile,
    len: u64,
) -> io::Result<Option<(Uuid, u64)>> {
    let (mut lineage, mut header) = ([0; 16], [0; 64]);
    let Some((at, 16..)) = section(source, len, tag::IDENTITY)? else {
        return Ok(None);
    };
    let whole = read(source, at, &mut lineage)? && read(source, 0, &mut header)?;
    Ok(whole.then(|| (Uuid::from_bytes(lineage), get_u64(&header, 16))))
}

/// Position and claimed length of a section of the native layout. Every step is bounded by the file and by
/// `SECTIONS_MAX`.
fn section(source: &dyn SourceFile, len: u64, tag: u8) -> io::Result<Option<(u64, u64)>> {
    let mut header = [0; 64];
    if !read(source, 0, &mut header)? || header[..4] != *b"AMEM" {
        return Ok(None);
    }
    let vectors = get_u64(&header, 16).checked_mul(4 * u64::from(get_u32(&header, 8)));
    let mut at = vectors.and_then(|bytes| get_u64(&header, 56).checked_add(bytes));
    for _ in 0..=SECTIONS_MAX {
        let Some(from) = at.filter(|at| *at < len) else {
            return Ok(None);
        };
        let mut head = [0; SECTION_HEADER as usize];
        if !read(source, from, &mut head)? {
            return Ok(None);
        }
        let (bytes, found) = (get_u64(&head, 1), from + SECTION_HEADER);
        if head[0] == tag {
            return Ok(Some((found, bytes)));
        }
        at = found.checked_add(bytes);
    }
    Ok(None)
}

/// A part of a file that is read.
pub(crate) enum SourcePart<'p> {
    /// These bytes.
    Bytes(&'p [u8]),
    /// This number of zeros, which take no room.
    Hole(u64),
}

impl SourcePart<'_> {
    /// Its bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Hole(bytes) => *bytes,
        }
    }
}

/// Reads the first `len` bytes of a file, part by part.
pub(crate) fn read_all(
    source: &dyn SourceFile,
    len: u64,
    mut to: impl FnMut(SourcePart<'_>) -> Result<()>,
) -> Result<()> {
    let failed = |e| Error::disk("read", "a file", e);
    let mut part = vec![0; READ_BYTES.min(usize::try_from(len).unwrap_or(READ_BYTES))];
    let mut at = 0;
    while at < len {
        let data = source
            .data_from(at)
            .map_err(failed)?
            .unwrap_or(len)
            .min(len);
        if data > at {
            to(SourcePart::Hole(data - at))?;
            at = data;
            continue;
        }
        match source.read_at(at, &mut part).map_err(failed)? {
            0 => break,
            read => {
                to(SourcePart::Bytes(&part[..read]))?;
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// Refuses a file whose journal, or all of it in another layout, is larger than what is read, before anything of it is
/// copied: a sparse file may claim any length.
pub(crate) fn check_claims(source: &dyn SourceFile, len: u64) -> Result<()> {
    let failed = |e| Error::disk("read", "a file", e);
    let mut magic = [0; 4];
    if !read(source, 0, &mut magic).map_err(failed)? {
        return Ok(());
    }
    if &magic != b"AMEM" {
        return Err(amem_format::Error::Magic { found: magic }.into());
    }
    match section(source, len, head::TAG).map_err(failed)? {
        Some((at, _)) => {
            let start = at.saturating_add(2 * head::PAGE - SECTION_HEADER);
            check_journal(len.saturating_sub(start), INCOMING_JOURNAL_BYTES_MAX)
        }
        None => Ok(amem_format::Error::check_limit(
            "a file without a journal (bytes)",
            len,
            FOREIGN_BYTES_MAX,
        )?),
    }
}

/// Refuses a journal that would take too much memory once it is replayed.
pub(crate) fn check_journal(bytes: u64, max: u64) -> Result<()> {
    if bytes > max {
        return Err(Error::invalid(
            "file",
            format!(
                "its journal has {bytes} bytes, and at most {max} are replayed: `amemctl export --format native` makes a \
                 file of it that has none"
            ),
        ));
    }
    Ok(())
}

/// Fills a buffer; false if the file ends before that.
fn read(source: &dyn SourceFile, mut at: u64, mut into: &mut [u8]) -> io::Result<bool> {
    while !into.is_empty() {
        match source.read_at(at, into)? {
            0 => return Ok(false),
            read => {
                at += read as u64;
                into = &mut into[read..];
            }
        }
    }
    Ok(true)
}
