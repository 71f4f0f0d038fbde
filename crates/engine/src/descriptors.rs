//! How many files the process may have open: each connection is one, and so is each brain, open or held.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::HELD_MAX;

/// Takes as many as the system allows: the limit that a shell gives is for programs that wait with `select`.
pub(crate) fn raise() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where that is refused, there are as many as before.
    if let Err(why) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%why, "the limit of open files stays as it is");
    }
}

/// Files of closed brains that may be held open: a quarter of all at most.
pub(crate) fn held_max() -> usize {
    let all = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(all / 4).unwrap_or(HELD_MAX).min(HELD_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_leaves_most_files_to_others() {
        raise();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        assert!((1..=HELD_MAX).contains(&held_max()));
    }
}
