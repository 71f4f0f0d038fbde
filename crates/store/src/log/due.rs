//! The size of the journal at which a checkpoint is due.
//!
//! Not here: checkpoints for an erase or on request, and retries (the daemon).

use crate::limits::{
    CHECKPOINT_BASE_SHARE, CHECKPOINT_IDLE_BASE_SHARE, CHECKPOINT_IDLE_JOURNAL_BYTES_MIN,
    CHECKPOINT_JOURNAL_BYTES_MIN,
};
use crate::log::store::Store;

impl Store {
    /// True if the journal is too large for its base.
    pub fn needs_checkpoint(&self, is_idle: bool) -> bool {
        let base = self.brain.base().journal().unwrap_or(self.brain.mapped());
        self.journal_bytes() > threshold(base, is_idle, self.folder.journal_bytes_max())
    }
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
