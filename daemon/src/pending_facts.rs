//! What the daemon knows of the pending work of fact memory: for each brain that was open, how much there is, since
//! when, and when it is tried next.
//!
//! Each brain is looked at when it is opened, after calls about facts, and now and then while it is open, so that a
//! closed brain is opened again only when some of its work is due.
//! Not here: the tries (`calls`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use amem_engine::OpenBrain;
use amem_facts::{PendingIndex, PendingSummary};
use amem_format::{Lsn, Micros};
use amem_locks::LockResultExt;
use uuid::Uuid;

use crate::limits::{FACT_LOOK_AGAIN_AFTER, FACT_RETRY_AGAIN_AFTER, FACT_RETRY_AGAIN_AFTER_MAX};

/// The pending work of all brains; all clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingFacts(Arc<Mutex<HashMap<String, Arc<BrainWork>>>>);

/// The pending work of one brain.
#[derive(Debug, Default)]
struct BrainWork {
    /// Held while the brain is read.
    index: Mutex<PendingIndex>,
    state: Mutex<WorkState>,
}

#[derive(Debug, Default)]
struct WorkState {
    summary: PendingSummary,
    /// Instance and LSN of the last look.
    seen: Option<(Uuid, Lsn)>,
    /// Until when a brain that could not be read is not read again.
    unread_until: Option<Instant>,
    is_running: bool,
    /// Runs that failed one after the other.
    failures: u32,
    /// Until when no run begins, after one that failed.
    paused_until: Option<Instant>,
}

impl WorkState {
    fn is_due(&self, now: Micros) -> bool {
        let is_past = |until: Option<Instant>| until.is_none_or(|until| until <= Instant::now());
        !self.is_running && is_past(self.paused_until) && self.summary.is_due(now)
    }
}

/// A run of the work of a brain; another one begins after its end.
#[derive(Debug)]
pub(crate) struct WorkRun(Arc<BrainWork>);

impl PendingFacts {
    /// Reads what has changed of a brain's pending work. It may wait for the disk.
    pub(crate) fn look(&self, brain: &OpenBrain) {
        let work = self.list().entry(brain.name.clone()).or_default().clone();
        let mut index = work.index.lock().unpoisoned();
        let view = brain.view();
        let looked = index.look(&view);
        let mut state = work.state.lock().unpoisoned();
        state.seen = Some((view.instance(), view.lsn()));
        match looked {
            Ok(summary) => {
                state.summary = summary;
                state.unread_until = None;
            }
            Err(error) => {
                tracing::warn!(
                    brain = brain.name,
                    why = error.to_string(),
                    "its pending facts can't be read"
                );
                state.unread_until = Some(Instant::now() + FACT_LOOK_AGAIN_AFTER);
                // A run fails for the same reason, and is listed among the jobs.
                state.summary.next_try = Some(Micros(0));
            }
        }
    }

    /// True if a brain has commits that were not looked at.
    pub(crate) fn is_behind(&self, brain: &OpenBrain) -> bool {
        let Some(work) = self.list().get(&brain.name).cloned() else {
            return true;
        };
        let view = brain.view();
        let state = work.state.lock().unpoisoned();
        let is_unread = state.unread_until.is_some_and(|at| Instant::now() < at);
        !is_unread && state.seen != Some((view.instance(), view.lsn()))
    }

    /// What was found at the last look; nothing of a brain that was never open.
    pub(crate) fn known(&self, brain: &str) -> PendingSummary {
        let work = self.list().get(brain).cloned();
        work.map_or_else(PendingSummary::default, |work| {
            work.state.lock().unpoisoned().summary
        })
    }

    /// The brains that have work to do now, open or closed, those that wait the longest first.
    pub(crate) fn due(&self, now: Micros) -> Vec<String> {
        let mut due: Vec<_> = {
            let list = self.list();
            let due = list.iter().filter_map(|(name, work)| {
                let state = work.state.lock().unpoisoned();
                state
                    .is_due(now)
                    .then(|| (state.summary.next_try, name.clone()))
            });
            due.collect()
        };
        due.sort_unstable();
        due.into_iter().map(|(_, name)| name).collect()
    }

