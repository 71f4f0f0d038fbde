//! Schedules the checkpoints of a brain, builds them, and notifies waiters.
//!
//! A checkpoint is due when the journal is larger than a seventh of the base (16 MiB to 1 GiB), or a sixteenth (from
//! 1 MiB) while the brain is idle; when something was erased; on request. So a byte that is written costs at most about
//! eight: itself once, and the base that is seven times the journal. At most one checkpoint is built at a time; a
//! request that comes while one is being built waits for the next.
//!
//! A brain of up to 64 MiB gets one also when it is closed, by the writer itself, if its journal is larger than a 64th
//! of the base (from 128 KiB): the next opening has little to replay, and the first question little to analyze.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as slot;
use std::thread;
use std::time::{Duration, Instant};

use amem_format::Generation;
use amem_format::brain::Brain;
use amem_store::limits::LAST_ROUND_BYTES_MAX;
use amem_store::mutation::Answer;
use amem_store::{Checkpoint, Reembedding, RetiredGeneration, Store};
use tokio::sync::mpsc;

use crate::blocking_pool::renice;
use crate::brain_state::BrainState;
use crate::commands::{CommitAnswer, Reply, WriterCommand};
use crate::error::{Error, Result};
use crate::jobs::{JobKind, JobRegistry, RunningJob};
use crate::limits::{CARRY_ROUNDS_MAX, CHECKPOINT_AGAIN_AFTER};

/// The result of building a checkpoint.
pub(crate) enum BuiltCheckpoint {
    /// It can be installed.
    Whole(Box<Checkpoint>),
    /// Why there is none.
    Failed(Error),
}

/// A caller that waits for a new generation.
pub(crate) enum CheckpointWaiter {
    /// It asked for one.
    Caller(Reply<Generation>),
    /// It asked for one with vectors of another space.
    Reembed(Arc<Reembedding>, Reply<Generation>),
    /// It erased events, and gets this answer once their content is gone.
    Erase(Reply<CommitAnswer>, Answer),
}

impl CheckpointWaiter {
    fn done(self, generation: Generation) {
        match self {
            Self::Caller(reply) | Self::Reembed(_, reply) => drop(reply.send(Ok(generation))),
            Self::Erase(reply, answer) => {
                drop(reply.send(Ok(CommitAnswer { answer, generation })));
            }
        }
    }

    fn failed(self, error: &Error) {
        match self {
            Self::Caller(reply) | Self::Reembed(_, reply) => {
                drop(reply.send(Err(error.clone())));
            }
            Self::Erase(reply, _) => {
                let why = error.to_string();
                drop(reply.send(Err(Error::ErasePending { why })));
            }
        }
    }
}

/// The checkpoints of one brain, as its writer sees them.
pub(crate) struct Checkpoints {
    state: Arc<BrainState>,
    /// Wakes the writer; weak, so that the queue ends when no caller can ask any more.
    queue: mpsc::WeakSender<WriterCommand>,
    /// Where the one that is being built arrives.
    building: Option<(slot::Receiver<BuiltCheckpoint>, RunningJob)>,
    /// The job of the checkpoint that is being installed.
    job: Option<RunningJob>,
    jobs: JobRegistry,
    /// Waiters for the one that is being built.
    current: Vec<CheckpointWaiter>,
    /// Waiters for the one after it.
    next: Vec<CheckpointWaiter>,
    /// The file still has erased content, and no caller waits for it to go.
    erased: bool,
    not_before: Option<Instant>,
    /// When the one that is being built or installed was begun.
    begun: Instant,
}

impl Checkpoints {
    pub(crate) fn new(
        queue: mpsc::WeakSender<WriterCommand>,
        state: &Arc<BrainState>,
        jobs: &JobRegistry,
    ) -> Self {
        Self {
            state: state.clone(),
            queue,
            building: None,
            job: None,
            jobs: jobs.clone(),
            current: Vec::new(),
            next: Vec::new(),
            erased: false,
            not_before: None,
            begun: Instant::now(),
        }
    }

