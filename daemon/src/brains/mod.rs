//! The folder's brains: which are open, opening them, closing those that nobody uses, making, adopting, rescuing and
//! removing them.
//!
//! Promises: a brain is opened once at a time, whoever asks and whoever gives up asking meanwhile; one that can't
//! be opened is told with its reason and keeps no other from being served.

mod known;
mod modes;
mod odd;
mod parts;
mod placed;
mod problems;
mod reading;
mod seen;
mod taking;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use amem_proto::v1::JobKind;
use amem_store::NewBrain;
use amem_store::{Folder, IncomingFile, Store, folder};
use tokio::sync::{OwnedMutexGuard, Semaphore, mpsc, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tonic::Code;
use tracing::Instrument;
use uuid::Uuid;

use self::known::Known;
pub(crate) use self::known::Which;
use self::placed::Originals;
pub(crate) use self::placed::{Found, Outcome};
use self::problems::Problems;
pub(crate) use self::problems::{Named, Problem};
use crate::access::Caller;
use crate::figures::Figures;
use crate::health::Health;
use crate::jobs::Jobs;
use crate::limits::{ADOPT_WAIT, ASKED_MAX, OPEN_AGAIN_AFTER, OPENINGS_MAX};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};
use crate::replaced::ReplacedFiles;

/// Why a file is not opened that has to be adopted first.
const NOT_OURS: &str = "NOT_OURS";
/// Why a file is never opened.
const NOT_ADOPTED: &str = "NOT_ADOPTED";

/// The place of one brain: empty while it is closed, locked while it is opened or closed.
type Place = Arc<tokio::sync::Mutex<Option<Arc<OpenBrain>>>>;
type Taken = OwnedMutexGuard<Option<Arc<OpenBrain>>>;

/// The brains of one folder.
#[derive(Debug, Clone)]
pub(crate) struct Brains(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: Folder,
    path: PathBuf,
    health: Health,
    jobs: Jobs,
    figures: Figures,
    replaced: Arc<ReplacedFiles>,
    places: Mutex<HashMap<String, Place>>,
    problems: Mutex<Problems>,
    /// Names of files that are not text, as they are told.
    unreadable: Mutex<BTreeSet<String>>,
    /// Turns of opening a brain.
    openings: Semaphore,
    known: Known,
    originals: Mutex<Originals>,
    /// Whoever takes one of them away.
    settling: tokio::sync::Mutex<()>,
    /// Names that somebody asks for, and that are not ours.
    asked: (
        mpsc::Sender<String>,
        tokio::sync::Mutex<mpsc::Receiver<String>>,
    ),
    /// How often something came of a name.
    told: watch::Sender<u64>,
}

impl Brains {
    pub(crate) fn new(
        folder: Folder,
        path: PathBuf,
        health: Health,
        jobs: Jobs,
        figures: Figures,
    ) -> Self {
        let (asked, names) = mpsc::channel(ASKED_MAX);
        Self(Arc::new(Inner {
            folder,
            path,
            health,
            jobs,
            figures,
            replaced: Arc::default(),
            places: Mutex::default(),
            problems: Mutex::default(),
            unreadable: Mutex::default(),
            openings: Semaphore::new(OPENINGS_MAX),
            known: Known::default(),
            originals: Mutex::default(),
            settling: tokio::sync::Mutex::default(),
            asked: (asked, tokio::sync::Mutex::new(names)),
            told: watch::Sender::new(0),
        }))
    }

    /// An open brain; opens it if it is not. A file that was put there is waited for until it is adopted. Who asks has
    /// been looked at (`seen`).
    async fn find(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let until = Instant::now() + ADOPT_WAIT;
        loop {
            match self.get_ours(name).await {
                Err(refusal) if refusal.reason == NOT_OURS => self.wait_for(name, until).await?,
                done => return done,
            }
        }
    }

