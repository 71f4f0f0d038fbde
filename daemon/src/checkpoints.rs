//! When a brain's journal is folded, who builds the new base, and who waits for it.
//!
//! The journal is folded when it is too large for its base (`Store::needs_checkpoint`); when something was erased; on
//! request. At most one checkpoint is built at a
//! time; whoever asks while one is being built waits for the next.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as slot;
use std::thread;
use std::time::{Duration, Instant};

use amem_format::Generation;
use amem_format::brain::Brain;
use amem_proto::v1::JobKind;
use amem_store::limits::LAST_ROUND_BYTES_MAX;
use amem_store::mutation::Answer;
use amem_store::{Checkpoint, RetiredGeneration, Store};
use tokio::sync::{mpsc, oneshot};

use crate::heavy::be_nice;
use crate::jobs::{Job, Jobs};
use crate::limits::CHECKPOINT_AGAIN_AFTER;
use crate::open_brain::Shared;
use crate::refusal::{Refusal, Result};
use crate::writer::{Message, Written};

/// Rounds in which frames are carried beside the writer; what is left is carried while commits wait.
const ROUNDS_MAX: usize = 16;

/// A checkpoint that was built, or why not.
pub(crate) enum Built {
    /// It can be put in place.
    Whole(Box<Checkpoint>),
    /// It can't.
    Failed(Refusal),
}

/// Who waits for a new generation.
pub(crate) enum Waiting {
    /// Someone who asked for it.
    Asked(oneshot::Sender<Result<Generation>>),
    /// Someone who had events erased, and the answer to give.
    Erased(oneshot::Sender<Result<Written>>, Answer),
}

impl Waiting {
    fn done(self, generation: Generation) {
        match self {
            Self::Asked(asker) => drop(asker.send(Ok(generation))),
            Self::Erased(asker, answer) => drop(asker.send(Ok(Written { answer, generation }))),
        }
    }

    fn failed(self, refusal: Refusal) {
        match self {
            Self::Asked(asker) => drop(asker.send(Err(refusal))),
            Self::Erased(asker, _) => {
                let message = format!(
                    "the events are hidden, but their content is still in the file ({}): erase them again",
                    refusal.message
                );
                drop(asker.send(Err(Refusal::new(
                    tonic::Code::Unavailable,
                    "ERASE_PENDING",
                    message,
                ))));
            }
        }
    }
}

/// The checkpoints of one brain, as its writer sees them.
pub(crate) struct Checkpoints {
    shared: Arc<Shared>,
    /// To wake the writer; weak, so that the queue ends when nobody else can ask.
    queue: mpsc::WeakSender<Message>,
    /// Where the one that is being built arrives.
    building: Option<(slot::Receiver<Built>, Job)>,
    /// The job whose outcome is decided when it is in place.
    job: Option<Job>,
    jobs: Jobs,
    /// They wait for the one that is being built.
    current: Vec<Waiting>,
    /// They wait for the one after it.
    next: Vec<Waiting>,
    /// Something was erased whose bytes are still in the file, and nobody waits for them to go.
    erased: bool,
    not_before: Option<Instant>,
    /// When the one that is being built, or put in place, was begun.
    begun: Instant,
}