    /// Notes whether the file of a store that was opened has erased content.
    pub(crate) fn note_erased(&mut self, is_pending: bool) {
        self.erased = is_pending;
    }

    /// Adds a waiter for a generation that is begun from now on.
    pub(crate) fn wait(&mut self, waiter: CheckpointWaiter) {
        self.next.push(waiter);
    }

    /// True while one is being built.
    pub(crate) fn is_building(&self) -> bool {
        self.building.is_some()
    }

    /// The one that was built meanwhile.
    pub(crate) fn take_built(&mut self) -> Option<BuiltCheckpoint> {
        let built = match self.building.as_ref()?.0.try_recv() {
            Ok(built) => built,
            Err(slot::TryRecvError::Empty) => return None,
            Err(slot::TryRecvError::Disconnected) => {
                BuiltCheckpoint::Failed(Error::Defect("the checkpoint"))
            }
        };
        self.job = self.building.take().map(|(_, job)| job);
        self.state.checkpointing.store(false, Ordering::Relaxed);
        Some(built)
    }

    /// The new generation is in place; `stall` is how long it held commits back.
    pub(crate) fn done(&mut self, generation: Generation, stall: Duration) {
        let took = self.begun.elapsed();
        self.state.metrics.checkpointed(took, stall);
        self.not_before = None;
        self.erased = false;
        if let Some(job) = self.job.take() {
            job.done(format_args!("generation {generation}"));
        }
        for waiter in self.current.drain(..) {
            waiter.done(generation);
        }
    }

    /// There is no new generation: fails every waiter.
    pub(crate) fn failed(&mut self, error: &Error) {
        self.not_before = Some(Instant::now() + CHECKPOINT_AGAIN_AFTER);
        if let Some(job) = self.job.take() {
            self.state.metrics.checkpoints_failed.add(1);
            job.failed(error);
        }
        for waiter in self.current.drain(..).chain(self.next.drain(..)) {
            self.erased |= matches!(waiter, CheckpointWaiter::Erase(..));
            waiter.failed(error);
        }
    }

    /// True if the one that is being built or installed has vectors of another space.
    pub(crate) fn is_reembedding(&self) -> bool {
        let is_reembed =
            |waiter: &CheckpointWaiter| matches!(waiter, CheckpointWaiter::Reembed(..));
        self.current.iter().any(is_reembed)
    }

    /// There is no generation with vectors of another space. Others that wait get theirs.
    pub(crate) fn failed_reembedding(&mut self, error: &Error) {
        if let Some(job) = self.job.take() {
            job.failed(error);
        }
        for waiter in self.current.drain(..) {
            waiter.failed(error);
        }
    }

    /// Begins one if a caller waits for it or it is due, unless one is being built.
    pub(crate) fn begin_if_due(&mut self, store: &Store, idle: bool) {
        while self.building.is_none() && (!self.next.is_empty() || self.is_due(store, idle)) {
            let reembedding = self.take_next();
            match self.begin(store, reembedding) {
                Ok(()) => {}
                // The others that wait get the next one.
                Err(error) if self.is_reembedding() => self.failed_reembedding(&error),
                Err(error) => {
                    self.failed(&error);
                    break;
                }
            }
        }
    }

    /// Chooses the waiters of the one that is begun. One with vectors of another space is for its caller alone, as an
    /// embedder that fails must fail nobody else; an erase goes first.
    fn take_next(&mut self) -> Option<Arc<Reembedding>> {
        let is_reembed =
            |waiter: &CheckpointWaiter| matches!(waiter, CheckpointWaiter::Reembed(..));
        let is_erase = |waiter: &CheckpointWaiter| matches!(waiter, CheckpointWaiter::Erase(..));
        let at = self.next.iter().position(is_reembed);
        let is_urgent = self.erased || self.next.iter().any(is_erase);
        if let Some(at) = at.filter(|_| !is_urgent) {
            let waiter = self.next.remove(at);
            let reembedding = match &waiter {
                CheckpointWaiter::Reembed(reembedding, _) => Some(reembedding.clone()),
                CheckpointWaiter::Caller(_) | CheckpointWaiter::Erase(..) => None,
            };
            self.current.push(waiter);
            return reembedding;
        }
        for waiter in std::mem::take(&mut self.next) {
            match is_reembed(&waiter) {
                true => self.next.push(waiter),
                false => self.current.push(waiter),
            }
        }
        None
    }

