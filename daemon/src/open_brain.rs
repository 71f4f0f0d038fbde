//! An open brain as everybody but its writer sees it: its newest view, its queue, how it is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use amem_format::brain::Brain;
use amem_format::view::View;
use amem_format::{Generation, Lsn, NodeId};
use amem_proto::v1::JobKind;
use amem_store::disk::FileId;
use amem_store::mutation::Request;
use amem_store::{OpenHandle, Store};
use arc_swap::ArcSwap;
use tokio::sync::{RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::time::timeout;
use tonic::Code;

use crate::figures::{BrainFigures, Follower, Followers};
use crate::health::Health;
use crate::jobs::Jobs;
use crate::limits::{
    JOBS_TOLD_MAX, QUEUE_AFTER, QUEUE_BYTES_MAX, QUEUE_REQUESTS_MAX, SUBSCRIBERS_MAX,
};
use crate::refusal::{Refusal, Result};
use crate::replaced::ReplacedFiles;
use crate::touches::Touches;
use crate::writer::{Ending, Message, Write, Writer, Written};

/// What a writer and those who ask have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    brain: ArcSwap<Brain>,
    poison: Mutex<Option<String>>,
    closed: AtomicBool,
    /// The file of the generation that is written.
    file: Mutex<OpenHandle>,
    /// The newest commit that views have.
    newest: watch::Sender<Lsn>,
    /// Files that the brain had before, those of other brains among them.
    pub(crate) replaced: Arc<ReplacedFiles>,
    /// What is counted of it.
    pub(crate) figures: Arc<BrainFigures>,
    /// Uses of events that are not counted yet.
    pub(crate) touches: Touches,
    /// Bytes of frames in the journal.
    pub(crate) journal_bytes: AtomicU64,
    /// True while a checkpoint is being built.
    pub(crate) checkpointing: AtomicBool,
}

impl Shared {
    /// Views taken from now on are of what the store has.
    pub(crate) fn show(&self, store: &Store) {
        if !Arc::ptr_eq(&self.brain.load(), store.brain()) {
            let before = self.brain.swap(store.brain().clone());
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let file = std::mem::replace(&mut *file, store.open_handle());
            // A brain that was recovered may go on in its file.
            if file.id() != store.open_handle().id() {
                self.replaced.add(&before, file);
            }
        }
        self.journal_bytes
            .store(store.journal_bytes(), Ordering::Relaxed);
        let lsn = store.view().lsn();
        self.newest.send_if_modified(|newest| {
            let is_new = *newest != lsn;
            *newest = lsn;
            is_new
        });
    }

    /// Its file, which outlives its name.
    pub(crate) fn held(&self) -> OpenHandle {
        self.file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Which file it is.
    pub(crate) fn file(&self) -> FileId {
        self.held().id()
    }

    /// Why nothing is written, if so.
    pub(crate) fn poisoned(&self) -> Option<String> {
        self.poison
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn poison(&self, why: &str) {
        *self.poison.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }

    pub(crate) fn recovered(&self) {
        *self.poison.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The writer is gone, or about to go: whoever wants the brain opens it again.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // Who waits for commits learns that there will be none.
        self.newest.send_modify(|_| {});
    }
}

/// What came of a scheduled job, as subscribers are told.
#[derive(Debug, Clone)]
pub(crate) struct JobTold {
    pub(crate) kind: JobKind,
    pub(crate) began: SystemTime,
    pub(crate) ended: SystemTime,
    pub(crate) outcome: Result<String, String>,
}

/// An open brain.
#[derive(Debug)]
pub(crate) struct OpenBrain {
    /// Its name.
    pub(crate) name: String,
    /// Its file.
    pub(crate) path: PathBuf,
    pub(crate) shared: Arc<Shared>,
    queue: mpsc::Sender<Message>,
    bytes: Arc<Semaphore>,
    used: Mutex<Instant>,
    /// Held by those who send content of the brain elsewhere; an erase is answered when they have let go.
    pub(crate) sending: Arc<RwLock<()>>,
    /// Subscriptions that follow it.
    pub(crate) followers: Followers,
    /// What came of its jobs.
    jobs_told: broadcast::Sender<JobTold>,
}

impl OpenBrain {
    /// Gives a store its writer.
    pub(crate) fn start(
        store: Store,
        path: PathBuf,
        jobs: &Jobs,
        health: &Health,
        figures: Arc<BrainFigures>,
        replaced: Arc<ReplacedFiles>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            brain: ArcSwap::new(store.brain().clone()),
            file: Mutex::new(store.open_handle()),
            poison: Mutex::new(None),
            closed: AtomicBool::new(false),
            newest: watch::Sender::new(store.view().lsn()),
            replaced,
            figures,
            touches: Touches::default(),
            journal_bytes: AtomicU64::new(store.journal_bytes()),
            checkpointing: AtomicBool::new(false),
        });
        let (queue, receiver) = mpsc::channel(QUEUE_REQUESTS_MAX);
        let name = store.name().to_owned();
        let ends = (queue.clone(), receiver);
        Writer::start(store, shared.clone(), ends, jobs.clone(), health.clone())?;
        Ok(Self {
            name,
            path,
            shared,
            queue,
            bytes: Arc::new(Semaphore::new(QUEUE_BYTES_MAX)),
            used: Mutex::new(Instant::now()),
            sending: Arc::default(),
            followers: Followers::default(),
            jobs_told: broadcast::Sender::new(JOBS_TOLD_MAX),
        })
    }

