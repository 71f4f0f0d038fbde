//! The brain's file as the client follows it.
//!
//! A file is read only while a daemon owns it, the path still names it, and it is of the instance that answered last: a
//! removed or re-created brain is never answered from its old file, and a copy under the same path in a container is
//! not taken for the brain. A foreign file is remembered: it is opened again when the daemon names another instance,
//! another file is at the path, or a pause is over.
//!
//! Not here: answers (`brain`).

use std::any::Any;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use amem_format::Error;
use amem_format::reader::Reader;
use amem_format::view::View;
use amem_locks::LockResultExt;
use amem_proto::answer::{Code, Refusal, Result};
use uuid::Uuid;

use super::position::BrainPosition;
use crate::limits::{FILE_AGAIN_AFTER, FILE_AGAIN_MAX, REPLAY_BYTES_AT_ONCE};

/// Device and inode.
type DeviceInode = (u64, u64);

/// The file at a path, if it is the brain's.
#[derive(Debug)]
pub(super) struct LocalFile {
    path: PathBuf,
    state: Mutex<FileStatus>,
    /// Held while the file is opened; other callers ask the daemon meanwhile.
    opening: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Clone)]
enum FileStatus {
    Ours(Arc<Reader>),
    NotOurs(ForeignFile),
}

/// A file that was found not to be the brain's.
#[derive(Debug, Clone, Copy)]
struct ForeignFile {
    /// `None` if there was no file.
    id: Option<DeviceInode>,
    /// The instance that was expected.
    instance: Uuid,
    /// When to open it again if nothing else changes.
    again: Instant,
    /// The length of that pause.
    pause: Duration,
}

impl LocalFile {
    /// The file may be foreign.
    pub(super) async fn open(path: PathBuf, seen: BrainPosition) -> Self {
        let file = Self {
            path,
            state: Mutex::new(FileStatus::NotOurs(ForeignFile {
                id: None,
                instance: Uuid::nil(),
                again: Instant::now(),
                pause: Duration::ZERO,
            })),
            opening: Arc::default(),
        };
        // A file that cannot be opened here (permissions, another container) is not an error.
        drop(file.view(seen).await);
        file
    }

    pub(super) fn reader(&self) -> Option<Arc<Reader>> {
        match &*self.state() {
            FileStatus::Ours(reader) => Some(reader.clone()),
            FileStatus::NotOurs(_) => None,
        }
    }

    /// A view with everything up to `seen`; `None` if the file does not have it.
    pub(super) async fn view(&self, seen: BrainPosition) -> Result<Option<View>> {
        let state = self.state().clone();
        let id = id_of(&self.path);
        match state {
            FileStatus::Ours(reader) => {
                if let Some(view) = newest(&reader).await?
                    && id == Some(reader.file_id())
                    && seen.is_in(&view)
                {
                    return Ok(Some(view));
                }
            }
            FileStatus::NotOurs(known) => {
                let is_known = known.id == id && known.instance == seen.instance;
                if is_known && Instant::now() < known.again {
                    return Ok(None);
                }
            }
        }
        // It was removed, is of another brain, or recovery moved the brain to another file.
        self.open_again(seen).await
    }

    async fn open_again(&self, seen: BrainPosition) -> Result<Option<View>> {
        let Ok(_opening) = self.opening.try_lock() else {
            return Ok(None);
        };
        let pause = match &*self.state() {
            FileStatus::NotOurs(known) if known.instance == seen.instance => known.pause,
            _ => Duration::ZERO,
        };
        let id = id_of(&self.path);
        let opened = match id {
            Some(_) => {
                let path = self.path.clone();
                aside(move || open_live(&path)).await?
            }
            None => None,
        };
        let (state, view) = match opened {
            Some((reader, view)) if seen.is_in(&view) => (FileStatus::Ours(reader), Some(view)),
            _ => {
                let pause = (pause * 2).clamp(FILE_AGAIN_AFTER, FILE_AGAIN_MAX);
                let not_ours = ForeignFile {
                    id,
                    instance: seen.instance,
                    again: Instant::now() + pause,
                    pause,
                };
                (FileStatus::NotOurs(not_ours), None)
            }
        };
        *self.state() = state;
        Ok(view)
    }

    fn state(&self) -> MutexGuard<'_, FileStatus> {
        self.state.lock().unpoisoned()
    }
}

/// The newest view; long replays run on the blocking pool. `None` if another file took the place of this one, and
/// cannot be read here.
async fn newest(reader: &Arc<Reader>) -> Result<Option<View>> {
    let view = match reader.view_within(REPLAY_BYTES_AT_ONCE) {
        Some(view) => view,
        None => {
            let reader = reader.clone();
            aside(move || reader.view()).await?
        }
    };
    match view {
        Ok(view) => Ok(Some(view)),
        Err(Error::Superseded { .. } | Error::MustDrop { .. } | Error::Overwritten { .. }) => {
            Ok(None)
        }
        Err(e) => Err(e.into()),
    }
}

/// A reader and its newest view, if a daemon owns the file.
pub(super) fn open_live(path: &Path) -> Option<(Arc<Reader>, View)> {
    let reader = Reader::open(path).ok().filter(Reader::is_live)?;
    let view = reader.view().ok()?;
    Some((Arc::new(reader), view))
}

fn id_of(path: &Path) -> Option<DeviceInode> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Runs blocking work on the blocking pool. tokio sees one type of all work: it would compile what runs it for each.
pub(super) fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let work: AsideWork = Box::new(move || Box::new(work()));
    async move {
        match aside_untyped(work).await?.downcast() {
            Ok(answer) => Ok(*answer),
            Err(_) => Err(unanswered("its answer has another type")),
        }
    }
}

type AsideAnswer = Box<dyn Any + Send>;

type AsideWork = Box<dyn FnOnce() -> AsideAnswer + Send>;

async fn aside_untyped(work: AsideWork) -> Result<AsideAnswer> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| unanswered(&error.to_string()))
}

fn unanswered(why: &str) -> Refusal {
    let message = format!("a query was not answered: {why}");
    Refusal::new(Code::Internal, "INTERNAL", message)
}
