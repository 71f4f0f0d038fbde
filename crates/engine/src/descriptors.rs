//! The limit of open files: each connection takes one, and so does each brain, open or held.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::HELD_MAX;

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

/// How many files of closed brains may be held open: at most a quarter of all.
pub(crate) fn held_max() -> usize {
    let all = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(all / 4).unwrap_or(HELD_MAX).min(HELD_MAX)
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
    }
}
