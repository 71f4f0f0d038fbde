//! The limit of open files: each connection takes one, and so does each brain, open or held.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::{HELD_MAX, OPEN_MAX};

/// What a daemon has as long as it runs: runtimes, signals, listeners, log, locks, watches.
const OWN_DESCRIPTORS: usize = 20;

/// Raises the soft limit of open files to the hard limit: the default soft limit exists for programs that use `select`.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If the system refuses, the limit stays.
    if let Err(why) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%why, "the limit of open files stays as it is");
    }
}

/// The descriptors that this process may have.
fn descriptors_max() -> usize {
    let all = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(all).unwrap_or(usize::MAX)
}

/// Those without what the process has as long as it runs.
fn shared_max() -> usize {
    descriptors_max().saturating_sub(OWN_DESCRIPTORS)
}

/// How many files of closed brains may be held open: at most a quarter of the shared descriptors.
pub(crate) fn held_max() -> usize {
    (shared_max() / 4).clamp(1, HELD_MAX)
}

/// How many brains may be open. They have a quarter of the shared descriptors: each takes one, and two while it gets a
/// checkpoint.
pub(crate) fn open_max() -> usize {
    (shared_max() / 8).clamp(1, OPEN_MAX)
}

/// How many connections may be open: a quarter of the shared descriptors. The last quarter is for everything else, so
/// that a checkpoint, a listing or the status never finds none.
pub(crate) fn connections_max() -> u64 {
    (shared_max() as u64 / 4).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_leaves_most_files_to_others() {
        raise_descriptor_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        assert!((1..=HELD_MAX).contains(&held_max()));
        assert!((1..=OPEN_MAX).contains(&open_max()));
        let taken = held_max() as u64 + 2 * open_max() as u64 + connections_max();
        assert!(taken <= descriptors_max() as u64 / 4 * 3);
    }
}
