//! Errors of reading a brain: one variant per thing that the caller can do.

use std::io;
use std::path::PathBuf;

use crate::types::{Generation, Lsn, NodeId};
use uuid::Uuid;

/// The result of reading a brain.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of reading a brain.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed operation: "open", "map" …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file does not begin as an `.amem` file does.
    #[error("not an .amem file: it begins with {found:02x?} instead of \"AMEM\"")]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The file is of a version that this build does not know.
    #[error("version {found} of the .amem format is not supported (this build reads version 1)")]
    Version {
        /// The version found.
        found: u32,
    },
    /// A newer version wrote something that this build must not pass over.
    #[error(
        "this file is whole, and a newer version of amemd wrote it ({what}): use that version; this one neither reads it \
         nor changes it"
    )]
    Newer {
        /// What is unknown.
        what: String,
    },
    /// A newer version wrote something that this build can read past, and would lose in a new file.
    #[error(
        "a newer version of amemd wrote this file ({what}): this one reads it and writes nothing to it; use that version"
    )]
    NewerWrites {
        /// What is unknown.
        what: String,
    },
    /// The file is in the interchange layout.
    #[error(
        "this is a spec-1 file (64-byte nodes): convert it with `amemctl import --format spec-1`"
    )]
    Spec1,
    /// The file fits neither layout.
    #[error("neither a native nor a spec-1 file: as native, {native}; as spec-1, {spec1}")]
    Neither {
        /// What is wrong with it as a native file.
        native: Box<Error>,
        /// What is wrong with it as a spec-1 file.
        spec1: Box<Error>,
    },
    /// The operation needs a file that amemd wrote, and this one has another origin.
    #[error("this brain was not written by amemd: convert it with `amemctl import`")]
    Foreign,
    /// The file ends too early.
    #[error("truncated: {what} needs bytes up to {needed}, the file has {len}")]
    Truncated {
        /// The part of the file.
        what: &'static str,
        /// The position that must exist.
        needed: u64,
        /// The length of the file.
        len: u64,
    },
    /// The bytes contradict the format.
    #[error(
        "damaged {what} at byte {offset}: {why}; run `amemctl verify` for the extent; `amemctl repair` saves what is whole"
    )]
    Corrupt {
        /// The part of the file.
        what: &'static str,
        /// Where in the file.
        offset: u64,
        /// What is wrong.
        why: String,
    },
    /// A value exceeds a limit.
    #[error("{what} is {value}, more than the limit of {max}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The value given.
        value: u64,
        /// The limit.
        max: u64,
    },
    /// No such event in this view.
    #[error("there is no event {id} (the brain has {count} events, ids from 0)")]
    UnknownEvent {
        /// The id asked for.
        id: NodeId,
        /// The number of events in the view.
        count: u64,
    },
    /// The event is hidden.
    #[error("event {id} is forgotten: restore it, or ask for forgotten events")]
    Forgotten {
        /// The event.
        id: NodeId,
    },
    /// No such session.
    #[error("there is no session with {name}")]
    UnknownSession {
        /// The id or key in the request.
        name: String,
    },
    /// A vector of the wrong length.
    #[error(
        "the vector has {found} dimensions, the brain {expected}: use the brain's embedder, or create a brain of that dimension"
    )]
    Dimension {
        /// The brain's dimension.
        expected: u32,
        /// The vector's.
        found: usize,
    },
    /// A vector of another model.
    #[error(
        "the vector is of space {found}, the brain of {expected}: embed with the brain's model, or create a brain for this one"
    )]
    Space {
        /// The brain's vector space.
        expected: Uuid,
        /// The vector's.
        found: Uuid,
    },
    /// The cursor or answer belongs to another brain.
    #[error("this belongs to brain instance {found}, not to {expected}: start the listing again")]
    ForeignInstance {
        /// The instance of the brain.
        expected: Uuid,
        /// The instance in the request.
        found: Uuid,
    },
    /// A moment past the end of the brain.
    #[error("LSN {asked} is not in this view (it reaches from 0 to {last})")]
    UnknownLsn {
        /// The LSN asked for.
        asked: Lsn,
        /// The newest in the view.
        last: Lsn,
    },
    /// Commits that are no longer available one by one.
    #[error(
        "the commits after LSN {asked} are no longer available, only those after {oldest}: read the brain first, then follow it from the LSN of that answer"
    )]
    CommitsGone {
        /// The LSN in the request.
        asked: Lsn,
        /// The oldest LSN after which commits are available.
        oldest: Lsn,
    },
    /// An erase replaced the file: the mapping must be dropped.
    #[error(
        "generation {generation} was replaced because something in it was erased: take a new view"
    )]
    MustDrop {
        /// The generation that was mapped.
        generation: Generation,
    },
    /// The file was replaced, and its successor cannot be read: a view would miss later commits.
    #[error("{} was replaced by generation {by}, which can't be read there: {why}", path.display())]
    Superseded {
        /// Where the brain was opened.
        path: PathBuf,
        /// The generation that replaced it.
        by: Generation,
        /// What the path names, or why it cannot be read.
        why: String,
    },
    /// Another program wrote to the file that is followed: what was read there is gone.
    #[error(
        "another program wrote to the brain's file while it was read: its journal ended at byte {before} and ends at byte \
         {now}; open it again"
    )]
    Overwritten {
        /// Up to where its frames were read.
        before: u64,
        /// Where they end now.
        now: u64,
    },
    /// An argument is not valid.
    #[error("{what}: {why}")]
    Invalid {
        /// The argument.
        what: &'static str,
        /// What is wrong with it, and what would be right.
        why: String,
    },
}

impl Error {
    /// `Corrupt` at an offset in the file.
    pub fn corrupt(what: &'static str, offset: u64, why: impl Into<String>) -> Self {
        Self::Corrupt {
            what,
            offset,
            why: why.into(),
        }
    }

    /// Damage, if it was of a newer version: for bytes whose checksum was not checked.
    pub fn or_corrupt(self, what: &'static str, offset: u64) -> Self {
        match self {
            Self::Newer { what: why } => Self::corrupt(what, offset, format!("unknown: {why}")),
            other => other,
        }
    }

    /// `Invalid` for an argument.
    pub fn invalid(what: &'static str, why: impl Into<String>) -> Self {
        Self::Invalid {
            what,
            why: why.into(),
        }
    }

    /// `Io` for an operation on a file.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }

    /// Checks a value against a limit of `limits`.
    pub fn check_limit(what: &'static str, value: u64, max: u64) -> Result<()> {
        if value > max {
            Err(Self::Limit { what, value, max })
        } else {
            Ok(())
        }
    }
}
