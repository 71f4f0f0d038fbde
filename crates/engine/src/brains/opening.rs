//! Opening, creating, removing and closing brains.

use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_store::NewBrain;
use amem_store::{Error as StoreError, IncomingFile, Store, folder};
use tokio::task::JoinSet;
use tokio::time::sleep;
use uuid::Uuid;

use super::engine::{BrainSlot, Engine, SlotGuard};
use super::known_brains::BrainIdentity;
use crate::descriptors::open_max;
use crate::error::{Error, Result};
use crate::jobs::JobKind;
use crate::limits::{ADOPT_WAIT, OPEN_AGAIN_AFTER, OPEN_ROOM_EVERY, OPEN_ROOM_WAIT};
use crate::open_brain::OpenBrain;
use crate::tasks::{AnyFuture, blocking, run_to_end};

impl Engine {
    /// A brain; opens it if it is closed. Waits for a file of the name that is yet to be adopted.
    ///
    /// # Errors
    /// What the store answers; `Adopting` if the adoption takes longer than `ADOPT_WAIT`.
    pub async fn open(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let until = Instant::now() + ADOPT_WAIT;
        loop {
            match self.open_ours(name).await {
                Err(error) if error.is_not_ours() => self.wait_for(name, until).await?,
                done => return done,
            }
        }
    }

    /// The same; a file that is yet to be adopted is an error at once.
    pub(super) async fn open_ours(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let slot = self.lock_slot(name).await?;
        if let Some(open) = slot.as_ref().filter(|open| !open.is_closed()) {
            let open = open.clone();
            // A view of an overwritten file shows what is not there, or ends the process if the file is shorter now.
            if !matches!(open.held().overwritten(), Ok(None)) {
                open.hold_name().await?;
            }
            open.mark_used();
            return Ok(open);
        }
        if let Some(error) = self.recent_failure(name) {
            self.unlock_slot(name, slot);
            return Err(error);
        }
        let (engine, name) = (self.clone(), name.to_owned());
        run_to_end(async move { engine.open_in(&name, slot).await }).await?
    }

    /// Makes an empty brain and opens it.
    pub async fn create(&self, name: &str, options: NewBrain) -> Result<Arc<OpenBrain>> {
        let (slot, engine) = (self.lock_slot(name).await?, self.clone());
        let name = name.to_owned();
        run_to_end(async move {
            let (folder, of) = (engine.0.folder.clone(), name.clone());
            let made = blocking(move || amem_store::create(&folder, &of, &options)).await;
            if let Err(error) = made.and_then(|made| Ok(made?)) {
                engine.unlock_slot(&name, slot);
                return Err(error);
            }
            engine.open_in(&name, slot).await
        })
        .await?
    }

    /// Begins to receive a file of `bytes` for a brain.
    pub async fn receive(&self, name: &str, bytes: u64) -> Result<IncomingFile> {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        Ok(blocking(move || IncomingFile::begin(&folder, &of, bytes)).await??)
    }

    /// Removes a brain.
    ///
    /// # Errors
    /// `ForeignInstance` if it is not `instance`; `Reopened` if `brain` is not what is open under its name.
    pub async fn remove(&self, brain: Arc<OpenBrain>, instance: Uuid) -> Result<Arc<OpenBrain>> {
        let name = brain.name.clone();
        let found = brain.view().instance();
        if found != instance {
            return Err(Error::ForeignInstance {
                name,
                found,
                expected: instance,
            });
        }
        let (mut slot, engine) = (self.lock_slot(&name).await?, self.clone());
        run_to_end(async move {
            let is_same = slot.as_ref().is_some_and(|open| Arc::ptr_eq(open, &brain));
            if !is_same {
                return Err(Error::Reopened { name });
            }
            // What is left of it elsewhere goes first: nothing would remove it once the name is gone.
            engine.finalise_original(&name).await;
            let (folder, of) = (engine.0.folder.clone(), name.clone());
            blocking(move || folder.clear_leftovers(&of)).await??;
            let removed = brain.remove().await;
            *slot = None;
            if let Err(error) = &removed
                && !matches!(
                    error.store(),
                    Some(StoreError::Replaced { .. } | StoreError::OutcomeUnknown { .. })
                )
            {
                // It is still there; if its name is gone, only the open file has its content.
                engine.0.known.closed(&name, brain.held());
            }
            engine.unlock_slot(&name, slot);
            removed?;
            engine.0.known.forget(&name);
            engine.forget(&name).await;
            tracing::info!(brain = name, "removed");
            Ok(brain)
        })
        .await?
    }