impl Checkpoints {
    pub(crate) fn new(queue: mpsc::WeakSender<Message>, shared: &Arc<Shared>, jobs: &Jobs) -> Self {
        Self {
            shared: shared.clone(),
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

    /// Whether a store was opened with content in its file that was erased.
    pub(crate) fn note_erased(&mut self, is_pending: bool) {
        self.erased = is_pending;
    }

    /// Somebody waits for a generation that is begun from now on.
    pub(crate) fn wait(&mut self, waiting: Waiting) {
        self.next.push(waiting);
    }

    /// True while one is being built.
    pub(crate) fn is_building(&self) -> bool {
        self.building.is_some()
    }

    /// The one that was built meanwhile.
    pub(crate) fn take_built(&mut self) -> Option<Built> {
        let built = match self.building.as_ref()?.0.try_recv() {
            Ok(built) => built,
            Err(slot::TryRecvError::Empty) => return None,
            Err(slot::TryRecvError::Disconnected) => {
                Built::Failed(Refusal::internal("a defect stopped the checkpoint"))
            }
        };
        self.job = self.building.take().map(|(_, job)| job);
        self.shared.checkpointing.store(false, Ordering::Relaxed);
        Some(built)
    }

    /// The new generation is in place; commits were held back for so long.
    pub(crate) fn done(&mut self, generation: Generation, stall: Duration) {
        let took = self.begun.elapsed();
        self.shared.figures.checkpointed(took, stall);
        self.not_before = None;
        self.erased = false;
        if let Some(job) = self.job.take() {
            job.done(format_args!("generation {generation}"));
        }
        for waiting in self.current.drain(..) {
            waiting.done(generation);
        }
    }

    /// There is no new generation; whoever waits is told.
    pub(crate) fn failed(&mut self, refusal: Refusal) {
        self.not_before = Some(Instant::now() + CHECKPOINT_AGAIN_AFTER);
        if let Some(job) = self.job.take() {
            self.shared.figures.checkpoints_failed.add(1);
            job.failed(&refusal.message);
        }
        for waiting in self.current.drain(..).chain(self.next.drain(..)) {
            self.erased |= matches!(waiting, Waiting::Erased(..));
            waiting.failed(refusal.clone());
        }
    }

    /// Begins one if somebody waits for it or the journal calls for it, and none is being built.
    pub(crate) fn begin_if_due(&mut self, store: &Store, idle: bool) {
        let due = !self.next.is_empty() || self.is_due(store, idle);
        if self.building.is_some() || !due {
            return;
        }
        self.current.append(&mut self.next);
        if let Err(refusal) = self.begin(store) {
            self.failed(refusal);
        }
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

    fn begin(&mut self, store: &Store) -> Result<()> {
        self.begun = Instant::now();
        store.clear_for_erase()?;
        let mut checkpoint = Checkpoint::begin(store)?;
        let brain = store.brain().clone();
        // What was erased is to be gone soon; anything else can wait for whoever writes and asks.
        let is_erasing = |waiting: &Waiting| matches!(waiting, Waiting::Erased(..));
        let in_haste = self.erased || self.current.iter().any(is_erasing);
        let (to, built) = slot::sync_channel(1);
        let queue = self.queue.clone();
        thread::Builder::new()
            .name(format!("checkpoint {}", store.name()))
            .spawn(move || {
                let result = build(&mut checkpoint, &brain, in_haste);
                // The old generation is let go of before anybody is told that there is a new one.
                drop(brain);
                let result = match result {
                    Ok(()) => Built::Whole(Box::new(checkpoint)),
                    Err(refusal) => Built::Failed(refusal),
                };
                drop(to.send(result));
                if let Some(queue) = queue.upgrade() {
                    drop(queue.blocking_send(Message::Wake));
                }
            })
            .map_err(no_thread)?;
        let job = self.jobs.begin(JobKind::Checkpoint, store.name());
        self.building = Some((built, job));
        self.shared.checkpointing.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Builds it. Its threads let others go before them, as otherwise one write in a hundred waits for a processor for
/// milliseconds; not so where frames are carried, since who writes meanwhile must not be faster.
fn build(checkpoint: &mut Checkpoint, brain: &Brain, in_haste: bool) -> Result<()> {
    if in_haste {
        checkpoint.build()?;
    } else {
        build_nicely(checkpoint)?;
    }
    for _ in 0..ROUNDS_MAX {
        if checkpoint.carry(brain)? <= LAST_ROUND_BYTES_MAX {
            break;
        }
    }
    Ok(())
}

fn build_nicely(checkpoint: &mut Checkpoint) -> Result<()> {
    // A thread that has become nice stays so.
    thread::scope(|scope| {
        let build = || {
            be_nice();
            checkpoint.build()
        };
        let named = thread::Builder::new().name("checkpoint base".into());
        let built = named.spawn_scoped(scope, build);
        let built = built.map_err(no_thread)?;
        // A defect there is one of the checkpoint, as it would have been here.
        Ok(built.join().unwrap_or_else(|panic| resume_unwind(panic))?)
    })
}

fn no_thread(error: io::Error) -> Refusal {
    Refusal::new(tonic::Code::Unavailable, "THREAD", error.to_string())
}

/// Drops what is left of the old generation where no commit waits for it.
pub(crate) fn let_go(retired: RetiredGeneration, shared: &Arc<Shared>) {
    let replaced = shared.replaced.clone();
    let dropped = thread::Builder::new()
        .name("old generation".into())
        .spawn(move || {
            drop(retired);
            replaced.look();
        });
    if let Err(error) = dropped {
        // Then it was dropped here.
        tracing::debug!(%error, "no thread to let go of an old generation");
    }
}

/// Bytes of a generation before its journal.
pub(crate) fn base_bytes(brain: &Brain) -> u64 {
    brain.base().journal().unwrap_or(brain.mapped())
}
