//! An open brain as its callers see it: its newest view, its queue, its health.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use amem_format::view::View;
use amem_format::{Generation, Lsn, NodeId};
use amem_locks::LockResultExt;
use amem_store::disk::FileId;
use amem_store::mutation::Request;
use amem_store::{EventEmbedder, Folder, OpenHandle, Reembedding, Store};
use tokio::sync::{
    Mutex as AsyncMutex, OwnedMutexGuard, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
};
use tokio::time::timeout;

use crate::brain_state::BrainState;
use crate::commands::{CloseMode, CommitAnswer, QueuedCommit, Reply, WriterCommand};
use crate::error::{Error, Result};
use crate::health::BrainHealth;
use crate::jobs::{JobKind, JobRegistry};
use crate::limits::{
    JOBS_TOLD_MAX, QUEUE_AFTER, QUEUE_BYTES_MAX, QUEUE_REQUESTS_MAX, SUBSCRIBERS_MAX,
};
use crate::metrics::{BrainMetrics, Subscribers, Subscription};
use crate::replaced_files::ReplacedFiles;
use crate::writer::Writer;

/// The outcome of a scheduled job, as subscribers get it.
#[derive(Debug, Clone)]
pub struct JobReport {
    /// What it does.
    pub kind: JobKind,
    /// When it began.
    pub began: SystemTime,
    /// When it ended.
    pub ended: SystemTime,
    /// What it did, or why it failed.
    pub outcome: Result<String, String>,
}

/// A brain that a caller embeds again, and no other at the same time.
#[derive(Debug)]
pub struct HeldReembedding {
    folder: Folder,
    name: String,
    held: OwnedMutexGuard<Option<Arc<Reembedding>>>,
}

impl HeldReembedding {
    /// The vectors in an embedder's space, as far as they are made; on a thread that may wait.
    ///
    /// # Errors
    /// If the file that they are in cannot be used.
    pub fn vectors(
        &mut self,
        view: &View,
        embedder: Arc<dyn EventEmbedder>,
    ) -> Result<Arc<Reembedding>> {
        if let Some(known) = &*self.held
            && known.space() == embedder.space()
            && known.is_there()?
        {
            return Ok(known.clone());
        }
        *self.held = None;
        let opened = Reembedding::open(&self.folder, &self.name, view, embedder)?;
        let opened = Arc::new(opened);
        *self.held = Some(opened.clone());
        Ok(opened)
    }

    /// Closes the file of the vectors, which is needed no more.
    pub fn end(&mut self) {
        *self.held = None;
    }
}

/// An open brain.
#[derive(Debug)]
pub struct OpenBrain {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    state: Arc<BrainState>,
    queue: mpsc::Sender<WriterCommand>,
    bytes: Arc<Semaphore>,
    used: Mutex<Instant>,
    /// Read-locked while content of the brain is sent elsewhere; an erase is answered once it is released.
    pub sending: Arc<RwLock<()>>,
    subscribers: Subscribers,
    job_reports: broadcast::Sender<JobReport>,
    folder: Folder,
    reembedding: Arc<AsyncMutex<Option<Arc<Reembedding>>>>,
}

impl OpenBrain {
    /// Gives a store its writer.
    pub(crate) fn start(
        store: Store,
        path: PathBuf,
        jobs: &JobRegistry,
        health: &Arc<dyn BrainHealth>,
        metrics: Arc<BrainMetrics>,
        replaced: Arc<ReplacedFiles>,
    ) -> std::io::Result<Self> {
        let state = Arc::new(BrainState::new(&store, metrics, replaced));
        let (queue, receiver) = mpsc::channel(QUEUE_REQUESTS_MAX);
        let (name, folder) = (store.name().to_owned(), store.folder().clone());
        let ends = (queue.clone(), receiver);
        Writer::start(store, state.clone(), ends, jobs.clone(), health.clone())?;
        Ok(Self {
            name,
            path,
            state,
            queue,
            bytes: Arc::new(Semaphore::new(QUEUE_BYTES_MAX)),
            used: Mutex::new(Instant::now()),
            sending: Arc::default(),
            subscribers: Subscribers::default(),
            job_reports: broadcast::Sender::new(JOBS_TOLD_MAX),
            folder,
            reembedding: Arc::default(),
        })
    }

    /// Puts off its closing.
    pub(crate) fn mark_used(&self) {
        *self.used.lock().unpoisoned() = Instant::now();
    }