    /// Opens every brain of the folder once, which recovers those that were not closed cleanly, and closes them again.
    /// Those that can't be opened are listed as problems.
    ///
    /// # Errors
    /// If the folder can't be listed.
    pub async fn recover_all(&self) -> Result<()> {
        let mut openings = JoinSet::new();
        for name in self.names().await? {
            let engine = self.clone();
            let open: AnyFuture<()> = Box::pin(async move {
                // The brain is released before it is closed.
                match engine.open_ours(&name).await.map(drop) {
                    Ok(()) => {
                        engine.close_if(&name, |_| true).await;
                    }
                    // The watcher adopts it later.
                    Err(error) if error.is_not_ours() => {}
                    Err(error) => {
                        tracing::error!(brain = name, why = error.to_string(), "can't be opened");
                    }
                }
            });
            openings.spawn(open);
        }
        while openings.join_next().await.is_some() {}
        Ok(())
    }

    /// Closes the brains that have been idle for `after`.
    pub async fn close_idle(&self, after: Duration) {
        let names: Vec<_> = self.slots().keys().cloned().collect();
        for name in names {
            self.close_if(&name, |brain| brain.is_idle(after)).await;
        }
    }

    /// Closes every open brain cleanly, all at a time.
    pub async fn close(&self) {
        let mut closing = JoinSet::new();
        for brain in self.open_brains() {
            let close: AnyFuture<()> = Box::pin(async move { brain.close().await });
            closing.spawn(close);
        }
        while closing.join_next().await.is_some() {}
    }

    /// Locks the slot of a brain.
    pub(super) async fn lock_slot(&self, name: &str) -> Result<SlotGuard> {
        // Only valid names get a slot.
        folder::file_name(name)?;
        let slot = self.slots().entry(name.to_owned()).or_default().clone();
        Ok(slot.lock_owned().await)
    }

    /// Unlocks a slot; drops it if it is empty and nothing waits for it.
    pub(super) fn unlock_slot(&self, name: &str, slot: SlotGuard) {
        let mut slots = self.slots();
        let is_empty = slot.is_none();
        drop(slot);
        let unused = |slot: &BrainSlot| Arc::strong_count(slot) == 1;
        if is_empty && slots.get(name).is_some_and(unused) {
            slots.remove(name);
        }
    }

    async fn open_in(&self, name: &str, mut slot: SlotGuard) -> Result<Arc<OpenBrain>> {
        *slot = None;
        match self.start(name).await {
            Ok(brain) => {
                *slot = Some(brain.clone());
                self.problems().remove(name);
                self.0.health.report(name, true).await;
                self.look_at(&brain).await;
                Ok(brain)
            }
            Err(error) => {
                self.unlock_slot(name, slot);
                if error.is_unknown_brain() {
                    self.forget(name).await;
                } else if !error.is_not_ours() {
                    // A file of no kind that can be a brain never was one.
                    let is_rejected = matches!(error.store(), Some(StoreError::Rejected { .. }));
                    self.problems().note(name, &error, is_rejected);
                    self.0.health.report(name, false).await;
                }
                Err(error)
            }
        }
    }

    /// Shows a brain that was opened to the hook.
    async fn look_at(&self, brain: &Arc<OpenBrain>) {
        let Some(hook) = self.0.on_open.get().map(|hook| hook.0.clone()) else {
            return;
        };
        let brain = brain.clone();
        // A hook that panics is a defect, and logged as one; the brain is open all the same.
        drop(blocking(move || hook(&brain)).await);
    }

    /// Why a brain could not be opened a moment ago: another try at once would find the same.
    fn recent_failure(&self, name: &str) -> Option<Error> {
        let problems = self.problems();
        let problem = problems.get(name)?;
        (problem.tried.elapsed() < OPEN_AGAIN_AFTER).then(|| problem.error.clone())
    }