    async fn get_ours(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let place = self.take(name).await?;
        if let Some(open) = place.as_ref().filter(|open| !open.is_closed()) {
            open.use_now();
            return Ok(open.clone());
        }
        if let Some(refusal) = self.failed_just_now(name) {
            self.leave(name, place);
            return Err(refusal);
        }
        let (brains, name) = (self.clone(), name.to_owned());
        to_its_end(async move { brains.open_at(&name, place).await }).await
    }

    /// Makes an empty brain and opens it.
    pub(crate) async fn create(&self, name: &str, options: NewBrain) -> Result<Arc<OpenBrain>> {
        let (place, brains) = (self.take(name).await?, self.clone());
        let name = name.to_owned();
        to_its_end(async move {
            let (folder, of) = (brains.0.folder.clone(), name.clone());
            let made = blocking(move || amem_store::create(&folder, &of, &options)).await;
            if let Err(refusal) = made.and_then(|made| Ok(made?)) {
                brains.leave(&name, place);
                return Err(refusal);
            }
            brains.open_at(&name, place).await
        })
        .await
    }

    /// Begins to receive a file for a brain.
    pub(crate) async fn receive(&self, name: &str, bytes: u64) -> Result<IncomingFile> {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        Ok(blocking(move || IncomingFile::begin(&folder, &of, bytes)).await??)
    }

    /// Takes a brain away, if it is the one that is meant.
    pub(crate) async fn remove(
        &self,
        caller: &Caller,
        name: &str,
        instance: Uuid,
    ) -> Result<Arc<OpenBrain>> {
        let brain = self.get(caller, name).await?;
        let found = brain.view().instance();
        if found != instance {
            let message = format!("the brain {name:?} is instance {found}, not {instance}");
            return Err(Refusal::new(
                Code::FailedPrecondition,
                "FOREIGN_INSTANCE",
                message,
            ));
        }
        let (mut place, brains) = (self.take(name).await?, self.clone());
        let name = name.to_owned();
        to_its_end(async move {
            let is_same = place.as_ref().is_some_and(|open| Arc::ptr_eq(open, &brain));
            if !is_same {
                let message = format!("the brain {name:?} was opened anew meanwhile: ask again");
                return Err(Refusal::new(Code::Unavailable, "CLOSED", message));
            }
            // What is left of it elsewhere goes first: once it has no name, nobody would ask again.
            brains.settle(&name).await;
            let (folder, of) = (brains.0.folder.clone(), name.clone());
            blocking(move || folder.clear_leftovers(&of)).await??;
            let removed = brain.remove().await;
            *place = None;
            if let Err(refusal) = &removed
                && !matches!(&*refusal.reason, "REPLACED" | "OUTCOME_UNKNOWN")
            {
                // It is still there; should its name be gone, then only the file that is held has what it had.
                brains.0.known.closed(&name, brain.shared.held());
            }
            brains.leave(&name, place);
            removed?;
            brains.0.known.forget(&name);
            brains.forget(&name).await;
            tracing::info!(brain = name, "removed");
            Ok(brain)
        })
        .await
    }

    /// Opens every brain of the folder once, which recovers those that were not closed in order, and closes them
    /// again. Those that can't be opened are told.
    pub(crate) async fn recover_all(&self) -> Result<()> {
        let mut openings = JoinSet::new();
        for name in self.names().await? {
            let brains = self.clone();
            openings.spawn(async move {
                // What was opened is let go of before it is closed.
                match brains.get_ours(&name).await.map(drop) {
                    Ok(()) => brains.close_if(&name, |_| true).await,
                    // It is looked at when there is time.
                    Err(refusal) if refusal.reason == NOT_OURS => {}
                    Err(refusal) => {
                        tracing::error!(brain = name, why = refusal.message, "can't be opened");
                    }
                }
            });
        }
        while openings.join_next().await.is_some() {}
        Ok(())
    }

    /// Closes the brains that nobody has used for so long.
    pub(crate) async fn close_idle(&self, after: Duration) {
        let names: Vec<_> = self.places().keys().cloned().collect();
        for name in names {
            self.close_if(&name, |brain| brain.is_idle(after)).await;
        }
    }

