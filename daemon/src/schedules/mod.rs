//! What the daemon does by itself for open brains, and when: decay, expiry, closing of idle sessions, summaries, a scrub.
//!
//! Each brain's settings say when. A start is put off by a share of the interval that depends on the brain and the job,
//! so that many brains do not begin at once. What became due while the machine slept or the brain was closed is done
//! once, soon after.
//! Promises: a job never overlaps itself; few run at a time; what it writes goes through the brain's queue in small
//! portions, so that no other write waits for a job; what came of it is told.
//! Not here: what each job does (`work`); checkpoints, which follow the journal and not the clock (`checkpoints`).

mod work;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amem_core::Micros;
use amem_core::base::schedule::Schedule;
use amem_core::base::settings::Jobs as Settings;
use amem_core::view::View;
use amem_proto::v1::JobKind;
use tokio::sync::Semaphore;
use tonic::Code;
use tracing::Instrument;
use uuid::Uuid;

use crate::brains::{Brains, defect};
use crate::heavy::Heavy;
use crate::limits::{JITTER_MAX, SCHEDULED_MAX, SCHEDULES_EVERY};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};

/// The jobs that follow the clock.
pub(crate) const KINDS: [JobKind; 5] = [
    JobKind::Decay,
    JobKind::Expiry,
    JobKind::CloseSessions,
    JobKind::Compression,
    JobKind::Scrub,
];

/// The schedules of all brains; all clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Schedules(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    brains: Brains,
    scans: Heavy,
    known: Mutex<BTreeMap<(String, i32), Entry>>,
    turns: Arc<Semaphore>,
}

/// How a job of a brain stands.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) kind: JobKind,
    pub(crate) brain: String,
    instance: Uuid,
    pub(crate) schedule: Schedule,
    /// When the brain was first seen open.
    since: Micros,
    /// When it ran last.
    pub(crate) last: Option<Micros>,
    /// What came of that.
    pub(crate) outcome: Option<Result<String, String>>,
    /// When it runs next, if ever.
    pub(crate) next: Option<Micros>,
    pub(crate) running: bool,
    /// How often it ran since the daemon started.
    pub(crate) runs: u64,
}

impl Schedules {
    pub(crate) fn new(brains: Brains, scans: Heavy) -> Self {
        Self(Arc::new(Inner {
            brains,
            scans,
            known: Mutex::default(),
            turns: Arc::new(Semaphore::new(SCHEDULED_MAX)),
        }))
    }

    /// Does what is due, for as long as it is polled.
    pub(crate) async fn follow(&self) {
        loop {
            tokio::time::sleep(SCHEDULES_EVERY).await;
            for brain in self.0.brains.open() {
                for kind in self.due(&brain) {
                    let (this, brain) = (self.clone(), brain.clone());
                    tokio::spawn(async move {
                        // What came of it is in the list, and in the log.
                        drop(this.run(&brain, kind).await);
                    });
                }
            }
        }
    }

    /// The jobs of a brain, or of all that were open here.
    pub(crate) fn list(&self, brain: &str) -> Vec<Entry> {
        for open in self.0.brains.open() {
            self.due(&open);
        }
        let (mut known, which) = (self.known(), self.0.brains.which());
        // Brains that were removed have no jobs.
        known.retain(|(name, _), _| which.contains_key(name));
        let wanted = known
            .values()
            .filter(|entry| brain.is_empty() || entry.brain == brain);
        wanted.cloned().collect()
    }

