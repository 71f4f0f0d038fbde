//! The brain's file as the client follows it: which file that is, whether it is still there, and whether it is ours.
//!
//! A file is read only while a daemon owns it, the path still names it, and it is of the instance that answered last;
//! so a brain that was removed, or made anew under the same name, is never answered from what it left, and a copy that
//! lies under the same path in a container is not taken for the brain. One that is not ours is remembered: it is
//! opened again when the daemon names another instance, when another file stands there, or after a pause.
//!
//! Not here: what is answered (`brain`).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use amem_format::Error;
use amem_format::reader::Reader;
use amem_format::view::View;
use amem_proto::answer::{Refusal, Result};
use tonic::Code;
use uuid::Uuid;

use super::position::BrainPosition;
use crate::limits::{FILE_AGAIN_AFTER, FILE_AGAIN_MAX, REPLAY_BYTES_AT_ONCE};

/// Device and inode.
type FileId = (u64, u64);

/// The file under a path, if it is the brain's.
#[derive(Debug)]
pub(super) struct BrainFile {
    path: PathBuf,
    state: Mutex<FileStatus>,
    /// Held by who opens the file; others ask the daemon meanwhile.
    opening: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Clone)]
enum FileStatus {
    /// It is followed.
    Ours(Arc<Reader>),
    /// It is not, or was not when it was last opened.
    NotOurs(ForeignFile),
}

/// A file that was found not to be ours.
#[derive(Debug, Clone, Copy)]
struct ForeignFile {
    /// What stood under the path; none if nothing did.
    id: Option<FileId>,
    /// Whose file was looked for.
    instance: Uuid,
    /// When it is opened again although nothing else has changed.
    again: Instant,
    /// How long that was to wait.
    pause: Duration,
}

impl BrainFile {
    /// What a path names, opened; it need not be ours yet.
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
        // One that can't be opened here, for want of permission or in another container, is no misfortune.
        drop(file.view(seen).await);
        file
    }

    /// What follows it, if it is ours.
    pub(super) fn reader(&self) -> Option<Arc<Reader>> {
        match &*self.state() {
            FileStatus::Ours(reader) => Some(reader.clone()),
            FileStatus::NotOurs(_) => None,
        }
    }

    /// A view of the brain that has everything up to what was seen; none if the file does not have it.
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
        // It was removed, is of another brain, or of a recovery that put the brain into another file.
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The newest view; where much is to be read for it, from a thread that may wait for the disk. None if it is in a file
/// that took the place of this one, and can't be read here.
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
        Err(Error::Superseded { .. } | Error::MustDrop { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// What follows a file and its newest view, if a daemon owns the file.
pub(super) fn open_live(path: &Path) -> Option<(Arc<Reader>, View)> {
    let reader = Reader::open(path).ok().filter(Reader::is_live)?;
    let view = reader.view().ok()?;
    Some((Arc::new(reader), view))
}

fn id_of(path: &Path) -> Option<FileId> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Runs what may block where nobody waits for the thread.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        let message = format!("a question was not answered: {error}");
        Refusal::new(Code::Internal, "INTERNAL", message)
    })
}
