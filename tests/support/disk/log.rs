//! What was done to a folder, in order.
//!
//! Operations appear in the log once they have had their effect on the running machine; what of it a power
//! cut leaves is `crash::Medium`'s business.

use std::ops::Range;
use std::sync::Arc;

use amem_format::Micros;
use amem_store::disk::Preallocation;

use super::Image;

/// All of a file, however long.
pub(super) const EVERYTHING: Range<u64> = 0..u64::MAX;

/// One thing that happened. Files go by inode number, names are paths relative to the root.
#[derive(Debug, Clone)]
pub enum Op {
    /// A new, empty file under a new name.
    Create {
        /// Its number.
        inode: u64,
        /// Its name.
        name: Arc<str>,
    },
    /// Bytes written to a file; a stored cell is eight of them.
    Write {
        /// The file.
        inode: u64,
        /// Where.
        position: u64,
        /// What.
        bytes: Arc<[u8]>,
        /// The file's length before.
        len_before: u64,
    },
    /// What was written before to a range of a file is durable; a write that reaches out of it may not be.
    Sync {
        /// The file.
        inode: u64,
        /// Which of its bytes; all of them if they are `EVERYTHING`.
        range: Range<u64>,
    },
    /// A sync failed: what it should have made durable may or may not be, whatever later syncs say.
    SyncFailed {
        /// The file.
        inode: u64,
    },
    /// A file's name became another, which may have stood for another file before.
    Rename {
        /// The file.
        inode: u64,
        /// The name it had.
        from: Arc<str>,
        /// The name it has.
        to: Arc<str>,
    },
    /// A file got another name besides those it has.
    Link {
        /// The file.
        inode: u64,
        /// The new name.
        name: Arc<str>,
    },
    /// Two files swapped names.
    Exchange {
        /// The first name, and the file it stands for now.
        from: (Arc<str>, u64),
        /// The second name, and the file it stands for now.
        to: (Arc<str>, u64),
    },
    /// A name was taken away.
    Remove {
        /// The name.
        name: Arc<str>,
    },
    /// A folder was made.
    CreateFolder {
        /// Its name.
        name: Arc<str>,
    },
    /// The names in a folder are durable.
    SyncFolder {
        /// Its name; `""` is the root.
        folder: Arc<str>,
    },
    /// A folder's sync failed, with the same meaning as a file's.
    SyncFolderFailed {
        /// Its name; `""` is the root.
        folder: Arc<str>,
    },
    /// A lock file got its holder's text. Durable at once: nothing may hang on that text.
    Lock {
        /// The file.
        inode: u64,
        /// Its name.
        name: Arc<str>,
        /// The text.
        text: Arc<[u8]>,
    },
    /// A file was made read-only for its owner, which changes nothing that a crash could leave.
    Protect {
        /// The file.
        inode: u64,
    },
    /// The first so many transactions have been handed to the store.
    Submitted(u64),
    /// The first so many transactions have been answered.
    Answered(u64),
}

/// What a store has promised at a moment: transactions are numbered from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AnsweredBounds {
    /// The first so many were answered: they must be there.
    pub must: u64,
    /// The first so many were handed over: nothing after them can be there.
    pub may: u64,
}

impl AnsweredBounds {
    /// Notes what a log entry says about answers.
    pub fn note(&mut self, op: &Op) {
        match op {
            Op::Submitted(n) => self.may = self.may.max(*n),
            Op::Answered(n) => {
                self.must = self.must.max(*n);
                self.may = self.may.max(*n);
            }
            _ => {}
        }
    }
}

/// A folder as it was at the start, durable, and all that happened to it.
#[derive(Debug, Clone)]
pub struct Log {
    /// The folder at the start.
    pub base: Image,
    /// What had been promised at the start.
    pub answered: AnsweredBounds,
    /// What happened. Operations are counted from 1: crash point k is after the k-th.
    pub ops: Vec<Op>,
    /// The crash point from which on crashes are of interest: earlier ones were an earlier process's.
    pub first: usize,
    /// The seed of chance.
    pub seed: u64,
    /// Which run of the machine this is.
    pub boot: u64,
    /// The time at the end.
    pub clock: Micros,
    /// The next new file's number.
    pub next_inode: u64,
    /// Whether the file system can exchange names.
    pub exchanges: bool,
    /// Whether a rename across folders survives whole or not at all, as on a file system with a journal.
    pub whole_renames: bool,
    /// Whether a file can have two names.
    pub links: bool,
    /// How much room files get beyond what is needed.
    pub room: Preallocation,
}

impl Log {
    /// The same log with crashes of interest only from a point on.
    #[must_use]
    pub fn from_point(mut self, first: usize) -> Self {
        self.first = first.min(self.ops.len());
        self
    }

    /// What has been promised by the end.
    pub fn answered_at_end(&self) -> AnsweredBounds {
        let mut answered = self.answered;
        self.ops.iter().for_each(|op| answered.note(op));
        answered
    }
}