    fn is_due(&self, store: &Store, idle: bool) -> bool {
        if self.not_before.is_some_and(|at| Instant::now() < at) {
            return false;
        }
        if self.erased {
            return true;
        }
        store.needs_checkpoint(idle)
    }

    fn begin(&mut self, store: &Store, reembedding: Option<Arc<Reembedding>>) -> Result<()> {
        self.begun = Instant::now();
        store.clear_for_erase()?;
        let mut checkpoint = match reembedding {
            Some(reembedding) => Checkpoint::begin_reembedded(store, reembedding)?,
            None => Checkpoint::begin(store)?,
        };
        let brain = store.brain().clone();
        // Erased content is to be gone soon; anything else yields to commits and calls.
        let is_erase = |waiter: &CheckpointWaiter| matches!(waiter, CheckpointWaiter::Erase(..));
        let is_urgent = self.erased || self.current.iter().any(is_erase);
        let (to, built) = slot::sync_channel(1);
        let queue = self.queue.clone();
        thread::Builder::new()
            .name(format!("checkpoint {}", store.name()))
            .spawn(move || {
                let result = build(&mut checkpoint, &brain, is_urgent);
                // The old generation is released before the new one is announced.
                drop(brain);
                let result = match result {
                    Ok(()) => BuiltCheckpoint::Whole(Box::new(checkpoint)),
                    Err(error) => BuiltCheckpoint::Failed(error),
                };
                drop(to.send(result));
                if let Some(queue) = queue.upgrade() {
                    drop(queue.blocking_send(WriterCommand::Wake));
                }
            })
            .map_err(no_thread)?;
        let job = self.jobs.begin(JobKind::Checkpoint, store.name());
        self.building = Some((built, job));
        self.state.checkpointing.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Builds it. Its threads have a lower priority, as otherwise one write in a hundred waits for a processor for
/// milliseconds; not while frames are carried, since the writer must not outrun that.
fn build(checkpoint: &mut Checkpoint, brain: &Arc<Brain>, is_urgent: bool) -> Result<()> {
    if is_urgent {
        checkpoint.build()?;
    } else {
        build_reniced(checkpoint)?;
    }
    // Events of the last round get their vectors later: there are to be few.
    let last_round = match checkpoint.reembedding().is_some() {
        true => 0,
        false => LAST_ROUND_BYTES_MAX,
    };
    for _ in 0..CARRY_ROUNDS_MAX {
        if checkpoint.carry(brain)? <= last_round {
            break;
        }
    }
    Ok(())
}

fn build_reniced(checkpoint: &mut Checkpoint) -> Result<()> {
    // A thread keeps its lower priority.
    thread::scope(|scope| {
        let build = || {
            renice();
            checkpoint.build()
        };
        let named = thread::Builder::new().name("checkpoint base".into());
        let built = named.spawn_scoped(scope, build);
        let built = built.map_err(no_thread)?;
        // A panic there is one of the checkpoint, as it would have been here.
        Ok(built.join().unwrap_or_else(|panic| resume_unwind(panic))?)
    })
}

fn no_thread(error: io::Error) -> Error {
    Error::CheckpointThread(Arc::new(error))
}

/// Drops what is left of the old generation, beside the writer.
pub(crate) fn release(retired: RetiredGeneration, state: &BrainState) {
    let replaced = state.replaced.clone();
    let dropped = thread::Builder::new()
        .name("old generation".into())
        .spawn(move || {
            drop(retired);
            replaced.release_unused();
        });
    if let Err(error) = dropped {
        // It was dropped here instead.
        tracing::debug!(%error, "no thread to release an old generation");
    }
}