    /// Somebody uses it.
    pub(crate) fn use_now(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// True if nobody has used it for so long, and it is well.
    pub(crate) fn is_idle(&self, after: Duration) -> bool {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.elapsed() >= after && self.shared.poisoned().is_none()
    }

    /// Somebody follows its commits, as far as that many may.
    pub(crate) fn subscribe(&self, from: Lsn) -> Result<(Follower, watch::Receiver<Lsn>)> {
        let Some(follower) = self.followers.enter(from, SUBSCRIBERS_MAX) else {
            let message = format!(
                "{:?} has {SUBSCRIBERS_MAX} subscriptions, the most there may be: end one",
                self.name
            );
            return Err(Refusal::new(
                Code::ResourceExhausted,
                "SUBSCRIBERS",
                message,
            ));
        };
        Ok((follower, self.shared.newest.subscribe()))
    }

    /// Tells subscribers what came of a job; nobody may listen.
    pub(crate) fn tell_job(&self, told: JobTold) {
        drop(self.jobs_told.send(told));
    }

    /// What comes of jobs from now on.
    pub(crate) fn hear_jobs(&self) -> broadcast::Receiver<JobTold> {
        self.jobs_told.subscribe()
    }

    /// Events were used by a reader: that is counted with the next commit, or soon.
    pub(crate) fn touch(&self, ids: impl IntoIterator<Item = NodeId>) {
        if self.shared.touches.add(ids) {
            // A writer that is too busy to be told looks by itself.
            drop(self.queue.try_send(Message::Wake));
        }
    }

    /// A view of all that was answered.
    pub(crate) fn view(&self) -> View {
        self.shared.brain.load_full().view()
    }

    /// True if its writer is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire) || self.queue.is_closed()
    }

    /// Requests that wait.
    pub(crate) fn queued(&self) -> u32 {
        (self.queue.max_capacity() - self.queue.capacity()) as u32
    }

    /// Has a request executed; refuses if the queue is full.
    pub(crate) async fn write(&self, request: Request, bytes: usize) -> Result<Written> {
        let full = |what: &str| {
            let message = format!(
                "the writer of {:?} is busy ({what}): wait and retry",
                self.name
            );
            Refusal::new(Code::ResourceExhausted, "QUEUE_FULL", message)
        };
        // Large batches wait for room, too: a small request gets its turn among them.
        let room = self.bytes.clone().acquire_many_owned(share(bytes));
        let Ok(Ok(permit)) = timeout(QUEUE_AFTER, room).await else {
            return Err(full("its queue has no room for the request's bytes"));
        };
        let place = match self.queue.try_reserve() {
            Ok(place) => place,
            Err(mpsc::error::TrySendError::Full(())) => return Err(full("too many requests wait")),
            Err(mpsc::error::TrySendError::Closed(())) => return Err(self.closed()),
        };
        let (answer, answered) = oneshot::channel();
        place.send(Message::Write(Box::new(Write {
            request,
            bytes,
            asked: asked(),
            answer,
            permit: Some(permit),
        })));
        answered
            .await
            .unwrap_or_else(|_| Err(Refusal::outcome_unknown()))
    }

    /// Has a request executed; waits for a place in the queue. The answer comes later.
    pub(crate) async fn write_when_free(
        &self,
        request: Request,
        bytes: usize,
    ) -> Result<oneshot::Receiver<Result<Written>>> {
        let permit = self
            .bytes
            .clone()
            .acquire_many_owned(share(bytes))
            .await
            .map_err(|_| self.closed())?;
        let (answer, answered) = oneshot::channel();
        let write = Write {
            request,
            bytes,
            asked: asked(),
            answer,
            permit: Some(permit),
        };
        self.queue
            .send(Message::Write(Box::new(write)))
            .await
            .map_err(|_| self.closed())?;
        Ok(answered)
    }

    /// Has a new generation made.
    pub(crate) async fn checkpoint(&self) -> Result<Generation> {
        self.have(Message::Checkpoint).await
    }

    /// Looks whether the brain's name is still that of its file; see `Store::check_path`.
    pub(crate) async fn hold_name(&self) -> Result<bool> {
        self.have(Message::HoldName).await
    }

    /// Lets those read the file directly who may; see `Store::protect`.
    pub(crate) async fn protect(&self) -> Result<()> {
        self.have(Message::Protect).await
    }

    /// Closes the brain in order, after what waits.
    pub(crate) async fn close(&self) {
        // Why it could not be closed in order is in the log: it is recovered when it is opened next.
        drop(self.end(Ending::Close).await);
    }

    /// Takes the brain's file away, after what waits, and closes it.
    pub(crate) async fn remove(&self) -> Result<()> {
        self.end(Ending::Remove).await.map(drop)
    }

    /// Keeps what is committed aside, after what waits, takes the brain's file away and closes it. Gives the name of
    /// what is kept.
    pub(crate) async fn retire(&self) -> Result<String> {
        Ok(self.end(Ending::Retire).await?.unwrap_or_default())
    }

    async fn end(&self, ending: Ending) -> Result<Option<String>> {
        self.have(|answer| Message::End(ending, answer)).await
    }

    /// Has the writer do something, after what waits.
    async fn have<T>(
        &self,
        message: impl FnOnce(oneshot::Sender<Result<T>>) -> Message,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let sent = self.queue.send(message(answer)).await;
        sent.map_err(|_| self.closed())?;
        answered
            .await
            .unwrap_or_else(|_| Err(Refusal::outcome_unknown()))
    }

    fn closed(&self) -> Refusal {
        let message = format!("the brain {:?} was closed meanwhile: ask again", self.name);
        Refusal::new(Code::Unavailable, "CLOSED", message)
    }
}

/// From when on a request waits, and the call that it belongs to.
fn asked() -> Option<(Instant, tracing::Span)> {
    Some((Instant::now(), tracing::Span::current()))
}

/// What a request takes of the queue's bytes.
fn share(bytes: usize) -> u32 {
    bytes.min(QUEUE_BYTES_MAX) as u32
}
