//! The registry of jobs: running ones and recent results.
//!
//! Promises: a job that is dropped without a result counts as failed. Not here: the work itself.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use amem_locks::LockResultExt;

use crate::limits::JOBS_KEPT_MAX;

/// What a job does. Numbers and names are those of `amem.v1` and of the file of last runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    /// Makes a new base.
    Checkpoint = 1,
    /// Recovers a brain from its file.
    Recovery = 2,
    /// Verifies a brain.
    Verify = 3,
    /// Makes a received file a brain.
    Import = 4,
    /// Sends a brain as a file.
    Export = 5,
    /// Makes a file of the folder a brain.
    Adoption = 6,
    /// Saves a brain whose file was removed or displaced.
    Rescue = 7,
    /// Merges another brain into one.
    Merge = 8,
    /// Computes strengths.
    Decay = 9,
    /// Forgets events whose `expires_at` is past.
    Expiry = 10,
    /// Closes idle sessions.
    CloseSessions = 11,
    /// Checks every byte.
    Scrub = 12,
    /// Summarises sessions that ended.
    Compression = 13,
    /// Tries work of fact memory again that could not be done before.
    FactRetry = 14,
}

impl JobKind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Checkpoint,
        Self::Recovery,
        Self::Verify,
        Self::Import,
        Self::Export,
        Self::Adoption,
        Self::Rescue,
        Self::Merge,
        Self::Decay,
        Self::Expiry,
        Self::CloseSessions,
        Self::Scrub,
        Self::Compression,
        Self::FactRetry,
    ];

    /// Those that follow a schedule, in the order in which they are listed.
    pub const SCHEDULED: [Self; 6] = [
        Self::Decay,
        Self::Expiry,
        Self::CloseSessions,
        Self::Compression,
        Self::Scrub,
        Self::Checkpoint,
    ];

    /// Its name in files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Checkpoint => "JOB_KIND_CHECKPOINT",
            Self::Recovery => "JOB_KIND_RECOVERY",
            Self::Verify => "JOB_KIND_VERIFY",
            Self::Import => "JOB_KIND_IMPORT",
            Self::Export => "JOB_KIND_EXPORT",
            Self::Adoption => "JOB_KIND_ADOPTION",
            Self::Rescue => "JOB_KIND_RESCUE",
            Self::Merge => "JOB_KIND_MERGE",
            Self::Decay => "JOB_KIND_DECAY",
            Self::Expiry => "JOB_KIND_EXPIRY",
            Self::CloseSessions => "JOB_KIND_CLOSE_SESSIONS",
            Self::Scrub => "JOB_KIND_SCRUB",
            Self::Compression => "JOB_KIND_COMPRESSION",
            Self::FactRetry => "JOB_KIND_FACT_RETRY",
        }
    }

    /// The one name that is shown, as the settings of a brain write it: `close_sessions`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Checkpoint => "checkpoint",
            Self::Recovery => "recovery",
            Self::Verify => "verify",
            Self::Import => "import",
            Self::Export => "export",
            Self::Adoption => "adoption",
            Self::Rescue => "rescue",
            Self::Merge => "merge",
            Self::Decay => "decay",
            Self::Expiry => "expire",
            Self::CloseSessions => "close_sessions",
            Self::Scrub => "scrub",
            Self::Compression => "compress",
            Self::FactRetry => "fact_retry",
        }
    }

    /// The kind of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The jobs of an engine; all clones are the same.
#[derive(Debug, Clone, Default)]
pub struct JobRegistry(Arc<Mutex<JobTable>>);

#[derive(Debug, Default)]
struct JobTable {
    /// Ascending by id.
    entries: VecDeque<JobEntry>,
    last_id: u64,
    /// Those that ended, in the order in which they did.
    ended: VecDeque<u64>,
    /// How many have ever ended, by kind: done, and failed.
    counts: BTreeMap<JobKind, (u64, u64)>,
}

/// A job of the list.
#[derive(Debug, Clone)]
pub struct JobEntry {
    /// Ascending in the order of their beginning.
    pub id: u64,
    /// Its kind.
    pub kind: JobKind,
    /// The brain.
    pub brain: String,
    /// When it began.
    pub started: SystemTime,
    /// When it ended, and its outcome.
    pub ended: Option<(SystemTime, Result<String, String>)>,
}

