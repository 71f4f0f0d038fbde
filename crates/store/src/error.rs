//! Errors of the store: one variant for each thing that the caller can do about it.

use std::fmt;
use std::io;

use amem_format::{Lsn, Micros, NodeId, SessionId};
use uuid::Uuid;

/// The file in quarantine that has, durably, all that a brain had when it lost its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFile(pub(crate) String);

impl SavedFile {
    /// The file, relative to the folder.
    pub fn path(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SavedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request or the file is invalid.
    #[error(transparent)]
    Format(#[from] amem_format::Error),
    /// A disk operation failed; nothing was changed.
    #[error("cannot {action} {name}: {source}")]
    Disk {
        /// The operation.
        action: &'static str,
        /// The file, relative to the folder.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// The folder's file system cannot replace a file safely.
    #[error(
        "{why}, so a brain's file cannot be replaced safely: put the folder on another file system, such as ext4, XFS or btrfs"
    )]
    FileSystem {
        /// Where, and what is missing.
        why: String,
    },
    /// Another daemon has the folder.
    #[error("the folder is in use by {holder}: stop it, or use another folder")]
    Locked {
        /// The holder's description of itself.
        holder: String,
    },
    /// The lock of the folder is gone, or belongs to another process.
    #[error(
        ".amemd/lock was removed or replaced, or the folder was moved: another daemon may write there now, so this one \
         writes nothing any more; put the folder back and restart this daemon"
    )]
    LockLost,
    /// The clock shows a time that no commit can have.
    #[error(
        "the clock of this machine shows {} µs since 1970, and a commit needs a time from 1970 to 9999: set the clock \
         and retry", now.0
    )]
    Clock {
        /// What it shows.
        now: Micros,
    },
    /// A commit would have a number or a time after which none can follow.
    #[error(
        "nothing can be written to this brain, which is at the end of a range ({why}): `amemctl repair --times` makes a \
         file of it whose times are mended; for other numbers, `amemctl export` it as JSON lines and import those"
    )]
    RangeEnd {
        /// Which number.
        why: String,
    },
    /// The brain needs a new file, for a checkpoint or its recovery, and there is no room; it is read meanwhile.
    #[error(
        "{name} needs a new file of up to {bytes} bytes, and the disk is full ({why}): free that much and retry; reads go \
         on, and the brain can be removed"
    )]
    NoRoom {
        /// The brain's file.
        name: String,
        /// Bytes that are needed.
        bytes: u64,
        /// What failed.
        why: String,
    },
    /// A brain of this name exists.
    #[error("there is a brain {name:?} already: choose another name, or remove it first")]
    Exists {
        /// The name.
        name: String,
    },
    /// No brain of this name exists.
    #[error("there is no brain {name:?}: create it first")]
    NotFound {
        /// The name.
        name: String,
    },
    /// The file under the brain's name is not the folder's own.
    #[error("{name}.amem is not this daemon's file: wait until it is adopted")]
    Untracked {
        /// The brain's name.
        name: String,
    },
    /// The file under the brain's name is still being written.
    #[error(
        "{name}.amem is still being written: it is adopted once it is whole and no longer changes"
    )]
    Changing {
        /// The brain's name.
        name: String,
    },
    /// The file under the brain's name cannot be adopted.
    #[error("{name}.amem is not adopted: {why}")]
    Rejected {
        /// The brain's name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// No such file is in quarantine.
    #[error("no file {file:?} is in quarantine: `amemctl conflicts` lists those that are")]
    NotQuarantined {
        /// The requested file.
        file: String,
    },
    /// A brain cannot have this name.
    #[error("{name:?} cannot be a brain's name: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The write may or may not have happened.
    #[error(
        "the outcome is unknown ({why}): retry with the same request id once the brain is back"
    )]
    OutcomeUnknown {
        /// What failed.
        why: String,
    },
    /// The brain writes nothing until it has been recovered.
    #[error("the brain is closed for writing until it has been recovered ({why})")]
    Poisoned {
        /// What failed.
        why: String,
    },
    /// Another program wrote to the brain's file while it was open.
    #[error(
        "another program wrote to {brain}.amem while the daemon had it open ({what}), as `cp` over the file does: it is \
         neither read nor written any more; `amemctl brain restore {brain} FILE` makes a whole copy the brain and keeps \
         what stands there now"
    )]
    Overwritten {
        /// The brain.
        brain: String,
        /// What is not as it was left.
        what: String,
    },
    /// The brain's file is missing; its content is in quarantine.
    #[error(
        "the file {name} was removed or renamed; what was committed is saved as {saved} (`amemctl conflicts` makes it a brain again)"
    )]
    Replaced {
        /// The brain's file.
        name: String,
        /// Where its content is now.
        saved: SavedFile,
    },
    /// The brain's file is missing, and its content is only in the open file.
    #[error(
        "the file {name} was removed or renamed, and what was committed could not be saved ({why}): correct that and retry; \
         the brain writes nothing before it is saved"
    )]
    Unsaved {
        /// The brain's file.
        name: String,
        /// Why it could not be saved.
        why: String,
    },
    /// A frame that was durable is damaged.
    #[error(
        "{name} is damaged at byte {position}, below {durable} which was durable: it is opened read-only; `amemctl repair` saves what is intact"
    )]
    Damaged {
        /// The brain's file.
        name: String,
        /// Where the chain of frames breaks.
        position: u64,
        /// Up to where it had been synced.
        durable: u64,
    },
    /// A precondition does not hold.
    #[error("{what} is {found}, not {expected} as expected: read again and retry")]
    Aborted {
        /// What was expected.
        what: &'static str,
        /// What it was expected to be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The chain of corrections has another newest head than the writer expected.
    #[error(
        "event {event} is not what is believed: its newest head is {found}, not {expected} as expected: read {found} and decide again"
    )]
    OtherHead {
        /// An event of the chain.
        event: NodeId,
        /// The head that the writer expected.
        expected: NodeId,
        /// The newest head.
        found: NodeId,
    },
    /// The request id was used for something else.
    #[error("request {id} was used at LSN {lsn} with another body: use a new id for a new request")]
    RequestReused {
        /// The request's id.
        id: Uuid,
        /// The commit that answered it.
        lsn: Lsn,
    },
    /// No such session.
    #[error("there is no session {id}: open it first")]
    UnknownSession {
        /// The session.
        id: SessionId,
    },
    /// The session is closed already.
    #[error("session {id} is closed already: an event in it opens it again")]
    SessionClosed {
        /// The session.
        id: SessionId,
    },
    /// A supersedes edge would close a cycle.
    #[error(
        "{source_id} cannot supersede {target}: {target} supersedes {source_id} already, through {through} events"
    )]
    Cycle {
        /// The event that was to replace the other.
        source_id: NodeId,
        /// The event that was to be replaced.
        target: NodeId,
        /// The length of the chain between them.
        through: usize,
    },
    /// No such edge.
    #[error("there is no edge {source_id} {edge_type} {target}")]
    UnknownEdge {
        /// Where it would start.
        source_id: NodeId,
        /// What it would mean.
        edge_type: String,
        /// Where it would end.
        target: NodeId,
    },
    /// A merge is over its limit of memory or of bytes.
    #[error(
        "the merge takes {bytes} bytes of {of} or more, at most {max} may be: merge the smaller brain into the larger, make a \
         file a brain first (`amemctl import`) and merge that, or keep both"
    )]
    MergeTooLarge {
        /// Of what: memory, or the one commit that it is.
        of: &'static str,
        /// What it takes at least.
        bytes: u64,
        /// The most.
        max: u64,
    },
    /// An embedder gave no vectors; those that it gave before are kept.
    #[error(
        "the embedder does not answer ({why}): once it does, the same command goes on where it stopped"
    )]
    Embedder {
        /// What it says.
        why: String,
    },
    /// Something was erased while a brain was embedded again.
    #[error(
        "something was erased meanwhile, and the vectors made so far are gone: embed the brain again"
    )]
    VectorsErased,
    /// The event's content is gone for good.
    #[error("event {id} was erased: it cannot be changed or replaced")]
    Erased {
        /// The event.
        id: NodeId,
    },
}

