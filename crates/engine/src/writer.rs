//! The writer of one open brain: a thread of its own that owns the `Store`.
//!
//! It takes the requests that wait, commits them as one group, publishes, answers all. Checkpoints are built beside it;
//! it only installs them. After a failed write, or a defect, it drops the store and recovers the brain from its file.
//!
//! Promises: an answer is given only when the commit is durable and every later view has it; an erase is answered only
//! when no file of ours has the content any more. Not here: what a mutation means (`amem_store`), a store that can't go
//! on (`recovery`).

mod recovery;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_format::view::View;
use amem_format::{Error as FormatError, NodeId};
use amem_query::embed::Embedder;
use amem_store::mutation::{Mutation, Request};
use amem_store::{Error as StoreError, Folder, Store};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::brain_state::BrainState;
use crate::checkpoints::{self, BuiltCheckpoint, CheckpointWaiter, Checkpoints};
use crate::commands::{CloseMode, CommitAnswer, QueuedCommit, Reply, WriterCommand};
use crate::error::{Error, Result};
use crate::health::BrainHealth;
use crate::jobs::JobRegistry;
use crate::limits::{GROUP_BYTES_MAX, GROUP_REQUESTS_MAX, IDLE_AFTER, TOUCH_AFTER};
use crate::metrics::micros;

/// The principal of what the engine commits by itself.
pub const PRINCIPAL: &str = "amemd";

/// The caller that waits for a brain's end, and its answer.
type EndAnswer = (Reply<Option<String>>, Result<Option<String>>);

/// The thread's own state.
pub(crate) struct Writer {
    folder: Folder,
    name: String,
    /// None until the brain is recovered.
    store: Option<Store>,
    /// The brain lost its name and is saved: there is nothing more to recover.
    is_saved: bool,
    /// The brain lost its name and is only in the file that the store has open.
    is_unsaved: bool,
    /// The folder's lock was lost, which is logged once.
    is_lock_lost: bool,
    state: Arc<BrainState>,
    queue: mpsc::Receiver<WriterCommand>,
    checkpoints: Checkpoints,
    jobs: JobRegistry,
    health: Arc<dyn BrainHealth>,
    runtime: Handle,
    recover_at: Instant,
    written_at: Instant,
    /// When touches that wait are committed.
    touch_at: Option<Instant>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(
        store: Store,
        state: Arc<BrainState>,
        (sender, queue): (mpsc::Sender<WriterCommand>, mpsc::Receiver<WriterCommand>),
        jobs: JobRegistry,
        health: Arc<dyn BrainHealth>,
    ) -> std::io::Result<()> {
        let mut writer = Self {
            folder: store.folder().clone(),
            name: store.name().to_owned(),
            checkpoints: Checkpoints::new(sender.downgrade(), &state, &jobs),
            store: Some(store),
            is_saved: false,
            is_unsaved: false,
            is_lock_lost: false,
            state,
            queue,
            jobs,
            health,
            runtime: Handle::current(),
            recover_at: Instant::now(),
            written_at: Instant::now(),
            touch_at: None,
        };
        std::thread::Builder::new()
            .name(format!("writer {}", writer.name))
            .spawn(move || {
                let ended = writer.run();
                // The answer says that file and folder are released: that comes first.
                drop(writer);
                if let Some((reply, outcome)) = ended {
                    // The caller may have left.
                    drop(reply.send(outcome));
                }
            })
            .map(drop)
    }

    /// Works until the brain ends.
    fn run(&mut self) -> Option<EndAnswer> {
        if let Some(store) = &mut self.store {
            self.checkpoints.note_erased(store.erase_pending());
            self.checkpoints.begin_if_due(store, false);
        }
        let mut ended = None;
        loop {
            let recover_at = self.store.is_none().then_some(self.recover_at);
            let next_at = self.touch_at.into_iter().chain(recover_at).min();
            let wait = next_at.map_or(IDLE_AFTER, |at| {
                at.saturating_duration_since(Instant::now())
            });
            let next = async { tokio::time::timeout(wait, self.queue.recv()).await };
            let command = match self.runtime.clone().block_on(next) {
                Ok(Some(command)) => Some(command),
                Ok(None) => break,
                Err(_) => None,
            };
            match catch_unwind(AssertUnwindSafe(|| self.round(command))) {
                Ok(None) => {}
                Ok(Some(end)) => {
                    ended = Some(end);
                    break;
                }
                Err(_) => self.lose("a defect stopped the writer"),
            }
        }
        self.state.close();
        ended
    }

