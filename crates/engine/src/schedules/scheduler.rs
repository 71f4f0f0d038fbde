//! Runs scheduled jobs.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Instant, SystemTime};

use amem_format::Micros;
use amem_locks::LockResultExt;
use jiff::tz::TimeZone;
use tokio::sync::Semaphore;

use super::clock::ScheduleClock;
use super::entry::ScheduledJob;
use super::last_runs::LastRunsFile;
use super::requests::PRINCIPAL;
use super::summaries::{Summaries, SummaryText};
use super::table::{ScheduleTable, ScheduleZone};
use super::work;
use crate::blocking_pool::BlockingPool;
use crate::brains::Engine;
use crate::error::{Error, Result};
use crate::fair_queue::FairQueue;
use crate::jobs::JobKind;
use crate::limits::{KEEP_EVERY, SCHEDULED_MAX, SCHEDULES_EVERY};
use crate::open_brain::{JobReport, OpenBrain};
use crate::tasks::{DEFECT, blocking, run_to_end, spawn_part};

/// The outcome of a job that found nothing to do.
const NOTHING: &str = "nothing was to be done";

/// The schedules of all brains; all clones are the same.
#[derive(Debug, Clone)]
pub struct Schedules(Arc<SchedulesInner>);

#[derive(Debug)]
struct SchedulesInner {
    engine: Engine,
    scans: BlockingPool,
    summaries: Summaries,
    clock: ScheduleClock,
    table: Mutex<ScheduleTable>,
    last_runs: Mutex<LastRunsFile>,
    running: FairQueue,
    /// Held while a closed brain is opened for its jobs.
    waking: Arc<Semaphore>,
    /// The brain that is open for its jobs.
    woken: Mutex<Option<String>>,
}

impl Schedules {
    /// For the brains of an engine; `scans` does what goes through whole brains, and `text` makes the summary of what
    /// no episode of a session covers, on threads of `pool`, where it may wait.
    pub fn new(
        engine: Engine,
        scans: BlockingPool,
        text: Arc<SummaryText>,
        pool: BlockingPool,
    ) -> Self {
        let summaries = Summaries { text, pool };
        Self::by(ScheduleClock::system(), engine, scans, summaries)
    }

    /// By any clock.
    fn by(clock: ScheduleClock, engine: Engine, scans: BlockingPool, summaries: Summaries) -> Self {
        let (file, left) = LastRunsFile::open(engine.path());
        Self(Arc::new(SchedulesInner {
            engine,
            scans,
            summaries,
            clock,
            table: Mutex::new(ScheduleTable::of_last_runs(left)),
            last_runs: Mutex::new(file),
            running: FairQueue::new(SCHEDULED_MAX),
            waking: Arc::new(Semaphore::new(1)),
            woken: Mutex::default(),
        }))
    }

    /// Times of day in schedules are those of this zone from now on.
    pub fn set_zone(&self, zone: TimeZone) {
        self.table().zone = ScheduleZone(zone);
    }

    /// Runs what is due, for as long as it is polled.
    pub async fn run_due(&self) {
        let mut keep_at = Instant::now();
        loop {
            // However long the machine slept in between, this goes on soon after, and the wall clock counts.
            tokio::time::sleep(SCHEDULES_EVERY).await;
            if Instant::now() >= keep_at {
                keep_at = Instant::now() + KEEP_EVERY;
                let this = self.clone();
                drop(blocking(move || this.keep()).await);
            }
            // The hook for panics logs a defect in one round; it must not end the others.
            drop(catch_unwind(AssertUnwindSafe(|| self.begin_due())));
        }
    }

    /// Begins what is due.
    fn begin_due(&self) {
        let open = self.0.engine.open_brains();
        let woken = self.0.woken.lock().unpoisoned().clone();
        for brain in open.iter().filter(|b| Some(&b.name) != woken.as_ref()) {
            for kind in self.due(brain) {
                let (this, brain) = (self.clone(), brain.clone());
                tokio::spawn(async move {
                    // The outcome is in the list and in the log.
                    drop(this.run(PRINCIPAL, &brain, kind).await);
                });
            }
        }
        let Ok(permit) = self.0.waking.clone().try_acquire_owned() else {
            return;
        };
        let names: HashSet<&str> = open.iter().map(|brain| brain.name.as_str()).collect();
        let clock = self.0.clock.look();
        let due = self.table().due_closed(|name| names.contains(name), clock);
        if let Some(name) = due {
            let this = self.clone();
            tokio::spawn(async move {
                let _permit = permit;
                this.run_closed(&name).await;
            });
        }
    }