    /// Marks the work of a brain as running, until the result is dropped; `None` if it runs already.
    pub(crate) fn begin(&self, brain: &str) -> Option<WorkRun> {
        let work = self.list().get(brain).cloned()?;
        let mut state = work.state.lock().unpoisoned();
        if state.is_running {
            return None;
        }
        state.is_running = true;
        drop(state);
        Some(WorkRun(work))
    }

    /// Forgets the brains that are not wanted any more.
    pub(crate) fn retain(&self, is_wanted: impl Fn(&str) -> bool) {
        self.list().retain(|name, _| is_wanted(name));
    }

    fn list(&self) -> MutexGuard<'_, HashMap<String, Arc<BrainWork>>> {
        self.0.lock().unpoisoned()
    }
}

impl WorkRun {
    /// Notes how it ended; returns the pause before the next run, if it failed.
    pub(crate) fn ended(&self, is_done: bool) -> Option<Duration> {
        let mut state = self.0.state.lock().unpoisoned();
        if is_done {
            (state.failures, state.paused_until) = (0, None);
            return None;
        }
        let doublings = state.failures.min(16);
        state.failures += 1;
        let pause = FACT_RETRY_AGAIN_AFTER
            .saturating_mul(1 << doublings)
            .min(FACT_RETRY_AGAIN_AFTER_MAX);
        state.paused_until = Some(Instant::now() + pause);
        Some(pause)
    }
}

impl Drop for WorkRun {
    fn drop(&mut self) {
        self.0.state.lock().unpoisoned().is_running = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(next_tries: &[(&str, i64)]) -> PendingFacts {
        let table = PendingFacts::default();
        for (name, next) in next_tries {
            let work = BrainWork::default();
            work.state.lock().unpoisoned().summary = PendingSummary {
                count: 1,
                oldest: Some(Micros(0)),
                next_try: Some(Micros(*next)),
            };
            table.list().insert((*name).to_owned(), Arc::new(work));
        }
        table
    }

    #[test]
    fn what_waits_longest_is_due_first_and_runs_once() {
        let table = table(&[("a", 3), ("b", 2), ("c", 9)]);
        assert_eq!(table.due(Micros(5)), ["b", "a"]);
        let run = table.begin("b").unwrap();
        assert!(table.begin("b").is_none() && table.begin("none").is_none());
        assert_eq!(table.due(Micros(9)), ["a", "c"]);
        assert_eq!(run.ended(true), None);
        drop(run);
        assert_eq!(table.due(Micros(5)), ["b", "a"]);
        table.retain(|name| name != "b");
        assert_eq!(table.due(Micros(5)), ["a"]);
    }

    #[test]
    fn runs_that_fail_wait_longer_each_time_and_not_for_ever() {
        let table = table(&[("a", 1)]);
        let pauses: Vec<_> = (0..20)
            .map(|_| table.begin("a").unwrap().ended(false).unwrap())
            .collect();
        assert_eq!(pauses[0], FACT_RETRY_AGAIN_AFTER);
        assert_eq!(pauses[1], 2 * FACT_RETRY_AGAIN_AFTER);
        assert_eq!(pauses[19], FACT_RETRY_AGAIN_AFTER_MAX);
        assert!(table.due(Micros(5)).is_empty());
        table.begin("a").unwrap().ended(true);
        assert_eq!(table.due(Micros(5)), ["a"]);
    }

    #[test]
    fn a_time_that_a_wrong_clock_wrote_holds_nothing_up_for_years() {
        let year = 365 * 86_400 * 1_000_000;
        let table = table(&[("ahead", year), ("soon", 60_000_000)]);
        assert_eq!(table.due(Micros(0)), ["ahead"]);
    }
}