/// How many jobs of one kind there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobCount {
    /// Their kind.
    pub kind: JobKind,
    /// Those that run.
    pub running: u64,
    /// Those that were ever done.
    pub done: u64,
    /// Those that ever failed.
    pub failed: u64,
}

/// A job that runs.
#[derive(Debug)]
pub struct RunningJob {
    jobs: JobRegistry,
    id: u64,
}

impl JobRegistry {
    /// Lists a job that begins.
    pub fn begin(&self, kind: JobKind, brain: &str) -> RunningJob {
        let mut list = self.list();
        list.last_id += 1;
        let id = list.last_id;
        list.entries.push_back(JobEntry {
            id,
            kind,
            brain: brain.to_owned(),
            started: SystemTime::now(),
            ended: None,
        });
        RunningJob {
            jobs: self.clone(),
            id,
        }
    }

    /// The jobs with ids below `below` whose brains `is_wanted`, the newest first, and whether there are more.
    pub fn page(
        &self,
        below: u64,
        running: bool,
        size: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> (Vec<JobEntry>, bool) {
        let list = self.list();
        let wanted = |entry: &&JobEntry| {
            entry.id < below && (!running || entry.ended.is_none()) && is_wanted(&entry.brain)
        };
        let mut found = list.entries.iter().rev().filter(wanted);
        let page = found.by_ref().take(size).cloned().collect();
        (page, found.next().is_some())
    }

    /// How many there were and are, by kind; kinds without any are left out.
    pub fn counts(&self) -> Vec<JobCount> {
        let list = self.list();
        let mut running: BTreeMap<JobKind, u64> = BTreeMap::new();
        for entry in list.entries.iter().filter(|entry| entry.ended.is_none()) {
            *running.entry(entry.kind).or_default() += 1;
        }
        let count = |kind| {
            let running = running.get(&kind).copied();
            let ended = list.counts.get(&kind).copied();
            running.or(ended.map(|_| 0))?;
            let (done, failed) = ended.unwrap_or_default();
            Some(JobCount {
                kind,
                running: running.unwrap_or_default(),
                done,
                failed,
            })
        };
        JobKind::ALL.into_iter().filter_map(count).collect()
    }

    fn list(&self) -> MutexGuard<'_, JobTable> {
        self.0.lock().unpoisoned()
    }

    fn end(&self, id: u64, outcome: Result<String, String>) {
        let mut list = self.list();
        let Ok(at) = list.entries.binary_search_by_key(&id, |entry| entry.id) else {
            return;
        };
        if list.entries[at].ended.is_some() {
            return;
        }
        let kind = list.entries[at].kind;
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

impl RunningJob {
    /// Ends it, with what it did.
    pub fn done(self, what: impl Display) {
        self.jobs.end(self.id, Ok(what.to_string()));
    }

    /// Ends it, with why it failed.
    pub fn failed(self, why: impl Display) {
        self.jobs.end(self.id, Err(why.to_string()));
    }

    /// Removes it from the list: there was nothing to do.
    pub fn forget(self) {
        let mut list = self.jobs.list();
        let is_it = |entry: &JobEntry| entry.id == self.id && entry.ended.is_none();
        list.entries.retain(|entry| !is_it(entry));
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.jobs.end(self.id, Err("it was given up".into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_jobs_are_kept_and_of_those_that_ended_the_last() {
        let jobs = JobRegistry::default();
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
        let count = |kind, running, done, failed| JobCount {
            kind,
            running,
            done,
            failed,
        };
        let checkpoints = count(JobKind::Checkpoint, 0, JOBS_KEPT_MAX as u64 + 10, 0);
        let counted = jobs.counts();
        assert_eq!(counted, [checkpoints, count(JobKind::Import, 1, 0, 0)]);
        drop(running);
        assert_eq!(jobs.counts()[1], count(JobKind::Import, 0, 0, 1));
        let (all, _) = jobs.page(u64::MAX, false, 1000, |_| true);
        assert_eq!(all.len(), JOBS_KEPT_MAX);
        // The one that ran longest has ended last: it is kept, and has failed, since nothing reported its outcome.
        let ended = all.last().unwrap();
        assert_eq!(ended.brain, "long");
        assert!(
            ended
                .ended
                .as_ref()
                .is_some_and(|(_, outcome)| outcome.is_err())
        );
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in JobKind::ALL {
            assert_eq!(JobKind::by_name(kind.name()), Some(kind));
        }
        assert_eq!(JobKind::by_name("JOB_KIND_UNSPECIFIED"), None);
    }
}