    /// Opens a closed brain, runs what is due, and closes it again unless a caller has used it meanwhile.
    async fn run_closed(&self, name: &str) {
        let _woken = WokenBrain::new(self, name);
        let brain = match self.0.engine.open(name).await {
            Ok(brain) => brain,
            Err(error) => {
                let why = format!("the brain can't be opened: {error}");
                return self.table().failed(name, &why, self.0.clock.look());
            }
        };
        let opened = Instant::now();
        for kind in self.due(&brain) {
            drop(self.run(PRINCIPAL, &brain, kind).await);
        }
        drop(brain);
        let unused = |brain: &OpenBrain| brain.is_idle(opened.elapsed());
        self.0.engine.close_if(name, unused).await;
    }

    /// Writes when jobs ran last to `.amemd/jobs.json`, if that has changed.
    pub fn keep(&self) {
        let now = self.0.clock.now();
        let here = self.0.engine.identities();
        let runs = {
            let mut table = self.table();
            table.meet(&here, now);
            table.keep(now)
        };
        self.0.last_runs.lock().unpoisoned().write_or_log(runs, now);
    }

    /// The jobs of a brain, or of all that were open here if `brain` is empty.
    pub fn list(&self, brain: &str) -> Vec<ScheduledJob> {
        let open = self.0.engine.open_brains();
        for open in &open {
            self.due(open);
        }
        let names: HashSet<&str> = open.iter().map(|brain| brain.name.as_str()).collect();
        let (clock, here) = (self.0.clock.look(), self.0.engine.identities());
        let mut table = self.table();
        // Brains that were removed have no jobs.
        table.meet(&here, clock.0);
        table.list(brain, |name| names.contains(name), clock)
    }

    /// Runs a job of a brain now, on behalf of a caller; returns what it did.
    ///
    /// # Errors
    /// `JobRunning` if it runs already; `NotScheduled` for jobs of other kinds; else why it failed.
    pub async fn run(&self, caller: &str, brain: &Arc<OpenBrain>, kind: JobKind) -> Result<String> {
        if !JobKind::SCHEDULED.contains(&kind) {
            return Err(Error::NotScheduled { job: kind.name() });
        }
        let (on, scans, clock) = (brain.clone(), self.0.scans.clone(), self.0.clock.clone());
        let of = caller.to_owned();
        let summaries = self.0.summaries.clone();
        let work =
            async move { work::run(kind, &on, scans.of(&of), clock.now(), &summaries).await };
        self.run_work(caller, brain, kind, work).await
    }

    /// Runs work that follows no schedule of the brain, as a job: listed, logged and sent to subscribers like the
    /// others. A closed brain is opened for it, one at a time, and closed again unless a caller has used it meanwhile.
    /// `work` returns what it did, or none if there was nothing to do.
    ///
    /// # Errors
    /// Why the brain can't be opened; else why the work failed.
    pub async fn run_unscheduled<W>(
        &self,
        name: &str,
        kind: JobKind,
        work: impl FnOnce(Arc<OpenBrain>) -> W,
    ) -> Result<String>
    where
        W: Future<Output = Result<Option<String>>> + Send + 'static,
    {
        let open = self.0.engine.open_brains();
        if let Some(brain) = open.into_iter().find(|brain| brain.name == name) {
            return self.run_in_turn(&brain, kind, work(brain.clone())).await;
        }
        // The semaphore is never closed.
        let _permit = self.0.waking.acquire().await.ok();
        let _woken = WokenBrain::new(self, name);
        let brain = self.0.engine.open(name).await?;
        let opened = Instant::now();
        let done = self.run_in_turn(&brain, kind, work(brain.clone())).await;
        drop(brain);
        let unused = |brain: &OpenBrain| brain.is_idle(opened.elapsed());
        self.0.engine.close_if(name, unused).await;
        done
    }

