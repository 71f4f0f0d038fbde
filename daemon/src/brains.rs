//! The engine's brains as their callers see them.
//!
//! Promises: a caller learns nothing of a brain for which it has no role: a request by its name is refused like that of
//! a brain that does not exist, and nothing is opened, checked or waited for. Every call gets its brains here.

use std::path::Path;
use std::sync::Arc;

use amem_engine::{Engine, JobRegistry, NamedProblem, OpenBrain, ReplacedFiles};
use amem_proto::answer::Code;
use amem_store::{Folder, ImportReport, IncomingFile, NewBrain};
use uuid::Uuid;

use crate::auth::{Caller, Role};
use crate::metrics::DaemonMetrics;
use crate::pending_facts::PendingFacts;
use crate::refusal::{Refusal, Result};

/// The brains of the folder; all clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Brains {
    engine: Engine,
    metrics: DaemonMetrics,
    pending_facts: PendingFacts,
}

impl Brains {
    pub(crate) fn new(engine: Engine, metrics: DaemonMetrics) -> Self {
        let pending_facts = PendingFacts::default();
        let looking = pending_facts.clone();
        engine.on_open(move |brain| looking.look(brain));
        Self {
            engine,
            metrics,
            pending_facts,
        }
    }

    /// What is known of the pending work of fact memory.
    pub(crate) fn pending_facts(&self) -> &PendingFacts {
        &self.pending_facts
    }

    /// The engine, for work of the daemon itself: it checks no rights.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The daemon's own metrics.
    pub(crate) fn metrics(&self) -> &DaemonMetrics {
        &self.metrics
    }

    pub(crate) fn path(&self) -> &Path {
        self.engine.path()
    }

    pub(crate) fn folder(&self) -> &Folder {
        self.engine.folder()
    }

    pub(crate) fn jobs(&self) -> &JobRegistry {
        self.engine.jobs()
    }

    pub(crate) fn replaced(&self) -> &Arc<ReplacedFiles> {
        self.engine.replaced()
    }

    /// An open brain, for a caller that has the role for it which its call needs.
    pub(crate) async fn get(&self, caller: &Caller, name: &str) -> Result<Arc<OpenBrain>> {
        self.get_as(caller, name, caller.needs).await
    }

    /// The same for another role.
    pub(crate) async fn get_as(
        &self,
        caller: &Caller,
        name: &str,
        role: Role,
    ) -> Result<Arc<OpenBrain>> {
        caller.check(name, role)?;
        Ok(self.engine.open(name).await?)
    }

    /// Makes an empty brain and opens it.
    pub(crate) async fn create(&self, name: &str, options: NewBrain) -> Result<Arc<OpenBrain>> {
        Ok(self.engine.create(name, options).await?)
    }

    /// Begins to receive a file of `bytes` for a brain.
    pub(crate) async fn receive(&self, name: &str, bytes: u64) -> Result<IncomingFile> {
        Ok(self.engine.receive(name, bytes).await?)
    }

    /// Begins to receive a file of `bytes` that takes the place of a brain, if there is one.
    pub(crate) async fn receive_in_place(&self, name: &str, bytes: u64) -> Result<IncomingFile> {
        Ok(self.engine.receive_in_place(name, bytes).await?)
    }

    /// Makes a received file the brain of a name; returns the name of the quarantined file that has what stood there.
    pub(crate) async fn replace_with_received(
        &self,
        name: &str,
        incoming: IncomingFile,
        embed: bool,
    ) -> Result<(ImportReport, Option<String>)> {
        let replaced = self.engine.replace_with_received(name, incoming, embed);
        Ok(replaced.await?)
    }

    /// Removes a brain, if it is this instance.
    pub(crate) async fn remove(
        &self,
        caller: &Caller,
        name: &str,
        instance: Uuid,
    ) -> Result<Arc<OpenBrain>> {
        let brain = self.get(caller, name).await?;
        Ok(self.engine.remove(brain, instance).await?)
    }

    /// Makes a quarantined file the brain of a name; returns the name of the file that the former brain was quarantined
    /// as.
    pub(crate) async fn replace_with_quarantined(
        &self,
        caller: &Caller,
        name: &str,
        file: &str,
    ) -> Result<(ImportReport, Option<String>)> {
        let brain = match self.get(caller, name).await {
            Ok(brain) => Some(brain),
            Err(refusal) if refusal.code == Code::NotFound => None,
            Err(refusal) => return Err(refusal),
        };
        let replaced = self.engine.replace_with_quarantined(name, file, brain);
        Ok(replaced.await?)
    }

    /// The names of the brains that a caller sees, open or not, in order; and the number of files that it sees and that
    /// may still be adopted.
    pub(crate) async fn listed_for(&self, caller: &Caller) -> Result<(Vec<String>, u64)> {
        Ok(self.engine.list(|name| caller.sees(name)).await?)
    }

    /// How many they are; if the folder cannot be listed, those that were known before: the status is answered always.
    pub(crate) async fn count_for(&self, caller: &Caller) -> u64 {
        let count = match self.listed_for(caller).await {
            Ok((names, _)) => names.len(),
            Err(refusal) => {
                tracing::warn!(
                    why = refusal.message,
                    "the status counts the brains that were known"
                );
                let known = self.engine.identities();
                known.keys().filter(|name| caller.sees(name)).count()
            }
        };
        count as u64
    }

    /// The open brains that a caller sees, by name.
    pub(crate) fn open_for(&self, caller: &Caller) -> Vec<Arc<OpenBrain>> {
        let mut open = self.engine.open_brains();
        open.retain(|brain| caller.sees(&brain.name));
        open
    }

    /// The numbers of brains that cannot be opened and of rejected files, of those that a caller sees.
    pub(crate) fn problem_counts_for(&self, caller: &Caller) -> (u64, u64) {
        self.engine.problem_counts(|name| caller.sees(name))
    }

    /// The first `most` problems that a caller sees, brains before files.
    pub(crate) fn first_problems_for(&self, caller: &Caller, most: usize) -> Vec<NamedProblem> {
        self.engine.first_problems(most, |name| caller.sees(name))
    }

    /// At most `most` problems that a caller sees, with names after `after`; true if there are more.
    pub(crate) fn problem_page_for(
        &self,
        caller: &Caller,
        after: &str,
        most: usize,
    ) -> (Vec<NamedProblem>, bool) {
        let sees = |name: &str| caller.sees(name);
        self.engine.problem_page(after, most, sees)
    }
}

/// Runs work to its end, even if the caller stops waiting for it.
pub(crate) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    amem_engine::tasks::run_to_end(work).await?
}

/// Runs blocking work on a thread of its own.
pub(crate) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let done = amem_engine::tasks::blocking(work);
    async move { done.await.map_err(Refusal::from) }
}
