//! Files that a newer generation of their brain has replaced, tracked while any process has them open.
//!
//! Promises: a file that is reported released is neither open nor mapped in any process of this machine. This process
//! releases a file that no other has open within a second, which frees its space on the disk.
//! Not here: notifying readers of a newer file (`amem_store`); files that an earlier process of the daemon replaced.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant, SystemTime};

use amem_format::Generation;
use amem_format::brain::Brain;
use amem_locks::LockResultExt;
use amem_store::OpenHandle;
use amem_store::disk::FileId;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::file_holders::{self, FileHolder};
use crate::limits::REPLACED_HELD_MAX;

/// How often files that another process has open are checked.
const FOLLOW_EVERY: Duration = Duration::from_millis(250);
/// The pause between two checks while an erase waits: at first, and at most.
const CHECK_AFTER: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// How long an erase waits beyond the time of the caller for this process alone: its queries and checkpoints end soon,
/// and the caller asks about readers.
const OWN_WAIT: Duration = Duration::from_secs(1);

/// The replaced files of a folder's brains.
#[derive(Debug, Default)]
pub struct ReplacedFiles {
    list: Mutex<ReplacedList>,
    /// Notified when a file is added.
    added: Notify,
}

#[derive(Debug, Default)]
struct ReplacedList {
    files: Vec<ReplacedFile>,
    /// Files that are not tracked any more: their instance, their oldest generation, and why.
    untracked: Vec<(Uuid, Generation, String)>,
}

#[derive(Debug)]
struct ReplacedFile {
    instance: Uuid,
    generation: Generation,
    file: OpenHandle,
    /// Alive while this process maps it.
    brain: Weak<Brain>,
}

/// Whether the files of earlier generations are still open somewhere.
#[derive(Debug)]
pub enum Release {
    /// None was open at this moment.
    At(SystemTime),
    /// Some are open: the processes that have them, as far as this one may see.
    HeldBy(Vec<FileHolder>),
    /// Unknown, and why.
    Unknown(String),
}

impl ReplacedList {
    /// Stops tracking a file; of its instance, the oldest generation is remembered.
    fn forget(&mut self, file: &ReplacedFile, why: String) {
        let (instance, generation) = (file.instance, file.generation);
        let known = self.untracked.iter().position(|(of, ..)| *of == instance);
        let known = known.map(|at| self.untracked.swap_remove(at));
        let oldest = known.map_or(generation, |(_, known, _)| known.min(generation));
        self.untracked.push((instance, oldest, why));
    }
}

impl ReplacedFile {
    fn is_released(&self) -> io::Result<bool> {
        Ok(self.brain.strong_count() == 0 && self.file.is_sole_opening()?)
    }
}

impl ReplacedFiles {
    /// Tracks the file of a generation that was replaced.
    pub(crate) fn add(&self, brain: &Arc<Brain>, file: OpenHandle) {
        let identity = brain.base().identity();
        let mut list = self.list();
        list.files.push(ReplacedFile {
            instance: identity.instance,
            generation: identity.generation,
            file,
            brain: Arc::downgrade(brain),
        });
        if list.files.len() > REPLACED_HELD_MAX {
            let oldest = list.files.remove(0);
            let why = format!(
                "more than {REPLACED_HELD_MAX} replaced files were open, the most that are tracked"
            );
            list.forget(&oldest, why);
        }
        drop(list);
        self.added.notify_one();
    }

    /// Releases files as soon as no other process has them open, for as long as it is polled.
    pub async fn release_when_unused(self: Arc<Self>) {
        loop {
            self.added.notified().await;
            while !self.list().files.is_empty() {
                tokio::time::sleep(FOLLOW_EVERY).await;
                let files = self.clone();
                drop(tokio::task::spawn_blocking(move || files.release_unused()).await);
            }
        }
    }

    /// Releases files that no other process has open.
    pub(crate) fn release_unused(&self) {
        let mut released = Vec::new();
        let mut list = self.list();
        let mut at = 0;
        while let Some(file) = list.files.get(at) {
            match file.is_released() {
                Ok(false) => at += 1,
                Ok(true) => released.push(list.files.remove(at)),
                Err(e) => {
                    let why = match e.kind() {
                        io::ErrorKind::Unsupported => "this system has no leases on files".into(),
                        _ => e.to_string(),
                    };
                    let file = list.files.remove(at);
                    list.forget(&file, why);
                    released.push(file);
                }
            }
        }
        drop(list);
        // Closing frees the space of a removed file, which may take milliseconds.
        drop(released);
    }

    /// Waits until no file of an instance older than generation `before` is open, at most `within`; `OWN_WAIT` longer
    /// while no other process has one.
    pub async fn released(
        self: &Arc<Self>,
        instance: Uuid,
        before: Generation,
        within: Duration,
    ) -> Release {
        let until = Instant::now() + within;
        let [mut after, longest] = CHECK_AFTER;
        loop {
            let files = self.clone();
            let checked = tokio::task::spawn_blocking(move || files.open_files(instance, before));
            let left = match checked.await {
                Ok(Ok(left)) => left,
                Ok(Err(why)) => return Release::Unknown(why),
                Err(_) => return Release::Unknown("a defect stopped the check".into()),
            };
            if left.is_empty() {
                return Release::At(SystemTime::now());
            }
            let now = Instant::now();
            if now >= until {
                let found = tokio::task::spawn_blocking(move || file_holders::of(&left));
                let holders = found.await.unwrap_or_default();
                if !holders.is_empty() || now >= until + OWN_WAIT {
                    return Release::HeldBy(holders);
                }
            }
            let left = until.saturating_duration_since(now);
            let pause = if left.is_zero() {
                after
            } else {
                after.min(left)
            };
            tokio::time::sleep(pause).await;
            after = (2 * after).min(longest);
        }
    }

    /// The files of an instance older than generation `before` that are still open; an error if that is unknown.
    fn open_files(&self, instance: Uuid, before: Generation) -> Result<Vec<FileId>, String> {
        self.release_unused();
        let list = self.list();
        let untracked = list.untracked.iter().find(|(of, generation, _)| {
            // What is unknown of one file is unknown of all.
            *of == instance && *generation < before
        });
        if let Some((.., why)) = untracked {
            return Err(why.clone());
        }
        let ours = list.files.iter();
        let ours = ours.filter(|file| file.instance == instance && file.generation < before);
        Ok(ours.map(|file| file.file.id()).collect())
    }

    fn list(&self) -> MutexGuard<'_, ReplacedList> {
        self.list.lock().unpoisoned()
    }
}