    /// One round: commits what waits as one group. Returns the answer to the command that ends the brain, if there is
    /// one.
    fn round(&mut self, first: Option<WriterCommand>) -> Option<EndAnswer> {
        self.recover();
        self.install();
        let mut group = Vec::new();
        let mut bytes = 0;
        let mut next = first;
        let mut ending = None;
        while let Some(command) = next.take() {
            match command {
                // A request whose caller left is not begun.
                WriterCommand::Commit(commit) if commit.reply.is_closed() => {}
                WriterCommand::Commit(commit) => {
                    bytes += commit.bytes;
                    group.push(*commit);
                }
                WriterCommand::Checkpoint(reply) => {
                    self.checkpoints.wait(CheckpointWaiter::Caller(reply));
                }
                WriterCommand::Reembed(reembedding, reply) => {
                    let waiter = CheckpointWaiter::Reembed(reembedding, reply);
                    self.checkpoints.wait(waiter);
                }
                WriterCommand::HoldName(reply) => drop(reply.send(self.hold_name())),
                WriterCommand::Protect(reply) => drop(reply.send(self.protect())),
                WriterCommand::Wake => {}
                WriterCommand::End(how, reply) => {
                    ending = Some((how, reply));
                    break;
                }
            }
            if group.len() >= GROUP_REQUESTS_MAX || bytes >= GROUP_BYTES_MAX {
                break;
            }
            next = self.queue.try_recv().ok();
        }
        if !group.is_empty() {
            self.written_at = Instant::now();
        }
        self.add_touches(&mut group, ending.is_some());
        self.commit(group);
        if let Some((how, reply)) = ending {
            let outcome = self.end(how);
            return Some((reply, outcome));
        }
        let is_idle = self.written_at.elapsed() >= IDLE_AFTER;
        if let Some(store) = &mut self.store {
            self.checkpoints.begin_if_due(store, is_idle);
        }
        self.react();
        None
    }

    /// Adds the touches that wait to a group, once they are due.
    fn add_touches(&mut self, group: &mut Vec<QueuedCommit>, at_once: bool) {
        if self.state.touches.is_empty() {
            self.touch_at = None;
            return;
        }
        let now = Instant::now();
        let at = *self.touch_at.get_or_insert(now + TOUCH_AFTER);
        if now < at && !at_once {
            return;
        }
        self.touch_at = Some(now + TOUCH_AFTER);
        let Some(store) = &self.store else {
            return;
        };
        self.touch_at = None;
        let view = store.view();
        let shown = |id| view.node(id).is_ok_and(|node| !node.is_forgotten());
        let mut touched = self.state.touches.take();
        touched.retain(|(id, _)| shown(*id));
        if !touched.is_empty() {
            group.push(QueuedCommit {
                // Readers do not write: the engine does.
                request: Request::new(Mutation::Touch(touched)).by(PRINCIPAL, ""),
                bytes: 0,
                asked: None,
                // Touches of a failed write are lost.
                reply: oneshot::channel().0,
                permit: None,
            });
        }
    }

    fn commit(&mut self, group: Vec<QueuedCommit>) {
        if group.is_empty() {
            return;
        }
        let Some(store) = &mut self.store else {
            let error = Error::from(self.poisoned_error());
            for commit in group {
                drop(commit.reply.send(Err(error.clone())));
            }
            return;
        };
        let mut requests = Vec::with_capacity(group.len());
        let mut replies = Vec::with_capacity(group.len());
        let (metrics, begun) = (&self.state.metrics, Instant::now());
        for commit in group {
            let erases = matches!(commit.request.mutation, Mutation::Erase(_));
            let call = commit.asked.map(|(since, call)| {
                metrics.waits.record(micros(begun.duration_since(since)));
                call
            });
            requests.push(commit.request);
            replies.push((commit.reply, erases, commit.permit, call));
        }
        let (lsn, nodes) = (store.view().lsn(), store.view().nodes());
        let answers = store.commit(&requests);
        self.state.note_unembedded(unembedded(&store.view(), nodes));
        let generation = store.brain().base().identity().generation;
        self.state.publish(store);
        metrics.requests.add(requests.len() as u64);
        metrics.groups.record(requests.len() as u64);
        let commits = store.view().lsn().0.saturating_sub(lsn.0);
        if commits > 0 {
            metrics.commits.add(commits);
            metrics.syncs.record(micros(store.sync_time()));
        }
        // A checkpoint that is being built has the erased content too, even if a large merge of this group has just
        // made a generation.
        let is_pending = store.erase_pending() || self.checkpoints.is_building();
        let erase_pending = replies.iter().any(|(_, erases, ..)| *erases) && is_pending;
        for ((reply, erases, permit, call), answer) in replies.into_iter().zip(answers) {
            drop(permit);
            match answer {
                Ok(answer) if erases && erase_pending => {
                    self.checkpoints
                        .wait(CheckpointWaiter::Erase(reply, answer));
                }
                Ok(answer) => drop(reply.send(Ok(CommitAnswer { answer, generation }))),
                Err(error) => {
                    metrics.refused.add(1);
                    let name = &self.name;
                    if matches!(error, StoreError::LockLost) && !self.is_lock_lost {
                        self.is_lock_lost = true;
                        tracing::error!(brain = name, %error, "nothing is written any more");
                    }
                    call.unwrap_or_else(tracing::Span::none)
                        .in_scope(|| tracing::debug!(brain = name, %error, "not committed"));
                    drop(reply.send(Err(error.into())));
                }
            }
        }
        self.react();
    }