    /// The names of all files of the folder that are brains or may be, in order.
    async fn names(&self) -> Result<Vec<String>> {
        let folder = self.0.folder.clone();
        let mut names = blocking(move || folder.names()).await??;
        names.retain(|name| folder::file_name(name).is_ok());
        names.sort_unstable();
        Ok(names)
    }

    /// The open brains, by name. One that is being opened or closed at this moment is not.
    pub(crate) fn open(&self) -> Vec<Arc<OpenBrain>> {
        let places = self.places();
        let open = places
            .values()
            .filter_map(|place| place.try_lock().ok()?.clone());
        let mut brains: Vec<_> = open.filter(|brain| !brain.is_closed()).collect();
        brains.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        brains
    }

    /// Which brains those are that were open here, or adopted, by name.
    pub(crate) fn which(&self) -> HashMap<String, Which> {
        self.0.known.which()
    }

    /// The names of the brains of the folder that are wanted, open or not, in order, and how many files of such names
    /// may become brains: what was not adopted is neither.
    pub(crate) async fn listed(&self, wanted: impl Fn(&str) -> bool) -> Result<(Vec<String>, u64)> {
        let mut names = self.names().await?;
        names.retain(|name| wanted(name));
        let known = self.0.known.names();
        let problems = self.problem_list();
        let mut waiting = 0;
        names.retain(|name| match problems.get(name) {
            Some(problem) => !problem.is_rejected,
            None => {
                let is_known = known.contains(name);
                waiting += u64::from(!is_known);
                is_known
            }
        });
        Ok((names, waiting))
    }

    /// What is the matter with a name, if anything is.
    pub(crate) fn problem(&self, name: &str) -> Option<Problem> {
        self.problem_list().get(name).cloned()
    }

    /// How many brains could not be opened when that was tried last, and how many files were not adopted, of the names
    /// that are wanted.
    pub(crate) fn problem_counts(&self, wanted: impl Fn(&str) -> bool) -> (u64, u64) {
        self.problem_list().counts(wanted)
    }

    /// The first of them, brains before files.
    pub(crate) fn first_problems(&self, most: usize, wanted: impl Fn(&str) -> bool) -> Vec<Named> {
        self.problem_list().first(most, wanted)
    }

    /// Closes every open brain in order, beside each other.
    pub(crate) async fn close(&self) {
        let mut closing = JoinSet::new();
        for brain in self.open() {
            closing.spawn(async move { brain.close().await });
        }
        while closing.join_next().await.is_some() {}
    }

    /// The place of a brain, for one caller at a time.
    async fn take(&self, name: &str) -> Result<Taken> {
        // Whatever the name, it is one before anything is kept of it.
        folder::file_name(name)?;
        let place = self.places().entry(name.to_owned()).or_default().clone();
        Ok(place.lock_owned().await)
    }

    /// Gives a place back; an empty one that nobody waits for is not kept.
    fn leave(&self, name: &str, place: Taken) {
        let mut places = self.places();
        let is_empty = place.is_none();
        drop(place);
        let unused = |place: &Place| Arc::strong_count(place) == 1;
        if is_empty && places.get(name).is_some_and(unused) {
            places.remove(name);
        }
    }

    async fn open_at(&self, name: &str, mut place: Taken) -> Result<Arc<OpenBrain>> {
        *place = None;
        match self.start(name).await {
            Ok(brain) => {
                *place = Some(brain.clone());
                self.problem_list().remove(name);
                self.0.health.brain(name, true).await;
                Ok(brain)
            }
            Err(refusal) => {
                self.leave(name, place);
                if refusal.code == Code::NotFound {
                    self.forget(name).await;
                } else if refusal.reason != NOT_OURS {
                    // What is of no kind that can be a brain was none.
                    let is_rejected = refusal.reason == NOT_ADOPTED;
                    self.problem_list().note(name, &refusal, is_rejected);
                    self.0.health.brain(name, false).await;
                }
                Err(refusal)
            }
        }
    }

