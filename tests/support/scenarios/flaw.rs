//! Ways to break the protocol by lying to the store about its disk.
//!
//! What only the store could do wrong has no flaw here: checksums that are not chained or left out, half
//! transactions that count, a live page that recovery believes. The proof's own toy store has those
//! (`crash/toy.rs`). Space that is not synced before it is used and random numbers that repeat lose nothing by
//! themselves: the chain of checksums stands in for each.

use crate::crash::Breach;

/// What is done wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// Frames are never synced.
    FramesNotSynced,
    /// Of two syncs of frames one is left out.
    EverySecondSyncSkipped,
    /// Frames are synced when the next ones are written.
    AnsweredBeforeSync,
    /// The second half of what is written reaches the medium after the sync.
    EndWrittenAfterSync,
    /// Of a group that is synced as a part of the file, the last byte is left out.
    PartTooShort,
    /// Readers see frames before these are synced, and recovery takes them for damaged.
    CommittedBeforeSync,
    /// A new brain is published unsynced.
    CreatedNotSynced,
    /// A new brain is synced once it has its name.
    CreatedSyncedLate,
    /// The folder is not synced after a new brain got its name.
    FolderNotSyncedAfterCreate,
    /// A checkpoint's file is never synced before it takes the brain's place.
    NewFileNotSynced,
    /// A checkpoint's file is synced once it has taken the brain's place.
    NewFileSyncedLate,
    /// The frames that a checkpoint carries are not synced.
    CarriedNotSynced,
    /// The folder is not synced after a checkpoint.
    FolderNotSyncedAfterExchange,
    /// After a checkpoint the folder of unfinished files is synced instead.
    OtherFolderSynced,
    /// The old file is removed, then the new one gets its name.
    ExchangeInTwoSteps,
    /// The old file is overwritten before the new one takes its place.
    OldFileOverwritten,
    /// The file that recovery makes is not synced.
    RecoveryNotSynced,
    /// The folder is not synced by recovery.
    RecoveryFolderNotSynced,
    /// The file with erased texts keeps a name.
    OldFileNotRemoved,
    /// The removal of the file with erased texts is not synced.
    RemovalNotSynced,
    /// A brain whose name is taken is saved, and the folder where it is saved is not synced.
    SavedFolderNotSynced,
    /// Recovery leaves the old tail. With a chain of checksums that shows where a request is done again with the bytes
    /// of the first try, its time included: then what had come behind it goes on.
    TailNotZeroed,
    /// The old file does not say that there is a new one.
    SupersededNotTold,
    /// It does only once something was answered that is in the new one alone.
    SupersededToldLate,
    /// Whether the brain's file is still the one that is written is not looked at.
    ReplacementNotSeen,
    /// A failed sync is taken for a good one.
    SyncErrorIgnored,
    /// A failed sync is tried again.
    SyncRetried,
    /// A failed write is taken for a good one.
    WriteErrorIgnored,
    /// A failed sync of a folder is taken for a good one.
    FolderErrorIgnored,
    /// Recovery does not know that the machine has been up since: it trusts what the cache holds.
    RebootBelieved,
    /// No flaw of the store: each time it is asked the system gives itself out for another run, beside the same cache,
    /// as it does to a container that is started again.
    RunsDiffer,
}

impl Flaw {
    /// Those that a crash shows.
    pub const BY_CRASHES: [Self; 24] = [
        Self::FramesNotSynced,
        Self::EverySecondSyncSkipped,
        Self::AnsweredBeforeSync,
        Self::EndWrittenAfterSync,
        Self::PartTooShort,
        Self::CommittedBeforeSync,
        Self::CreatedNotSynced,
        Self::CreatedSyncedLate,
        Self::FolderNotSyncedAfterCreate,
        Self::NewFileNotSynced,
        Self::NewFileSyncedLate,
        Self::CarriedNotSynced,
        Self::FolderNotSyncedAfterExchange,
        Self::OtherFolderSynced,
        Self::ExchangeInTwoSteps,
        Self::OldFileOverwritten,
        Self::RecoveryNotSynced,
        Self::RecoveryFolderNotSynced,
        Self::OldFileNotRemoved,
        Self::RemovalNotSynced,
        Self::TailNotZeroed,
        Self::SupersededNotTold,
        Self::SupersededToldLate,
        Self::ReplacementNotSeen,
    ];
    /// Those that show once an operation fails.
    pub const BY_FAULTS: [Self; 5] = [
        Self::SyncErrorIgnored,
        Self::SyncRetried,
        Self::WriteErrorIgnored,
        Self::FolderErrorIgnored,
        Self::RebootBelieved,
    ];

    /// In which way a crash shows it.
    pub fn breaches(self) -> &'static [Breach] {
        match self {
            Self::CommittedBeforeSync
            | Self::CreatedNotSynced
            | Self::CreatedSyncedLate
            | Self::NewFileNotSynced
            | Self::NewFileSyncedLate
            | Self::OldFileOverwritten
            | Self::RecoveryNotSynced => &[Breach::Unopened],
            Self::OldFileNotRemoved | Self::RemovalNotSynced => &[Breach::Unerased],
            Self::TailNotZeroed => &[Breach::Unasked],
            Self::SupersededNotTold | Self::SupersededToldLate => &[Breach::Untold],
            _ => &[Breach::Lost],
        }
    }
}
