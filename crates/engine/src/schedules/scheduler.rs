//! What the daemon does by itself for its brains, and when: decay, expiry, closing of idle sessions, summaries, a
//! scrub, checkpoints.
//!
//! Each brain's settings say when. A start is put off by a share of the interval that depends on the brain and the job,
//! so that many brains do not begin at once. What became due while the machine slept or was off, or the brain was
//! closed, is done once: where somebody named an hour (`daily`, `weekly`), a closed brain is opened for it, one at a
//! time, and closed again; what is done at intervals waits until somebody opens the brain.
//!
//! Promises: a job never overlaps itself, whoever asked for it and whoever gave up waiting; few run at a time; what it
//! writes goes through the brain's queue in small portions, so that no other write waits for a job; what came of it is
//! told, to subscribers, too.
//! Not here: what each job does (`work`, `summaries`); checkpoints that follow the journal and not the clock
//! (`checkpoints`).

mod clock;
mod entry;
mod last_runs;
mod summaries;
mod table;
#[cfg(test)]
mod tests;
#[path = "report.rs"]
mod told;
mod work;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use amem_format::Micros;
use amem_proto::v1::JobKind;
use tokio::sync::Semaphore;
use tonic::Code;
use tracing::Instrument;

use self::clock::Clock;
pub(crate) use self::entry::Entry;
use self::last_runs::LastRunsFile;
use self::table::Table;
use self::work::PRINCIPAL;
use crate::brains::{Brains, blocking, defect, to_its_end};
use crate::heavy::Heavy;
use crate::limits::{KEEP_EVERY, SCHEDULED_MAX, SCHEDULES_EVERY};
use crate::open_brain::{JobTold, OpenBrain};
use crate::refusal::{Refusal, Result};
use crate::turns::Turns;

/// The jobs that follow the clock.
pub(crate) const KINDS: [JobKind; 6] = [
    JobKind::Decay,
    JobKind::Expiry,
    JobKind::CloseSessions,
    JobKind::Compression,
    JobKind::Scrub,
    JobKind::Checkpoint,
];

/// What is told of a job that found nothing to do.
const NOTHING: &str = "nothing was to be done";

/// The schedules of all brains; all clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Schedules(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    brains: Brains,
    scans: Heavy,
    clock: Clock,
    known: Mutex<Table>,
    last_runs: Mutex<LastRunsFile>,
    turns: Turns,
    /// The turn of opening a closed brain for its jobs.
    waking: Arc<Semaphore>,
    /// The brain that is open for that.
    woken: Mutex<Option<String>>,
}

impl Schedules {
    pub(crate) fn new(brains: Brains, scans: Heavy) -> Self {
        Self::by(Clock::system(), brains, scans)
    }

    /// By any clock.
    fn by(clock: Clock, brains: Brains, scans: Heavy) -> Self {
        let (file, left) = LastRunsFile::open(brains.path());
        Self(Arc::new(Inner {
            brains,
            scans,
            clock,
            known: Mutex::new(Table::of_last_runs(left)),
            last_runs: Mutex::new(file),
            turns: Turns::new(SCHEDULED_MAX),
            waking: Arc::new(Semaphore::new(1)),
            woken: Mutex::default(),
        }))
    }

    /// Does what is due, for as long as it is polled.
    pub(crate) async fn follow(&self) {
        let mut keep_at = Instant::now();
        loop {
            // However long the machine slept in between: this is asked again soon after, and what the clock on the wall
            // says then is what counts.
            tokio::time::sleep(SCHEDULES_EVERY).await;
            if Instant::now() >= keep_at {
                keep_at = Instant::now() + KEEP_EVERY;
                let this = self.clone();
                drop(blocking(move || this.keep()).await);
            }
            // A defect in one round is told by the hook for panics, and must not be the end of all rounds.
            drop(catch_unwind(AssertUnwindSafe(|| self.begin_due())));
        }
    }

    /// Begins what is due.
    fn begin_due(&self) {
        let open = self.0.brains.open();
        let woken = lock(&self.0.woken).clone();
        for brain in open.iter().filter(|b| Some(&b.name) != woken.as_ref()) {
            for kind in self.due(brain) {
                let (this, brain) = (self.clone(), brain.clone());
                tokio::spawn(async move {
                    // What came of it is in the list, and in the log.
                    drop(this.run(PRINCIPAL, &brain, kind).await);
                });
            }
        }
        let Ok(turn) = self.0.waking.clone().try_acquire_owned() else {
            return;
        };
        let names: HashSet<&str> = open.iter().map(|brain| brain.name.as_str()).collect();
        let clock = self.0.clock.look();
        let due = self.known().due_closed(|name| names.contains(name), clock);
        if let Some(name) = due {
            let this = self.clone();
            tokio::spawn(async move {
                let _turn = turn;
                this.run_closed(&name).await;
            });
        }
    }

    /// Opens a closed brain, does what is due there, and closes it again if nobody has used it meanwhile.
    async fn run_closed(&self, name: &str) {
        let _woken = Woken::new(self, name);
        let brain = match self.0.brains.wake(name).await {
            Ok(brain) => brain,
            Err(refusal) => {
                let why = format!("the brain can't be opened: {}", refusal.message);
                return self.known().failed(name, &why, self.0.clock.look());
            }
        };
        let opened = Instant::now();
        for kind in self.due(&brain) {
            drop(self.run(PRINCIPAL, &brain, kind).await);
        }
        drop(brain);
        let unused = |brain: &OpenBrain| brain.is_idle(opened.elapsed());
        self.0.brains.close_if(name, unused).await;
    }

