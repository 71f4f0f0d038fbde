//! The size of the journal at which a checkpoint is due.
//!
//! A brain that is closed gets one, too, if its journal is not small: the next process to open it replays the journal,
//! and analyzes its texts for the first question in words, at 25 ms a megabyte.
//!
//! Not here: checkpoints for an erase or on request, and retries (the daemon).

use crate::limits::{
    CHECKPOINT_BASE_SHARE, CHECKPOINT_CLOSE_BASE_SHARE, CHECKPOINT_CLOSE_BYTES_MAX,
    CHECKPOINT_CLOSE_JOURNAL_BYTES_MIN, CHECKPOINT_IDLE_BASE_SHARE,
    CHECKPOINT_IDLE_JOURNAL_BYTES_MIN, CHECKPOINT_JOURNAL_BYTES_MIN,
};
use crate::log::store::Store;

impl Store {
    /// True if the journal is too large for its base.
    pub fn needs_checkpoint(&self, is_idle: bool) -> bool {
        let base = self.brain.base().journal().unwrap_or(self.brain.mapped());
        self.journal_bytes() > threshold(base, is_idle, self.folder.journal_bytes_max())
    }

    /// True if the journal is too large to be left to the next opening, and a new base is written in a moment.
    pub fn needs_closing_checkpoint(&self) -> bool {
        let base = self.brain.base().journal().unwrap_or(self.brain.mapped());
        self.read_only.is_none()
            && self.poison.is_none()
            && is_due_at_close(base, self.journal_bytes())
    }
}

fn is_due_at_close(base: u64, journal: u64) -> bool {
    let threshold = (base / CHECKPOINT_CLOSE_BASE_SHARE).max(CHECKPOINT_CLOSE_JOURNAL_BYTES_MIN);
    journal > threshold && base + journal <= CHECKPOINT_CLOSE_BYTES_MAX
}

/// Bytes of journal above which a base of `base` bytes is replaced.
fn threshold(base: u64, is_idle: bool, max: u64) -> u64 {
    let (share, min) = if is_idle {
        (
            CHECKPOINT_IDLE_BASE_SHARE,
            CHECKPOINT_IDLE_JOURNAL_BYTES_MIN,
        )
    } else {
        (CHECKPOINT_BASE_SHARE, CHECKPOINT_JOURNAL_BYTES_MIN)
    };
    (base / share).max(min).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::CHECKPOINT_JOURNAL_BYTES_MAX;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_closed_brain_has_a_small_journal_unless_its_base_is_large() {
        let kib = 1 << 10;
        for (base, journal, due) in [
            (0, 100 * kib, false),
            (0, 200 * kib, true),
            (32 * MIB, 400 * kib, false),
            (32 * MIB, 600 * kib, true),
            (63 * MIB, 2 * MIB, false),
            (1 << 40, 1 << 30, false),
        ] {
            assert_eq!(is_due_at_close(base, journal), due, "{base}, {journal}");
        }
    }

    #[test]
    fn a_journal_may_grow_with_its_base_within_bounds() {
        let rows = [
            // base, idle, the most, threshold
            (0, false, CHECKPOINT_JOURNAL_BYTES_MAX, 16 * MIB),
            (0, true, CHECKPOINT_JOURNAL_BYTES_MAX, MIB),
            (700 * MIB, false, CHECKPOINT_JOURNAL_BYTES_MAX, 100 * MIB),
            (1600 * MIB, true, CHECKPOINT_JOURNAL_BYTES_MAX, 100 * MIB),
            (1 << 40, false, CHECKPOINT_JOURNAL_BYTES_MAX, 1 << 30),
            (1 << 40, true, CHECKPOINT_JOURNAL_BYTES_MAX, 1 << 30),
            (700 * MIB, false, 50 * MIB, 50 * MIB),
            (0, false, 2 * MIB, 2 * MIB),
        ];
        for (base, is_idle, max, expected) in rows {
            assert_eq!(
                threshold(base, is_idle, max),
                expected,
                "{base}, {is_idle}, {max}"
            );
        }
    }
}
