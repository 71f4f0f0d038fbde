//! Every limit of the writer: name, unit, default, reason.
//!
//! Some are repeated in docs/FORMAT.md ("Limits"); a test holds the two together. Limits of the bytes themselves are
//! those of `amem_format::limits`.

use amem_format::limits::{ANSWER_BYTES_MAX, TRANSACTION_BYTES_MAX};

// Requests.

/// Bytes of a brain's name: a file name is at most 255 bytes, and names in `.amemd/tmp` append two hashes.
pub const BRAIN_NAME_BYTES_MAX: usize = 128;
/// Events in one touch: other requests wait for the whole of one.
pub const TOUCHED_EVENTS_MAX: usize = 100_000;
/// Events in one erase: other requests wait for the whole of one.
pub const ERASED_EVENTS_MAX: usize = 100_000;
/// Events that `relate` ties one new event to: each costs a search result and an edge.
pub const RELATED_EVENTS_MAX: usize = 64;

// The journal.

/// Bytes of the journal from which on a busy brain gets a checkpoint: below, a checkpoint costs more than it saves.
pub const CHECKPOINT_JOURNAL_BYTES_MIN: u64 = 16 << 20;
/// Bytes of the journal from which on every brain gets a checkpoint: the journal is replayed into memory when the brain
/// is opened. `Folder::set_journal_bytes_max` replaces it (the daemon's setting `limits.journal_bytes_max`).
pub const CHECKPOINT_JOURNAL_BYTES_MAX: u64 = 1 << 30;
/// Bytes of the journal from which on an idle brain gets a checkpoint.
pub const CHECKPOINT_IDLE_JOURNAL_BYTES_MIN: u64 = 1 << 20;
/// A busy brain gets a checkpoint when its journal is larger than one part in this many of its base: each byte written
/// costs about eight, itself and seven of the base.
pub const CHECKPOINT_BASE_SHARE: u64 = 7;
/// The same share for an idle brain.
pub const CHECKPOINT_IDLE_BASE_SHARE: u64 = 16;
/// Bytes of the journal from which on a brain gets a checkpoint when it is closed: the texts of a smaller one are
/// analyzed within 4 ms.
pub const CHECKPOINT_CLOSE_JOURNAL_BYTES_MIN: u64 = 128 << 10;
/// The share of the base from which on the journal of a brain that is closed is too large.
pub const CHECKPOINT_CLOSE_BASE_SHARE: u64 = 64;
/// Bytes of base and journal up to which a brain gets a checkpoint when it is closed: a larger base would hold up the
/// daemon's end.
pub const CHECKPOINT_CLOSE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a transaction that is appended to the journal: it is held in memory, and other commits wait for it. A merge
/// that is larger goes into a new generation.
pub const APPENDED_TRANSACTION_BYTES_MAX: usize = 64 << 20;
/// Bytes of payload after which a transaction continues in the next frame.
pub const FRAME_PAYLOAD_BYTES: usize = 4 << 20;
/// Bytes of zeros by which a journal grows at least.
pub const SPACE_BYTES_MIN: u64 = 256 << 10;
/// Bytes of zeros by which a journal grows at most, unless one commit needs more.
pub const SPACE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of the buffer for a group's frames that is kept for the next group.
pub const GROUP_BUFFER_BYTES_KEPT: usize = 4 << 20;

// Checkpoints.

/// Events that an embedder is given at a time when a brain is embedded again.
pub const EMBEDDED_EVENTS_MAX: u64 = 64;

/// Bytes of a new base for one byte of journal, at most, as errors about a full disk estimate it: texts with many
/// unlike words take that with their indexes.
pub const BASE_BYTES_PER_JOURNAL_BYTE: u64 = 4;
/// Bytes of frames that the last round of a checkpoint may carry while commits wait, and of zeros behind the frames of
/// a new file.
pub const LAST_ROUND_BYTES_MAX: u64 = 128 << 10;
/// Bytes of carried frames that are held in memory before they are written.
pub const CARRIED_BYTES_MAX: usize = 4 << 20;
/// New events from which on a second thread helps to build a base: below, starting it costs more than it saves.
pub const PARALLEL_BUILD_EVENTS_MIN: u64 = 500;
/// Bytes of a new file that are sent to the drive at a time. The sync of a commit waits for what the drive was given
/// before: 50 ms for a hundred megabytes, less than one for this.
pub const WRITE_OUT_BYTES: usize = 512 << 10;
/// Bytes up to which a part of a file is synced by itself, which copies it once more.
pub const PARTIAL_SYNC_BYTES_MAX: usize = 256 << 10;

// Files that become brains.

/// Bytes of a file that becomes a brain.
pub const INCOMING_BYTES_MAX: u64 = 64 << 30;
/// Bytes of a file of another layout, which is read into memory.
pub const FOREIGN_BYTES_MAX: u64 = 4 << 30;
/// Bytes of the journal of a file that becomes a brain, which is replayed into memory: twice what a daemon lets one
/// grow to.
pub const INCOMING_JOURNAL_BYTES_MAX: u64 = 2 * CHECKPOINT_JOURNAL_BYTES_MAX;
/// Bytes of such a file that are read at a time.
pub const READ_BYTES: usize = 1 << 20;

// Merges.

/// Bytes of memory that one merge may take, and one file that is read for a merge.
pub const MERGE_MEMORY_BYTES_MAX: u64 = 4 << 30;
/// Bytes of the one commit that a merge is: its actor and its answer are part of the transaction.
pub const MERGE_COMMIT_BYTES_MAX: u64 = (TRANSACTION_BYTES_MAX - 2 * ANSWER_BYTES_MAX) as u64;
/// Bytes of a merge that is appended to the journal; a larger one goes into a new generation.
pub const MERGE_JOURNAL_BYTES_MAX: usize = 32 << 20;

// Sizes that speed depends on.

/// Edges whose ends are prefetched ahead of the edge that is planned.
pub const PREFETCHED_LINKS: usize = 12;
/// Bytes reserved for the encoded body of a request.
pub const REQUEST_BODY_BYTES: usize = 1 << 10;
