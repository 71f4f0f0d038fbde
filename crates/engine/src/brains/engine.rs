//! The engine: what the brains of one folder share.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use amem_locks::LockResultExt;
use amem_store::Folder;
use amem_store::OriginalFile;
use tokio::sync::{OwnedMutexGuard, Semaphore, mpsc, watch};

use super::known_brains::KnownBrains;
use super::problems::Problems;
use crate::descriptors::connections_max;
use crate::health::BrainHealth;
use crate::jobs::JobRegistry;
use crate::limits::{ASKED_MAX, OPENINGS_MAX};
use crate::metrics::EngineMetrics;
use crate::open_brain::OpenBrain;
use crate::replaced_files::ReplacedFiles;

/// The slot of one brain: empty while it is closed, locked while it is opened or closed.
pub(super) type BrainSlot = Arc<tokio::sync::Mutex<Option<Arc<OpenBrain>>>>;
/// A locked slot.
pub(super) type SlotGuard = OwnedMutexGuard<Option<Arc<OpenBrain>>>;
/// Files that became brains, by brain, and when each is checked for the last time.
pub(super) type Originals = HashMap<String, (Instant, OriginalFile)>;

/// The brains of one folder; all clones are the same.
#[derive(Debug, Clone)]
pub struct Engine(pub(super) Arc<EngineInner>);

#[derive(Debug)]
pub(super) struct EngineInner {
    pub(super) folder: Folder,
    pub(super) path: PathBuf,
    pub(super) health: Arc<dyn BrainHealth>,
    pub(super) jobs: JobRegistry,
    pub(super) metrics: EngineMetrics,
    pub(super) replaced: Arc<ReplacedFiles>,
    slots: Mutex<HashMap<String, BrainSlot>>,
    problems: Mutex<Problems>,
    /// File names that are not text, escaped.
    pub(super) unreadable_names: Mutex<BTreeSet<String>>,
    /// Bounds how many brains are opened at a time.
    pub(super) openings: Semaphore,
    pub(super) known: KnownBrains,
    originals: Mutex<Originals>,
    /// Held while an original is removed.
    pub(super) finalising: tokio::sync::Mutex<()>,
    /// Names that callers ask for and that are not brains yet.
    pub(super) asked: (
        mpsc::Sender<String>,
        tokio::sync::Mutex<mpsc::Receiver<String>>,
    ),
    /// How many names were worked on; waiters for a name are notified by it.
    pub(super) worked_on: watch::Sender<u64>,
    /// Looks at each brain that was opened.
    pub(super) on_open: OnceLock<OpenHook>,
}

/// Looks at a brain that was opened, on a thread that may wait.
pub(super) struct OpenHook(pub(super) Arc<dyn Fn(&OpenBrain) + Send + Sync>);

impl fmt::Debug for OpenHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenHook")
    }
}

impl Engine {
    /// An engine for a folder, which stands at `path`.
    pub fn new(folder: Folder, path: PathBuf, health: Arc<dyn BrainHealth>) -> Self {
        let (asked, names) = mpsc::channel(ASKED_MAX);
        Self(Arc::new(EngineInner {
            folder,
            path,
            health,
            jobs: JobRegistry::default(),
            metrics: EngineMetrics::default(),
            replaced: Arc::default(),
            slots: Mutex::default(),
            problems: Mutex::default(),
            unreadable_names: Mutex::default(),
            openings: Semaphore::new(OPENINGS_MAX),
            known: KnownBrains::default(),
            originals: Mutex::default(),
            finalising: tokio::sync::Mutex::default(),
            asked: (asked, tokio::sync::Mutex::new(names)),
            worked_on: watch::Sender::new(0),
            on_open: OnceLock::new(),
        }))
    }

    /// Has `look` look at each brain that is opened from now on, before its first caller gets it. The first hook stays.
    pub fn on_open(&self, look: impl Fn(&OpenBrain) + Send + Sync + 'static) {
        drop(self.0.on_open.set(OpenHook(Arc::new(look))));
    }

    /// How many connections the limit of open files allows beside the brains.
    pub fn connections_max() -> u64 {
        connections_max()
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// Long work of its brains.
    pub fn jobs(&self) -> &JobRegistry {
        &self.0.jobs
    }

    /// Its metrics and those of its brains.
    pub fn metrics(&self) -> &EngineMetrics {
        &self.0.metrics
    }

    /// Files of brains that were replaced.
    pub fn replaced(&self) -> &Arc<ReplacedFiles> {
        &self.0.replaced
    }

    pub(super) fn slots(&self) -> MutexGuard<'_, HashMap<String, BrainSlot>> {
        self.0.slots.lock().unpoisoned()
    }

    pub(super) fn originals(&self) -> MutexGuard<'_, Originals> {
        self.0.originals.lock().unpoisoned()
    }

    pub(super) fn problems(&self) -> MutexGuard<'_, Problems> {
        let problems = self.0.problems.lock();
        problems.unpoisoned()
    }
}