    fn hold_name(&mut self) -> Result<bool> {
        let Some(store) = &mut self.store else {
            return Err(self.poisoned_error().into());
        };
        let held = store.check_path();
        self.state.publish(store);
        self.react();
        Ok(held?)
    }

    fn protect(&self) -> Result<()> {
        match &self.store {
            Some(store) => Ok(store.protect()?),
            // Opening it again does it.
            None => Ok(()),
        }
    }

    /// Installs a checkpoint that was built meanwhile.
    fn install(&mut self) {
        let Some(built) = self.checkpoints.take_built() else {
            return;
        };
        let Some(store) = &mut self.store else {
            self.checkpoints.failed(&Error::outcome_unknown());
            return;
        };
        let started = Instant::now();
        let installed = match built {
            BuiltCheckpoint::Whole(checkpoint)
                if !checkpoint.is_next_of(store) && checkpoint.reembedding().is_none() =>
            {
                // A large merge has made a generation by itself, of all that was there when this one was begun.
                let generation = store.brain().base().identity().generation;
                self.checkpoints.done(generation, Duration::ZERO);
                return;
            }
            BuiltCheckpoint::Whole(checkpoint) => {
                let reembedding = checkpoint.reembedding().cloned();
                let installed = store.install(*checkpoint).map_err(Error::from);
                if let (Ok(_), Some(made)) = (&installed, reembedding) {
                    let late = unembedded(&store.view(), made.embedded());
                    self.state.note_unembedded(late);
                }
                installed
            }
            BuiltCheckpoint::Failed(error) => Err(error),
        };
        match installed {
            Ok(retired) => {
                self.state.publish(store);
                checkpoints::release(retired, &self.state);
                let generation = store.brain().base().identity().generation;
                tracing::info!(
                    brain = self.name,
                    generation = generation.0,
                    waited_ms = started.elapsed().as_millis() as u64,
                    "checkpoint"
                );
                self.checkpoints.done(generation, started.elapsed());
            }
            Err(error) => {
                tracing::warn!(
                    brain = self.name,
                    error = error.to_string(),
                    "checkpoint failed"
                );
                if matches!(&error, Error::Format(e) if matches!(**e, FormatError::Corrupt { .. }))
                {
                    // If commits are lost the store says so, and takes no more.
                    drop(store.check_journal());
                }
                match self.checkpoints.is_reembedding() {
                    true => self.checkpoints.failed_reembedding(&error),
                    false => self.checkpoints.failed(&error),
                }
                self.react();
            }
        }
    }

    /// Releases the brain; returns the name of what is quarantined of it.
    fn end(&mut self, how: CloseMode) -> Result<Option<String>> {
        self.checkpoints.failed(&Error::Closing);
        if self.store.is_none() {
            self.recover_nameless();
        }
        let Some(mut store) = self.store.take() else {
            return Err(self.poisoned_error().into());
        };
        let ended = match how {
            // The last chance to save it.
            CloseMode::Close if self.is_unsaved => store
                .check_path()
                .and_then(|_| store.close().map(|()| None)),
            CloseMode::Close => {
                self.checkpoint_before_close(&mut store);
                store.close().map(|()| None)
            }
            CloseMode::Superseded => store.close_superseded().map(|()| None),
            CloseMode::Remove => store.remove().map(|()| None),
            CloseMode::Retire => store.retire().map(|saved| Some(saved.to_string())),
        };
        if let Err(error) = &ended {
            tracing::warn!(brain = self.name, %error, "closing");
        }
        Ok(ended?)
    }

    /// Makes a new base if the next opening would have much to replay, unless one is being built. The brain is as safe
    /// without it: a failure is logged.
    fn checkpoint_before_close(&self, store: &mut Store) {
        if self.checkpoints.is_building() || !store.needs_closing_checkpoint() {
            return;
        }
        if let Err(error) = store.checkpoint() {
            tracing::warn!(brain = self.name, %error, "checkpoint before closing");
        }
    }

    /// Why nothing is written.
    fn poisoned_error(&self) -> StoreError {
        let why = self.state.poisoned().unwrap_or_default();
        StoreError::Poisoned { why }
    }
}

/// The events from `first` on that have a text and no vector, if the brain's vectors are not the built-in embedder's.
/// An event that cannot be read is passed over: its readers get the error.
fn unembedded(view: &View, first: u64) -> Vec<NodeId> {
    let is_of_model =
        view.vector_dimension() > 0 && view.identity().space != Embedder::builtin().space();
    let new = (first..view.nodes()).map(NodeId).filter(|_| is_of_model);
    let lacks = |id: &NodeId| {
        let node = view.node(*id);
        node.is_ok_and(|node| matches!(node.vector(), Ok(None)) && !node.is_erased())
    };
    new.filter(lacks).collect()
}