    /// Runs a job of a brain now; says what it did. One that runs already is not run twice.
    pub(crate) async fn run(&self, brain: &Arc<OpenBrain>, kind: JobKind) -> Result<String> {
        if !KINDS.contains(&kind) {
            let why = format!(
                "{} does not follow a schedule: say DECAY, EXPIRY, CLOSE_SESSIONS, COMPRESSION or SCRUB",
                kind.as_str_name()
            );
            return Err(Refusal::invalid("kind", why));
        }
        self.due(brain);
        let Some(_running) = self.begin(brain, kind) else {
            let message = format!("it runs already on {:?}: wait for it", brain.name);
            return Err(Refusal::new(Code::Aborted, "RUNNING", message));
        };
        let turn = self.0.turns.clone().acquire_owned().await;
        let _turn = turn.map_err(|_| defect())?;
        let job = self.0.brains.jobs().begin(kind, &brain.name);
        // A job that panics is one that failed; it is tried again when it is due.
        let (scans, on) = (self.0.scans.clone(), brain.clone());
        let done =
            tokio::spawn(async move { work::run(kind, &on, &scans).await }.in_current_span()).await;
        let done = done.unwrap_or_else(|_| Err(defect()));
        match &done {
            // Nothing was to be done, as most of the time.
            Ok(None) => job.forget(),
            Ok(Some(what)) => job.done(what),
            Err(refusal) => {
                tracing::warn!(
                    brain = brain.name,
                    job = kind.as_str_name(),
                    why = refusal.message,
                    "a job failed"
                );
                job.failed(&refusal.message);
            }
        }
        let told = match &done {
            Ok(what) => Ok(what.clone().unwrap_or_else(|| NOTHING.to_owned())),
            Err(refusal) => Err(refusal.message.clone()),
        };
        if let Some(entry) = self.known().get_mut(&key(brain, kind)) {
            entry.outcome = Some(told);
            entry.runs += 1;
        }
        Ok(done?.unwrap_or_else(|| NOTHING.to_owned()))
    }

    /// Brings what is known of a brain's jobs up to date; gives those that are due and do not run.
    fn due(&self, brain: &OpenBrain) -> Vec<JobKind> {
        let (view, now) = (brain.view(), now());
        let Ok(settings) = view.settings() else {
            return Vec::new();
        };
        let is_due = |kind: &JobKind| {
            let schedule = of(&settings.jobs, *kind);
            self.is_due(brain, &view, (*kind, schedule), now)
        };
        KINDS.into_iter().filter(is_due).collect()
    }

    fn is_due(
        &self,
        brain: &OpenBrain,
        view: &View,
        (kind, schedule): (JobKind, Schedule),
        now: Micros,
    ) -> bool {
        let instance = view.instance();
        let fresh = || Entry {
            kind,
            brain: brain.name.clone(),
            instance,
            schedule,
            since: now,
            last: None,
            outcome: None,
            next: None,
            running: false,
            runs: 0,
        };
        let mut known = self.known();
        let entry = known.entry(key(brain, kind)).or_insert_with(fresh);
        if entry.instance != instance {
            *entry = fresh();
        }
        entry.schedule = schedule;
        if kind == JobKind::Decay
            && let Some(run) = view.decay_run()
        {
            // It is in the brain, whoever asked for it.
            entry.last = entry.last.max(Some(run.at));
        }
        // A clock that was set back starts the count anew.
        let last = entry.last.map(|last| last.min(now));
        let put_off = jitter(&brain.name, kind, schedule);
        entry.next = schedule
            .next(last, entry.since.min(now))
            .map(|next| Micros(next.0.saturating_add(put_off)));
        !entry.running && entry.next.is_some_and(|next| next <= now)
    }

    /// Marks a job as running, until the result is dropped.
    fn begin(&self, brain: &OpenBrain, kind: JobKind) -> Option<Running> {
        let key = key(brain, kind);
        let mut known = self.known();
        let entry = known.get_mut(&key)?;
        if std::mem::replace(&mut entry.running, true) {
            return None;
        }
        entry.last = Some(now());
        Some(Running {
            schedules: self.clone(),
            key,
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<(String, i32), Entry>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told of a job that found nothing to do.
const NOTHING: &str = "nothing was to be done";

/// A job that runs.
struct Running {
    schedules: Schedules,
    key: (String, i32),
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(entry) = self.schedules.known().get_mut(&self.key) {
            entry.running = false;
        }
    }
}

fn key(brain: &OpenBrain, kind: JobKind) -> (String, i32) {
    (brain.name.clone(), kind.into())
}

fn of(settings: &Settings, kind: JobKind) -> Schedule {
    match kind {
        JobKind::Decay => settings.decay,
        JobKind::Expiry => settings.expire,
        JobKind::CloseSessions => settings.close_sessions,
        JobKind::Compression => settings.compress,
        JobKind::Scrub => settings.scrub,
        _ => Schedule::Off,
    }
}

/// By how much a start is put off: less than a tenth of the interval.
fn jitter(brain: &str, kind: JobKind, schedule: Schedule) -> i64 {
    let most = schedule.interval().unwrap_or(0) / 10;
    let most = most.min(JITTER_MAX.as_micros() as i64).max(1) as u64;
    let mut hasher = DefaultHasher::new();
    (brain, i32::from(kind)).hash(&mut hasher);
    (hasher.finish() % most) as i64
}

fn now() -> Micros {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