    /// Does the work of a job, to its end, even if its caller stops waiting.
    async fn run_work(
        &self,
        caller: &str,
        brain: &Arc<OpenBrain>,
        kind: JobKind,
        work: impl Future<Output = Result<Option<String>>> + Send + 'static,
    ) -> Result<String> {
        self.due(brain);
        let Some(running) = self.begin(brain, kind) else {
            return Err(Error::JobRunning {
                name: brain.name.clone(),
            });
        };
        let (this, brain, caller) = (self.clone(), brain.clone(), caller.to_owned());
        run_to_end(async move {
            let _running = running;
            let _permit = this.0.running.acquire(&caller).await?;
            this.run_in_turn(&brain, kind, work).await
        })
        .await?
    }

    async fn run_in_turn(
        &self,
        brain: &OpenBrain,
        kind: JobKind,
        work: impl Future<Output = Result<Option<String>>> + Send + 'static,
    ) -> Result<String> {
        // The writer lists checkpoints itself.
        let is_listed = kind != JobKind::Checkpoint;
        let job = is_listed.then(|| self.0.engine.jobs().begin(kind, &brain.name));
        let began = SystemTime::now();
        // A job that panics has failed; it runs again when it is due.
        let done = spawn_part(work).await;
        let done = done.unwrap_or(Err(DEFECT));
        match (&done, job) {
            // There is nothing to do most of the time.
            (Ok(None), Some(job)) => job.forget(),
            (Ok(Some(what)), Some(job)) => job.done(what),
            (Err(error), Some(job)) => job.failed(error),
            (_, None) => {}
        }
        if let Err(error) = &done {
            tracing::warn!(
                brain = brain.name,
                job = kind.name(),
                why = error.to_string(),
                "a job failed"
            );
        }
        let outcome = match &done {
            Ok(what) => Ok(what.clone()),
            Err(error) => Err(error.to_string()),
        };
        let listed = outcome.clone();
        let listed = listed.map(|what| what.unwrap_or_else(|| NOTHING.to_owned()));
        self.table().done(&brain.name, kind, listed);
        if let Some(outcome) = outcome.transpose() {
            brain.publish_job(JobReport {
                kind,
                began,
                ended: SystemTime::now(),
                outcome,
            });
        }
        Ok(done?.unwrap_or_else(|| NOTHING.to_owned()))
    }

    /// Updates the jobs of an open brain; returns those that are due and do not run.
    fn due(&self, brain: &OpenBrain) -> Vec<JobKind> {
        let (view, clock) = (brain.view(), self.0.clock.look());
        let Ok(settings) = view.settings() else {
            return Vec::new();
        };
        let decayed = view.decay_run().map(|run| run.at);
        let identity = (brain.name.as_str(), view.instance());
        self.table().due(identity, &settings.jobs, decayed, clock)
    }

    /// Marks a job as running, until the result is dropped.
    fn begin(&self, brain: &OpenBrain, kind: JobKind) -> Option<RunningMark> {
        let now: Micros = self.0.clock.now();
        self.table().begin(&brain.name, kind, now)?;
        Some(RunningMark {
            schedules: self.clone(),
            brain: brain.name.clone(),
            kind,
        })
    }

    fn table(&self) -> MutexGuard<'_, ScheduleTable> {
        self.0.table.lock().unpoisoned()
    }
}

/// Marks a job as running, until it is dropped.
struct RunningMark {
    schedules: Schedules,
    brain: String,
    kind: JobKind,
}

impl Drop for RunningMark {
    fn drop(&mut self) {
        self.schedules.table().end(&self.brain, self.kind);
    }
}

/// Marks a brain as open for its jobs alone: they run one after the other, and no other task begins them.
struct WokenBrain<'s>(&'s Schedules);

impl<'s> WokenBrain<'s> {
    fn new(schedules: &'s Schedules, name: &str) -> Self {
        *schedules.0.woken.lock().unpoisoned() = Some(name.to_owned());
        Self(schedules)
    }
}

impl Drop for WokenBrain<'_> {
    fn drop(&mut self) {
        *self.0.0.woken.lock().unpoisoned() = None;
    }
}

#[cfg(test)]
mod tests;