    /// When it was used last.
    pub(crate) fn last_used(&self) -> Instant {
        *self.used.lock().unpoisoned()
    }

    /// True if the brain has been idle for `after`, is healthy, and no event of it waits for its vector.
    pub(crate) fn is_idle(&self, after: Duration) -> bool {
        self.last_used().elapsed() >= after
            && self.state.poisoned().is_none()
            && !self.state.has_unembedded()
    }

    /// Begins a subscription to commits after `from`: the place among the brain's subscribers, and the newest LSN,
    /// which changes once more when the brain is closed. The commits themselves are read from views.
    ///
    /// # Errors
    /// `Subscribers` if there are as many as there may be.
    pub fn subscribe(&self, from: Lsn) -> Result<(Subscription, watch::Receiver<Lsn>)> {
        let subscription = self.subscribers.add(from, SUBSCRIBERS_MAX);
        let subscription = subscription.ok_or_else(|| Error::Subscribers {
            name: self.name.clone(),
        })?;
        Ok((subscription, self.state.newest()))
    }

    /// How many subscriptions there are.
    pub fn subscriber_count(&self) -> u32 {
        self.subscribers.count()
    }

    /// How many commits the slowest subscription is behind `newest`.
    pub fn subscriber_lag(&self, newest: Lsn) -> u64 {
        self.subscribers.behind(newest)
    }

    /// Sends the outcome of a job to subscribers, if there are any.
    pub(crate) fn publish_job(&self, report: JobReport) {
        drop(self.job_reports.send(report));
    }

    /// The outcomes of scheduled jobs from now on.
    pub fn subscribe_jobs(&self) -> broadcast::Receiver<JobReport> {
        self.job_reports.subscribe()
    }

    /// Its metrics.
    pub fn metrics(&self) -> &Arc<BrainMetrics> {
        &self.state.metrics
    }

    /// Bytes of frames in the journal.
    pub fn journal_bytes(&self) -> u64 {
        self.state.journal_bytes.load(Ordering::Relaxed)
    }

    /// True while a checkpoint is being built.
    pub fn is_checkpointing(&self) -> bool {
        self.state.checkpointing.load(Ordering::Relaxed)
    }

    /// Why nothing is written; none if the brain is healthy.
    pub fn poisoned(&self) -> Option<String> {
        self.state.poisoned()
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> &BrainState {
        &self.state
    }

    /// Its open file, which outlives the file's name.
    pub(crate) fn held(&self) -> OpenHandle {
        self.state.held()
    }

    /// The identity of the file.
    pub(crate) fn file(&self) -> FileId {
        self.state.file()
    }

    /// Counts one use of each of these events, with the next commit or soon after.
    pub fn touch(&self, ids: impl IntoIterator<Item = NodeId>) {
        if self.state.touches.add(ids) {
            // A writer whose queue is full finds them by itself.
            drop(self.queue.try_send(WriterCommand::Wake));
        }
    }

    /// A view of every commit that was answered.
    pub fn view(&self) -> View {
        self.state.view()
    }

    /// True if its writer is gone: the next caller opens the brain again.
    pub fn is_closed(&self) -> bool {
        self.state.is_closed() || self.queue.is_closed()
    }

    /// How many commands wait for the writer.
    pub fn queued(&self) -> u32 {
        (self.queue.max_capacity() - self.queue.capacity()) as u32
    }

    /// Commits a request of `bytes` on the wire; returns once it is durable and every later view has it.
    ///
    /// # Errors
    /// `QueueFull` if the queue has no room within `QUEUE_AFTER`; else what the store answers.
    pub async fn commit(&self, request: Request, bytes: usize) -> Result<CommitAnswer> {
        let full = |what| Error::QueueFull {
            name: self.name.clone(),
            what,
        };
        // Large batches wait for room as well, so that a small request gets its turn among them.
        let room = self.bytes.clone().acquire_many_owned(share(bytes));
        let Ok(Ok(permit)) = timeout(QUEUE_AFTER, room).await else {
            return Err(full("its queue has no room for the request's bytes"));
        };
        let place = match self.queue.try_reserve() {
            Ok(place) => place,
            Err(mpsc::error::TrySendError::Full(())) => return Err(full("too many requests wait")),
            Err(mpsc::error::TrySendError::Closed(())) => return Err(self.closed()),
        };
        let (reply, answer) = oneshot::channel();
        place.send(WriterCommand::Commit(Box::new(QueuedCommit {
            request,
            bytes,
            asked: asked(),
            reply,
            permit: Some(permit),
        })));
        answer
            .await
            .unwrap_or_else(|_| Err(Error::outcome_unknown()))
    }

    /// Queues a request, however long the queue is full; the receiver gets the answer.
    ///
    /// # Errors
    /// `Closed` if the writer is gone.
    pub async fn commit_when_free(
        &self,
        request: Request,
        bytes: usize,
    ) -> Result<oneshot::Receiver<Result<CommitAnswer>>> {
        let permit = self
            .bytes
            .clone()
            .acquire_many_owned(share(bytes))
            .await
            .map_err(|_| self.closed())?;
        let (reply, answer) = oneshot::channel();
        let commit = QueuedCommit {
            request,
            bytes,
            asked: asked(),
            reply,
            permit: Some(permit),
        };
        self.queue
            .send(WriterCommand::Commit(Box::new(commit)))
            .await
            .map_err(|_| self.closed())?;
        Ok(answer)
    }

    /// Makes a new generation.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn checkpoint(&self) -> Result<Generation> {
        self.ask(WriterCommand::Checkpoint).await
    }

