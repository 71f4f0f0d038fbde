//! Long work, told: what runs, and what ended of late.
//!
//! Promises: a job that is dropped without a word has failed. Not here: doing the work.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use amem_proto::v1::JobKind;

use crate::limits::JOBS_KEPT_MAX;

/// The jobs of the daemon.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jobs(Arc<Mutex<List>>);

#[derive(Debug, Default)]
struct List {
    /// Ascending by number.
    entries: VecDeque<Entry>,
    last: u64,
    /// Those that ended, in the order in which they did.
    ended: VecDeque<u64>,
    /// How many have ever ended, those that are not kept included, by kind: done, and failed.
    counts: BTreeMap<i32, (u64, u64)>,
}

/// A job as it is told.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    pub(crate) kind: JobKind,
    pub(crate) brain: String,
    pub(crate) started: SystemTime,
    /// When it ended, and what came of it.
    pub(crate) ended: Option<(SystemTime, Result<String, String>)>,
}

/// How many jobs of one kind there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) kind: JobKind,
    pub(crate) running: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
}

/// A job that runs.
#[derive(Debug)]
pub(crate) struct Job {
    jobs: Jobs,
    id: u64,
}

impl Jobs {
    /// A job begins.
    pub(crate) fn begin(&self, kind: JobKind, brain: &str) -> Job {
        let mut list = self.list();
        list.last += 1;
        let id = list.last;
        list.entries.push_back(Entry {
            id,
            kind,
            brain: brain.to_owned(),
            started: SystemTime::now(),
            ended: None,
        });
        Job {
            jobs: self.clone(),
            id,
        }
    }

    /// The jobs whose numbers are below one and whose brains are wanted, the newest first, and whether there are more.
    pub(crate) fn page(
        &self,
        below: u64,
        running: bool,
        size: usize,
        of: impl Fn(&str) -> bool,
    ) -> (Vec<Entry>, bool) {
        let list = self.list();
        let wanted = |entry: &&Entry| {
            entry.id < below && (!running || entry.ended.is_none()) && of(&entry.brain)
        };
        let mut found = list.entries.iter().rev().filter(wanted);
        let page = found.by_ref().take(size).cloned().collect();
        (page, found.next().is_some())
    }

    /// How many there were and are, of every kind of which there were any.
    pub(crate) fn counts(&self) -> Vec<Count> {
        let list = self.list();
        let mut counts: BTreeMap<i32, (u64, u64, u64)> = BTreeMap::new();
        for entry in list.entries.iter().filter(|entry| entry.ended.is_none()) {
            counts.entry(entry.kind.into()).or_default().0 += 1;
        }
        for (kind, (done, failed)) in &list.counts {
            let count = counts.entry(*kind).or_default();
            (count.1, count.2) = (*done, *failed);
        }
        let count = |(kind, (running, done, failed))| Count {
            kind: JobKind::try_from(kind).unwrap_or_default(),
            running,
            done,
            failed,
        };
        counts.into_iter().map(count).collect()
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, id: u64, outcome: Result<String, String>) {
        let mut list = self.list();
        let Ok(at) = list.entries.binary_search_by_key(&id, |entry| entry.id) else {
            return;
        };
        if list.entries[at].ended.is_some() {
            return;
        }
        let kind = list.entries[at].kind.into();
        let count = list.counts.entry(kind).or_default();
        match &outcome {
            Ok(_) => count.0 += 1,
            Err(_) => count.1 += 1,
        }
        list.entries[at].ended = Some((SystemTime::now(), outcome));
        list.ended.push_back(id);
        if list.ended.len() > JOBS_KEPT_MAX
            && let Some(oldest) = list.ended.pop_front()
        {
            list.entries.retain(|entry| entry.id != oldest);
        }
    }
}

impl Job {
    /// It has done what it was to do.
    pub(crate) fn done(self, what: impl Display) {
        self.jobs.end(self.id, Ok(what.to_string()));
    }

    /// It failed.
    pub(crate) fn failed(self, why: impl Display) {
        self.jobs.end(self.id, Err(why.to_string()));
    }

    /// There was nothing to do.
    pub(crate) fn forget(self) {
        let mut list = self.jobs.list();
        let is_it = |entry: &Entry| entry.id == self.id && entry.ended.is_none();
        list.entries.retain(|entry| !is_it(entry));
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.jobs.end(self.id, Err("it was given up".into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_jobs_are_kept_and_of_those_that_ended_the_last() {
        let jobs = Jobs::default();
        let running = jobs.begin(JobKind::Import, "long");
        for at in 0..JOBS_KEPT_MAX + 10 {
            jobs.begin(JobKind::Checkpoint, "b").done(at);
        }
        let (all, more) = jobs.page(u64::MAX, false, JOBS_KEPT_MAX + 1, |_| true);
        assert_eq!((all.len(), more), (JOBS_KEPT_MAX + 1, false));
        assert!(all.is_sorted_by(|a, b| a.id > b.id));
        assert_eq!(all.last().unwrap().brain, "long");
        let (first, more) = jobs.page(all[4].id, false, 3, |_| true);
        assert_eq!(first[0].id, all[5].id);
        assert!(more);
        assert_eq!(jobs.page(u64::MAX, true, 10, |_| true).0.len(), 1);
        let (of_long, more) = jobs.page(u64::MAX, false, 10, |brain| brain == "long");
        assert_eq!((of_long.len(), more), (1, false));
        let count = |kind, running, done, failed| Count {
            kind,
            running,
            done,
            failed,
        };
        let folds = count(JobKind::Checkpoint, 0, JOBS_KEPT_MAX as u64 + 10, 0);
        let counted = jobs.counts();
        assert_eq!(counted, [folds, count(JobKind::Import, 1, 0, 0)]);
        drop(running);
        assert_eq!(jobs.counts()[1], count(JobKind::Import, 0, 0, 1));
        let (all, _) = jobs.page(u64::MAX, false, 1000, |_| true);
        assert_eq!(all.len(), JOBS_KEPT_MAX);
        // The one that ran longest has ended last: it is kept, and has failed, as nobody said otherwise.
        let ended = all.last().unwrap();
        assert_eq!(ended.brain, "long");
        assert!(
            ended
                .ended
                .as_ref()
                .is_some_and(|(_, outcome)| outcome.is_err())
        );
    }
}