impl Error {
    pub(crate) fn disk(action: &'static str, name: impl Into<String>, source: io::Error) -> Self {
        Self::Disk {
            action,
            name: name.into(),
            source,
        }
    }

    /// The same error for one more request of a group.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Replaced { name, saved } => Self::Replaced {
                name: name.clone(),
                saved: saved.clone(),
            },
            Self::Unsaved { name, why } => Self::Unsaved {
                name: name.clone(),
                why: why.clone(),
            },
            Self::Disk {
                action,
                name,
                source,
            } => Self::disk(
                action,
                name,
                io::Error::new(source.kind(), source.to_string()),
            ),
            Self::Overwritten { brain, what } => Self::Overwritten {
                brain: brain.clone(),
                what: what.clone(),
            },
            Self::LockLost => Self::LockLost,
            Self::Clock { now } => Self::Clock { now: *now },
            Self::RangeEnd { why } => Self::RangeEnd { why: why.clone() },
            Self::NoRoom { name, bytes, why } => Self::NoRoom {
                name: name.clone(),
                bytes: *bytes,
                why: why.clone(),
            },
            Self::Format(amem_format::Error::NewerWrites { what }) => {
                amem_format::Error::NewerWrites { what: what.clone() }.into()
            }
            other => Self::Poisoned {
                why: other.to_string(),
            },
        }
    }

    /// True if the disk, or a quota, is full.
    pub(crate) fn is_full(&self) -> bool {
        let kinds = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        matches!(self, Self::Disk { source, .. } if kinds.contains(&source.kind()))
    }

    pub(crate) fn invalid(what: &'static str, why: impl Into<String>) -> Self {
        Self::Format(amem_format::Error::invalid(what, why))
    }
}