    /// Why a brain could not be opened a moment ago: looking again at once would find the same.
    fn failed_just_now(&self, name: &str) -> Option<Refusal> {
        let problems = self.problem_list();
        let problem = problems.get(name)?;
        (problem.tried.elapsed() < OPEN_AGAIN_AFTER).then(|| problem.refusal.clone())
    }

    async fn start(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        let _turn = self.0.openings.acquire().await;
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
                error @ (amem_store::Error::NotFound { .. }
                | amem_store::Error::Untracked { .. }
                | amem_store::Error::Rejected { .. }),
            ) => {
                job.forget();
                return Err(error.into());
            }
            Err(error) => {
                let refusal = Refusal::from(error);
                // What has been told once is not told again with every call.
                match self
                    .problem_list()
                    .get(name)
                    .is_some_and(|known| known.refusal == refusal)
                {
                    true => job.forget(),
                    false => job.failed(&refusal.message),
                }
                return Err(refusal);
            }
        };
        tracing::info!(
            brain = name,
            lsn = store.view().lsn().0,
            recovered = store.was_recovered(),
            "open"
        );
        self.start_writer(store)
    }

    fn start_writer(&self, store: Store) -> Result<Arc<OpenBrain>> {
        let name = store.name().to_owned();
        let which = {
            let identity = store.view();
            let identity = identity.identity();
            Which {
                instance: identity.instance,
                lineage: identity.lineage,
            }
        };
        if let Err(why) = store.protect() {
            tracing::warn!(brain = name, %why, "access.readers: the group can't read its file");
        }
        let path = self.0.path.join(folder::file_name(&name)?);
        let figures = self.0.figures.brain(&name);
        let replaced = self.0.replaced.clone();
        let started =
            OpenBrain::start(store, path, &self.0.jobs, &self.0.health, figures, replaced);
        let brain = started.map_err(|e| {
            let message = format!("no thread for the writer of {name:?}: {e}");
            Refusal::new(Code::ResourceExhausted, "THREAD", message)
        })?;
        self.0.known.opened(&name, which);
        Ok(Arc::new(brain))
    }

    /// Closes a brain if a condition holds and nobody is using it.
    pub(crate) async fn close_if(&self, name: &str, wanted: impl FnOnce(&OpenBrain) -> bool) {
        let Some(place) = self.places().get(name).cloned() else {
            return;
        };
        let Ok(mut place) = place.try_lock_owned() else {
            return;
        };
        let unused = |brain: &Arc<OpenBrain>| Arc::strong_count(brain) == 1 && wanted(brain);
        let Some(brain) = place.take_if(|brain| unused(brain)) else {
            // Whoever asked for a brain that is not there may have left its place behind.
            self.leave(name, place);
            return;
        };
        let (brains, name) = (self.clone(), name.to_owned());
        let closed = tokio::spawn(async move {
            brain.close().await;
            brains.0.known.closed(&name, brain.shared.held());
            brains.leave(&name, place);
            tracing::info!(brain = name, "closed");
        });
        drop(closed.await);
    }

    async fn forget(&self, name: &str) {
        self.problem_list().remove(name);
        self.0.figures.forget(name);
        self.0.health.forget(name).await;
    }

    fn places(&self) -> MutexGuard<'_, HashMap<String, Place>> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn originals(&self) -> MutexGuard<'_, Originals> {
        self.0
            .originals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn problem_list(&self) -> MutexGuard<'_, Problems> {
        let problems = self.0.problems.lock();
        problems.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs what must not end half done when its caller gives up.
pub(crate) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let ended = tokio::spawn(work.in_current_span()).await;
    ended.unwrap_or_else(|_| Err(defect()))
}

/// Runs what takes its time beside the calls; a panic there is a defect of ours and nobody else's trouble.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    // What is written into the log there is written of the same call.
    let call = tracing::Span::current();
    spawn_blocking(move || call.in_scope(work))
        .await
        .map_err(|_| defect())
}

/// A defect of ours.
pub(crate) fn defect() -> Refusal {
    Refusal::internal("a defect stopped this call; the daemon's log tells more")
}