    /// Takes the events that were stored without a vector since the brain was opened, if its space is not that of the
    /// built-in embedder.
    pub fn take_unembedded(&self) -> Vec<NodeId> {
        self.state.take_unembedded()
    }

    /// Notes them again, after they could not be embedded.
    pub fn note_unembedded(&self, ids: Vec<NodeId>) {
        self.state.note_unembedded(ids);
    }

    /// Takes the brain for embedding it again; `None` if another caller does.
    pub fn hold_reembedding(&self) -> Option<HeldReembedding> {
        let held = self.reembedding.clone().try_lock_owned().ok()?;
        Some(HeldReembedding {
            folder: self.folder.clone(),
            name: self.name.clone(),
            held,
        })
    }

    /// Makes a new generation with vectors of another space. Events that are not embedded yet are, before it is in
    /// place.
    ///
    /// # Errors
    /// `VectorsErased` if something was erased meanwhile; else why there is none.
    pub async fn reembed(&self, reembedding: Arc<Reembedding>) -> Result<Generation> {
        self.ask(|reply| WriterCommand::Reembed(reembedding, reply))
            .await
    }

    /// Checks that the brain's name still is that of its file; see `Store::check_path`.
    pub(crate) async fn hold_name(&self) -> Result<bool> {
        self.ask(WriterCommand::HoldName).await
    }

    /// Gives the file its group and mode; see `Store::protect`.
    pub(crate) async fn protect(&self) -> Result<()> {
        self.ask(WriterCommand::Protect).await
    }

    /// Closes the brain cleanly, after what waits.
    pub(crate) async fn close(&self) {
        // A failure is in the log: the next opening recovers the brain.
        drop(self.end(CloseMode::Close).await);
    }

    /// Closes the brain cleanly, after what waits, for another that takes its place.
    pub(crate) async fn close_superseded(&self) -> Result<()> {
        self.end(CloseMode::Superseded).await.map(drop)
    }

    /// Removes the brain's file, after what waits, and closes the brain.
    pub(crate) async fn remove(&self) -> Result<()> {
        self.end(CloseMode::Remove).await.map(drop)
    }

    /// Quarantines what is committed, after what waits, removes the brain's file and closes the brain; returns the name
    /// of the quarantined file.
    pub(crate) async fn retire(&self) -> Result<String> {
        Ok(self.end(CloseMode::Retire).await?.unwrap_or_default())
    }

    async fn end(&self, ending: CloseMode) -> Result<Option<String>> {
        self.ask(|reply| WriterCommand::End(ending, reply)).await
    }

    /// Queues a command and waits for its answer.
    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> WriterCommand) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let sent = self.queue.send(command(reply)).await;
        sent.map_err(|_| self.closed())?;
        answer
            .await
            .unwrap_or_else(|_| Err(Error::outcome_unknown()))
    }

    fn closed(&self) -> Error {
        Error::Closed {
            name: self.name.clone(),
        }
    }
}

/// Since when a request waits, and the call that it belongs to.
fn asked() -> Option<(Instant, tracing::Span)> {
    Some((Instant::now(), tracing::Span::current()))
}

/// How many of the queue's bytes a request takes.
fn share(bytes: usize) -> u32 {
    bytes.min(QUEUE_BYTES_MAX) as u32
}