    async fn start(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        let _turn = self.0.openings.acquire().await;
        self.make_room(open_max()).await?;
        let job = self.0.jobs.begin(JobKind::Recovery, name);
        let store = match blocking(move || Store::open(&folder, &of)).await? {
            Ok(store) if store.was_recovered() => {
                job.done(format_args!("LSN {}", store.view().lsn()));
                store
            }
            Ok(store) => {
                job.forget();
                store
            }
            Err(
                error @ (StoreError::NotFound { .. }
                | StoreError::Untracked { .. }
                | StoreError::Rejected { .. }),
            ) => {
                job.forget();
                return Err(error.into());
            }
            Err(error) => {
                let error = Error::from(error);
                // A failure is listed once, not with every call.
                let is_listed = self
                    .problems()
                    .get(name)
                    .is_some_and(|problem| problem.is_same(&error));
                if is_listed {
                    job.forget();
                } else {
                    job.failed(&error);
                }
                return Err(error);
            }
        };
        tracing::info!(
            brain = name,
            lsn = store.view().lsn().0,
            recovered = store.was_recovered(),
            "open"
        );
        if let Some(why) = store.read_only() {
            tracing::warn!(brain = name, %why, "it is read, and not written");
        }
        self.start_writer(store)
    }

    /// Closes those brains that were not used longest, until fewer than `max` are open. It waits for one that is in use
    /// for a moment, such as by a list of all.
    ///
    /// # Errors
    /// `OpenBrains` if all that are open stay in use.
    async fn make_room(&self, max: usize) -> Result<()> {
        let until = Instant::now() + OPEN_ROOM_WAIT;
        loop {
            match self.close_unused(max).await {
                Err(Error::OpenBrains { .. }) if Instant::now() < until => {
                    sleep(OPEN_ROOM_EVERY).await;
                }
                done => return done,
            }
        }
    }

    async fn close_unused(&self, max: usize) -> Result<()> {
        let open = self.open_brains();
        let Some(excess) = (open.len() + 1)
            .checked_sub(max)
            .filter(|&excess| excess > 0)
        else {
            return Ok(());
        };
        let mut by_use: Vec<_> = open
            .iter()
            .map(|brain| (brain.last_used(), brain.name.clone()))
            .collect();
        // A brain that is in use is not closed: this list must not count as use.
        drop(open);
        by_use.sort_unstable();
        let mut closed = 0;
        for (_, name) in by_use {
            if closed == excess {
                break;
            }
            let was_closed = self
                .close_if(&name, |brain| brain.is_idle(Duration::ZERO))
                .await;
            closed += usize::from(was_closed);
        }
        if closed == excess {
            Ok(())
        } else {
            Err(Error::OpenBrains { max })
        }
    }

    /// Gives a store its writer.
    pub(super) fn start_writer(&self, store: Store) -> Result<Arc<OpenBrain>> {
        let name = store.name().to_owned();
        let identity = BrainIdentity::of(&store.view());
        if let Err(why) = store.protect() {
            tracing::warn!(brain = name, %why, "access.readers: the group can't read its file");
        }
        let path = self.0.path.join(folder::file_name(&name)?);
        let metrics = self.0.metrics.brain(&name);
        let replaced = self.0.replaced.clone();
        let started =
            OpenBrain::start(store, path, &self.0.jobs, &self.0.health, metrics, replaced);
        let brain = started.map_err(|source| Error::WriterThread {
            name: name.clone(),
            source: Arc::new(source),
        })?;
        self.0.known.opened(&name, identity);
        Ok(Arc::new(brain))
    }

    /// Closes a brain if `is_wanted` holds and no caller uses it; true if it did.
    pub(crate) async fn close_if(
        &self,
        name: &str,
        is_wanted: impl FnOnce(&OpenBrain) -> bool,
    ) -> bool {
        let Some(slot) = self.slots().get(name).cloned() else {
            return false;
        };
        let Ok(mut slot) = slot.try_lock_owned() else {
            return false;
        };
        let unused = |brain: &Arc<OpenBrain>| Arc::strong_count(brain) == 1 && is_wanted(brain);
        let Some(brain) = slot.take_if(|brain| unused(brain)) else {
            // A caller that asked for a brain that does not exist may have left its slot behind.
            self.unlock_slot(name, slot);
            return false;
        };
        self.close_in(name, slot, brain).await;
        true
    }

    /// Closes a brain in its slot, even if the caller stops waiting for it.
    async fn close_in(&self, name: &str, slot: SlotGuard, brain: Arc<OpenBrain>) {
        let (engine, name) = (self.clone(), name.to_owned());
        let closed = tokio::spawn(async move {
            brain.close().await;
            engine.0.known.closed(&name, brain.held());
            engine.unlock_slot(&name, slot);
            tracing::info!(brain = name, "closed");
        });
        drop(closed.await);
    }

    /// Forgets the problem, the metrics and the health of a brain that is gone.
    pub(super) async fn forget(&self, name: &str) {
        self.problems().remove(name);
        self.0.metrics.forget(name);
        self.0.health.forget(name).await;
    }
}
