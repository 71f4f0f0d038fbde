//! The jobs of all brains that are known here, open or closed, and what is kept of brains that are not here.
//!
//! Promises: a job that was begun is not begun again before it has ended.
//! Not here: clocks, brains, files; who asks has looked at them.

use std::collections::{BTreeMap, HashMap};

use amem_format::Micros;
use amem_format::base::schedule::Schedule;
use amem_format::base::settings::Jobs as Settings;
use amem_proto::v1::JobKind;
use uuid::Uuid;

use super::KINDS;
use super::entry::{Entry, Look};
use super::last_runs::{Key, LastRun};
use crate::brains::Which;

/// The jobs, by brain and kind.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: BTreeMap<(String, i32), Entry>,
    /// Of brains that were not met yet, or are gone.
    left: HashMap<Key, LastRun>,
}

impl Table {
    /// With what an earlier daemon has written down.
    pub(super) fn of_last_runs(left: HashMap<Key, LastRun>) -> Self {
        Self {
            entries: BTreeMap::new(),
            left,
        }
    }

    /// Brings the jobs of an open brain up to date; gives those that are due and do not run.
    pub(super) fn due(
        &mut self,
        (brain, instance): (&str, Uuid),
        settings: &Settings,
        decayed: Option<Micros>,
        (now, unsettled): (Micros, Option<Micros>),
    ) -> Vec<JobKind> {
        let mut due = Vec::new();
        for kind in KINDS {
            let schedule = of(settings, kind);
            let look = Look {
                now,
                unsettled,
                // It is in the brain, whoever asked for it.
                told: decayed.filter(|_| kind == JobKind::Decay),
            };
            let left = &mut self.left;
            let mut met = || {
                let run = left.remove(&(instance, kind.as_str_name().to_owned()));
                let known = run.and_then(|run| Entry::of_last_run(brain, &run));
                known.unwrap_or_else(|| Entry::new(kind, brain, instance, schedule, look))
            };
            let entry = self.entries.entry(key(brain, kind));
            let entry = entry.or_insert_with(&mut met);
            if entry.instance != instance {
                *entry = met();
            }
            if entry.look(schedule, look) {
                due.push(kind);
            }
        }
        due
    }

    /// The closed brain that is worth opening now and has been for the longest time, as somebody named an hour for a
    /// job.
    pub(super) fn due_closed(
        &mut self,
        is_open: impl Fn(&str) -> bool,
        clock: (Micros, Option<Micros>),
    ) -> Option<String> {
        let entries = self.entries.values_mut();
        let closed = entries.filter(|entry| entry.wakes() && !is_open(&entry.brain));
        let due = closed.filter_map(|entry| look_closed(entry, clock).then_some(&*entry));
        let first = due.min_by_key(|entry| entry.next);
        first.map(|entry| entry.brain.clone())
    }

    /// A closed brain could not be opened for its jobs: each of them has failed this time.
    pub(super) fn failed(&mut self, brain: &str, why: &str, clock: (Micros, Option<Micros>)) {
        for entry in self.entries.values_mut() {
            if entry.brain == brain && entry.wakes() && look_closed(entry, clock) {
                entry.last = Some(clock.0);
                entry.outcome = Some(Err(why.to_owned()));
                entry.runs += 1;
            }
        }
    }

    /// Marks a job as running; `None` if it does already.
    pub(super) fn begin(&mut self, brain: &str, kind: JobKind, now: Micros) -> Option<()> {
        let entry = self.entries.get_mut(&key(brain, kind))?;
        if entry.running {
            return None;
        }
        entry.running = true;
        entry.before = entry.last.replace(now);
        Some(())
    }

    /// What came of a job.
    pub(super) fn done(&mut self, brain: &str, kind: JobKind, outcome: Result<String, String>) {
        if let Some(entry) = self.entries.get_mut(&key(brain, kind)) {
            entry.outcome = Some(outcome);
            entry.runs += 1;
        }
    }

    /// It does not run any more, however it ended.
    pub(super) fn end(&mut self, brain: &str, kind: JobKind) {
        if let Some(entry) = self.entries.get_mut(&key(brain, kind)) {
            entry.running = false;
        }
    }

    /// Meets the brains that are here, so that what is kept of closed ones is known, and lets go of those that are not.
    pub(super) fn meet(&mut self, here: &HashMap<String, Which>, now: Micros) {
        let is_here = |entry: &Entry| {
            let which = here.get(&entry.brain);
            which.is_some_and(|which| which.instance == entry.instance)
        };
        let left = &mut self.left;
        self.entries.retain(|_, entry| {
            // One that runs comes to its end first.
            let stays = is_here(entry) || entry.running;
            if !stays {
                let run = LastRun::of(entry, now);
                left.insert(run.key(), run);
            }
            stays
        });
        if self.left.is_empty() {
            return;
        }
        for (name, which) in here {
            for kind in KINDS {
                let run = (which.instance, kind.as_str_name().to_owned());
                if self.entries.contains_key(&key(name, kind)) {
                    continue;
                }
                let run = self.left.remove(&run);
                if let Some(entry) = run.and_then(|run| Entry::of_last_run(name, &run)) {
                    self.entries.insert(key(name, kind), entry);
                }
            }
        }
    }

    /// What is to be kept.
    pub(super) fn keep(&self, now: Micros) -> Vec<LastRun> {
        let known = self.entries.values().map(|entry| LastRun::of(entry, now));
        known.chain(self.left.values().cloned()).collect()
    }

    /// The jobs of a brain, or of all (`""`), those of closed brains up to date.
    pub(super) fn list(
        &mut self,
        brain: &str,
        is_open: impl Fn(&str) -> bool,
        clock: (Micros, Option<Micros>),
    ) -> Vec<Entry> {
        let entries = self.entries.values_mut();
        let wanted = entries.filter(|entry| brain.is_empty() || entry.brain == brain);
        let listed = wanted.map(|entry| {
            if !is_open(&entry.brain) {
                look_closed(entry, clock);
            }
            entry.clone()
        });
        listed.collect()
    }
}

/// Looks at a job whose brain is closed: its schedule is the one that it had.
fn look_closed(entry: &mut Entry, (now, unsettled): (Micros, Option<Micros>)) -> bool {
    let look = Look {
        now,
        unsettled,
        told: None,
    };
    entry.look(entry.schedule, look)
}

fn key(brain: &str, kind: JobKind) -> (String, i32) {
    (brain.to_owned(), kind.into())
}

fn of(settings: &Settings, kind: JobKind) -> Schedule {
    match kind {
        JobKind::Decay => settings.decay,
        JobKind::Expiry => settings.expire,
        JobKind::CloseSessions => settings.close_sessions,
        JobKind::Compression => settings.compress,
        JobKind::Scrub => settings.scrub,
        JobKind::Checkpoint => settings.checkpoint,
        _ => Schedule::Off,
    }
}