    /// Writes down when jobs ran last, if that has changed.
    pub(crate) fn keep(&self) {
        let now = self.0.clock.now();
        let here = self.0.brains.which();
        let runs = {
            let mut known = self.known();
            known.meet(&here, now);
            known.keep(now)
        };
        lock(&self.0.last_runs).write_or_tell(runs, now);
    }

    /// The jobs of a brain, or of all that were open here.
    pub(crate) fn list(&self, brain: &str) -> Vec<Entry> {
        let open = self.0.brains.open();
        for open in &open {
            self.due(open);
        }
        let names: HashSet<&str> = open.iter().map(|brain| brain.name.as_str()).collect();
        let (clock, here) = (self.0.clock.look(), self.0.brains.which());
        let mut known = self.known();
        // Brains that were removed have no jobs.
        known.meet(&here, clock.0);
        known.list(brain, |name| names.contains(name), clock)
    }

    /// Runs a job of a brain now, for a caller; says what it did. One that runs already is not run twice.
    pub(crate) async fn run(
        &self,
        caller: &str,
        brain: &Arc<OpenBrain>,
        kind: JobKind,
    ) -> Result<String> {
        if !KINDS.contains(&kind) {
            let kinds = KINDS.map(|kind| kind.as_str_name().trim_start_matches("JOB_KIND_"));
            let why = format!(
                "{} does not follow a schedule: say one of {}",
                kind.as_str_name(),
                kinds.join(", ")
            );
            return Err(Refusal::invalid("kind", why));
        }
        let (on, scans, clock) = (brain.clone(), self.0.scans.clone(), self.0.clock.clone());
        let of = caller.to_owned();
        let work = async move { work::run(kind, &on, scans.of(&of), clock.now()).await };
        self.run_work(caller, brain, kind, work).await
    }

    /// Does the work of a job, to its end, whoever gives up waiting for it.
    async fn run_work(
        &self,
        caller: &str,
        brain: &Arc<OpenBrain>,
        kind: JobKind,
        work: impl Future<Output = Result<Option<String>>> + Send + 'static,
    ) -> Result<String> {
        self.due(brain);
        let Some(running) = self.begin(brain, kind) else {
            let message = format!("it runs already on {:?}: wait for it", brain.name);
            return Err(Refusal::new(Code::Aborted, "RUNNING", message));
        };
        let (this, brain, caller) = (self.clone(), brain.clone(), caller.to_owned());
        to_its_end(async move {
            let _running = running;
            let _turn = this.0.turns.take(&caller).await?;
            this.run_in_turn(&brain, kind, work).await
        })
        .await
    }

    async fn run_in_turn(
        &self,
        brain: &OpenBrain,
        kind: JobKind,
        work: impl Future<Output = Result<Option<String>>> + Send + 'static,
    ) -> Result<String> {
        // Of a checkpoint its writer tells, whoever asked for it.
        let is_told = kind != JobKind::Checkpoint;
        let job = is_told.then(|| self.0.brains.jobs().begin(kind, &brain.name));
        let began = SystemTime::now();
        // A job that panics is one that failed; it is tried again when it is due.
        let done = tokio::spawn(work.in_current_span()).await;
        let done = done.unwrap_or_else(|_| Err(defect()));
        match (&done, job) {
            // Nothing was to be done, as most of the time.
            (Ok(None), Some(job)) => job.forget(),
            (Ok(Some(what)), Some(job)) => job.done(what),
            (Err(refusal), Some(job)) => job.failed(&refusal.message),
            (_, None) => {}
        }
        if let Err(refusal) = &done {
            tracing::warn!(
                brain = brain.name,
                job = kind.as_str_name(),
                why = refusal.message,
                "a job failed"
            );
        }
        let outcome = match &done {
            Ok(what) => Ok(what.clone()),
            Err(refusal) => Err(refusal.message.clone()),
        };
        let listed = outcome.clone();
        let listed = listed.map(|what| what.unwrap_or_else(|| NOTHING.to_owned()));
        self.known().done(&brain.name, kind, listed);
        if let Some(outcome) = outcome.transpose() {
            brain.tell_job(JobTold {
                kind,
                began,
                ended: SystemTime::now(),
                outcome,
            });
        }
        Ok(done?.unwrap_or_else(|| NOTHING.to_owned()))
    }

    /// Brings what is known of an open brain's jobs up to date; gives those that are due and do not run.
    fn due(&self, brain: &OpenBrain) -> Vec<JobKind> {
        let (view, clock) = (brain.view(), self.0.clock.look());
        let Ok(settings) = view.settings() else {
            return Vec::new();
        };
        let decayed = view.decay_run().map(|run| run.at);
        let which = (brain.name.as_str(), view.instance());
        self.known().due(which, &settings.jobs, decayed, clock)
    }

    /// Marks a job as running, until the result is dropped.
    fn begin(&self, brain: &OpenBrain, kind: JobKind) -> Option<Running> {
        let now: Micros = self.0.clock.now();
        self.known().begin(&brain.name, kind, now)?;
        Some(Running {
            schedules: self.clone(),
            brain: brain.name.clone(),
            kind,
        })
    }

    fn known(&self) -> MutexGuard<'_, Table> {
        lock(&self.0.known)
    }
}

/// A job that runs.
struct Running {
    schedules: Schedules,
    brain: String,
    kind: JobKind,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.schedules.known().end(&self.brain, self.kind);
    }
}

/// A brain that is open for its jobs alone: they are begun one after the other, and by nobody else.
struct Woken<'s>(&'s Schedules);

impl<'s> Woken<'s> {
    fn new(schedules: &'s Schedules, name: &str) -> Self {
        *lock(&schedules.0.woken) = Some(name.to_owned());
        Self(schedules)
    }
}

impl Drop for Woken<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0.woken) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
