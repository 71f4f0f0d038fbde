//! The scheduled jobs of all known brains, open or closed, and the last runs of brains that are not here.
//!
//! Promises: a job that was begun is not begun again before it has ended.
//! Not here: clocks, brains, files.

use std::collections::{BTreeMap, HashMap};

use amem_format::Micros;
use amem_format::base::schedule::Schedule;
use amem_format::base::settings::JobSettings as Settings;
use jiff::tz::TimeZone;
use uuid::Uuid;

use super::entry::{ScheduledJob, UpdateInput};
use super::last_runs::{LastRun, LastRunKey};
use crate::brains::BrainIdentity;
use crate::jobs::JobKind;

/// The zone of times of day.
#[derive(Debug)]
pub(super) struct ScheduleZone(pub(super) TimeZone);

impl Default for ScheduleZone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

/// The jobs, by brain and kind.
#[derive(Debug, Default)]
pub(super) struct ScheduleTable {
    /// The zone of times of day; UTC by default.
    pub(super) zone: ScheduleZone,
    entries: BTreeMap<(String, JobKind), ScheduledJob>,
    /// Last runs of brains that are not here.
    left: HashMap<LastRunKey, LastRun>,
}

impl ScheduleTable {
    /// With the last runs of an earlier daemon.
    pub(super) fn of_last_runs(left: HashMap<LastRunKey, LastRun>) -> Self {
        Self {
            left,
            ..Self::default()
        }
    }

    /// Updates the jobs of an open brain; returns those that are due and do not run.
    pub(super) fn due(
        &mut self,
        (brain, instance): (&str, Uuid),
        settings: &Settings,
        decayed: Option<Micros>,
        (now, unsettled): (Micros, Option<Micros>),
    ) -> Vec<JobKind> {
        let mut due = Vec::new();
        for kind in JobKind::SCHEDULED {
            let schedule = of(settings, kind);
            let input = UpdateInput {
                zone: &self.zone.0,
                now,
                unsettled,
                // The brain records decay runs, scheduled or not.
                recorded: decayed.filter(|_| kind == JobKind::Decay),
            };
            let left = &mut self.left;
            let mut met = || {
                let run = left.remove(&(instance, kind.name().to_owned()));
                let known = run.and_then(|run| run.job_of(brain));
                known.unwrap_or_else(|| ScheduledJob::new(kind, brain, instance, schedule, input))
            };
            let entry = self.entries.entry(key(brain, kind));
            let entry = entry.or_insert_with(&mut met);
            if entry.instance != instance {
                *entry = met();
            }
            if entry.update(schedule, input) {
                due.push(kind);
            }
        }
        due
    }

    /// The closed brain with the job that is overdue the longest, of jobs that name an hour.
    pub(super) fn due_closed(
        &mut self,
        is_open: impl Fn(&str) -> bool,
        clock: (Micros, Option<Micros>),
    ) -> Option<String> {
        let entries = self.entries.values_mut();
        let closed = entries.filter(|entry| entry.wakes() && !is_open(&entry.brain));
        let zone = &self.zone.0;
        let due = closed.filter_map(|entry| update_closed(entry, clock, zone).then_some(&*entry));
        let first = due.min_by_key(|entry| entry.next);
        first.map(|entry| entry.brain.clone())
    }

    /// A closed brain could not be opened for its jobs: each of them failed.
    pub(super) fn failed(&mut self, brain: &str, why: &str, clock: (Micros, Option<Micros>)) {
        for entry in self.entries.values_mut() {
            if entry.brain == brain && entry.wakes() && update_closed(entry, clock, &self.zone.0) {
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

    /// Notes the outcome of a job.
    pub(super) fn done(&mut self, brain: &str, kind: JobKind, outcome: Result<String, String>) {
        if let Some(entry) = self.entries.get_mut(&key(brain, kind)) {
            entry.outcome = Some(outcome);
            entry.runs += 1;
        }
    }

    /// Marks a job as not running.
    pub(super) fn end(&mut self, brain: &str, kind: JobKind) {
        if let Some(entry) = self.entries.get_mut(&key(brain, kind)) {
            entry.running = false;
        }
    }

    /// Adds the jobs of brains that are here, also closed ones, from their last runs, and removes those of brains that
    /// are not.
    pub(super) fn meet(&mut self, here: &HashMap<String, BrainIdentity>, now: Micros) {
        let is_here = |entry: &ScheduledJob| {
            let identity = here.get(&entry.brain);
            identity.is_some_and(|identity| identity.instance == entry.instance)
        };
        let left = &mut self.left;
        self.entries.retain(|_, entry| {
            // A running job ends first.
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
        for (name, identity) in here {
            for kind in JobKind::SCHEDULED {
                let run = (identity.instance, kind.name().to_owned());
                if self.entries.contains_key(&key(name, kind)) {
                    continue;
                }
                let run = self.left.remove(&run);
                if let Some(entry) = run.and_then(|run| run.job_of(name)) {
                    self.entries.insert(key(name, kind), entry);
                }
            }
        }
    }

    /// The last runs to write.
    pub(super) fn keep(&self, now: Micros) -> Vec<LastRun> {
        let known = self.entries.values().map(|entry| LastRun::of(entry, now));
        known.chain(self.left.values().cloned()).collect()
    }

    /// The jobs of a brain, or of all (`""`).
    pub(super) fn list(
        &mut self,
        brain: &str,
        is_open: impl Fn(&str) -> bool,
        clock: (Micros, Option<Micros>),
    ) -> Vec<ScheduledJob> {
        let entries = self.entries.values_mut();
        let wanted = entries.filter(|entry| brain.is_empty() || entry.brain == brain);
        let listed = wanted.map(|entry| {
            if !is_open(&entry.brain) {
                update_closed(entry, clock, &self.zone.0);
            }
            entry.clone()
        });
        listed.collect()
    }
}

/// Updates a job whose brain is closed: its schedule is the one that it had.
fn update_closed(
    entry: &mut ScheduledJob,
    (now, unsettled): (Micros, Option<Micros>),
    zone: &TimeZone,
) -> bool {
    let input = UpdateInput {
        zone,
        now,
        unsettled,
        recorded: None,
    };
    entry.update(entry.schedule, input)
}

fn key(brain: &str, kind: JobKind) -> (String, JobKind) {
    (brain.to_owned(), kind)
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
