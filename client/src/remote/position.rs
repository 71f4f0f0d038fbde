//! The instance and LSN of the newest answer.

use std::sync::Mutex;

use amem_format::view::View;
use amem_locks::LockResultExt;
use amem_proto::v1;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BrainPosition {
    /// Nil before the first answer.
    pub(super) instance: Uuid,
    pub(super) lsn: u64,
}

impl BrainPosition {
    pub(super) fn of(instance: &str, lsn: u64) -> Self {
        Self {
            instance: Uuid::parse_str(instance).unwrap_or_default(),
            lsn,
        }
    }

    /// Takes the position of an answer: forward within an instance; another instance replaces it.
    pub(super) fn go_on(&mut self, to: Self) {
        if self.instance == to.instance {
            self.lsn = self.lsn.max(to.lsn)
        } else {
            *self = to
        }
    }

    pub(super) fn is_in(&self, view: &View) -> bool {
        view.instance() == self.instance && view.lsn().0 >= self.lsn
    }
}

/// The position of the newest answer.
#[derive(Debug, Default)]
pub(super) struct LatestPosition(Mutex<BrainPosition>);

impl LatestPosition {
    pub(super) fn saw(&self, instance: &str, lsn: u64) {
        let mut seen = self.0.lock().unpoisoned();
        seen.go_on(BrainPosition::of(instance, lsn));
    }

    pub(super) fn saw_commit(&self, commit: Option<&v1::Commit>) {
        if let Some(commit) = commit {
            self.saw(&commit.instance, commit.lsn);
        }
    }

    pub(super) fn saw_moment(&self, moment: Option<&v1::Moment>) {
        if let Some(moment) = moment {
            self.saw(&moment.instance, moment.lsn);
        }
    }

    pub(super) fn instance(&self) -> String {
        self.get().instance.to_string()
    }

    pub(super) fn get(&self) -> BrainPosition {
        *self.0.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_another_instance_resets_and_an_older_one_changes_nothing() {
        let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
        let of = |instance: Uuid, lsn| BrainPosition::of(&instance.to_string(), lsn);
        let mut seen = BrainPosition::default();
        for (next, expected) in [
            (of(one, 5), (one, 5)),
            (of(one, 3), (one, 5)),
            (of(one, 9), (one, 9)),
            (of(other, 2), (other, 2)),
        ] {
            seen.go_on(next);
            assert_eq!((seen.instance, seen.lsn), expected);
        }
    }
}
