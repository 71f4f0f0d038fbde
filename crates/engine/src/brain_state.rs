//! The state that the writer of an open brain shares with readers: the newest view and the brain's health.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use amem_format::brain::Brain;
use amem_format::view::View;
use amem_format::{Lsn, NodeId};
use amem_locks::LockResultExt;
use amem_store::disk::FileId;
use amem_store::{OpenHandle, Store};
use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::limits::UNEMBEDDED_NOTED_MAX;
use crate::metrics::BrainMetrics;
use crate::replaced_files::ReplacedFiles;
use crate::touches::TouchQueue;

/// The shared state of one open brain.
#[derive(Debug)]
pub(crate) struct BrainState {
    brain: ArcSwap<Brain>,
    poison: Mutex<Option<String>>,
    closed: AtomicBool,
    /// The file of the generation that is written.
    file: Mutex<OpenHandle>,
    /// The newest commit that views have.
    newest: watch::Sender<Lsn>,
    /// The replaced files of all brains of the folder.
    pub(crate) replaced: Arc<ReplacedFiles>,
    pub(crate) metrics: Arc<BrainMetrics>,
    pub(crate) touches: TouchQueue,
    /// Bytes of frames in the journal.
    pub(crate) journal_bytes: AtomicU64,
    /// True while a checkpoint is being built.
    pub(crate) checkpointing: AtomicBool,
    /// Events that were stored without a vector, in a brain of another space than the built-in one.
    unembedded: Mutex<Vec<NodeId>>,
}

impl BrainState {
    pub(crate) fn new(
        store: &Store,
        metrics: Arc<BrainMetrics>,
        replaced: Arc<ReplacedFiles>,
    ) -> Self {
        Self {
            brain: ArcSwap::new(store.brain().clone()),
            file: Mutex::new(store.open_handle()),
            poison: Mutex::new(None),
            closed: AtomicBool::new(false),
            newest: watch::Sender::new(store.view().lsn()),
            replaced,
            metrics,
            touches: TouchQueue::default(),
            journal_bytes: AtomicU64::new(store.journal_bytes()),
            checkpointing: AtomicBool::new(false),
            unembedded: Mutex::default(),
        }
    }

    /// A view of every commit that was answered.
    pub(crate) fn view(&self) -> View {
        self.brain.load_full().view()
    }

    /// Publishes what the store has: views that begin from now on see it.
    pub(crate) fn publish(&self, store: &Store) {
        let is_other = !Arc::ptr_eq(&self.brain.load(), store.brain());
        let before = is_other.then(|| self.brain.swap(store.brain().clone()));
        let file = {
            // The handle says how far the file is written, for `OpenHandle::overwritten`.
            let mut file = self.file.lock().unpoisoned();
            std::mem::replace(&mut *file, store.open_handle())
        };
        // A brain that was recovered may go on in its file.
        if let Some(before) = before.filter(|_| file.id() != store.open_handle().id()) {
            self.replaced.add(&before, file);
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

    /// Follows the newest LSN; notified once more when the brain is closed.
    pub(crate) fn newest(&self) -> watch::Receiver<Lsn> {
        self.newest.subscribe()
    }

    /// The open file, which outlives its name.
    pub(crate) fn held(&self) -> OpenHandle {
        self.file.lock().unpoisoned().clone()
    }

    /// The identity of the file.
    pub(crate) fn file(&self) -> FileId {
        self.held().id()
    }

    /// Why nothing is written; none if the brain is healthy.
    pub(crate) fn poisoned(&self) -> Option<String> {
        self.poison.lock().unpoisoned().clone()
    }

    pub(crate) fn poison(&self, why: &str) {
        *self.poison.lock().unpoisoned() = Some(why.to_owned());
    }

    /// Writes are accepted again.
    pub(crate) fn clear_poison(&self) {
        *self.poison.lock().unpoisoned() = None;
    }

    /// Notes events that have no vector, at most `UNEMBEDDED_NOTED_MAX`.
    pub(crate) fn note_unembedded(&self, ids: impl IntoIterator<Item = NodeId>) {
        let mut noted = self.unembedded();
        let room = UNEMBEDDED_NOTED_MAX.saturating_sub(noted.len());
        noted.extend(ids.into_iter().take(room));
    }

    /// True if events are noted.
    pub(crate) fn has_unembedded(&self) -> bool {
        !self.unembedded().is_empty()
    }

    /// Takes the noted events.
    pub(crate) fn take_unembedded(&self) -> Vec<NodeId> {
        std::mem::take(&mut self.unembedded())
    }

    fn unembedded(&self) -> MutexGuard<'_, Vec<NodeId>> {
        self.unembedded.lock().unpoisoned()
    }

    /// Marks the brain as closed: its writer is gone or about to go, and the next caller opens the brain again.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // Subscriptions learn that no commit follows.
        self.newest.send_modify(|_| {});
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}
