//! Files of brains that a newer generation has replaced, for as long as somebody has them open: an erase says when the
//! last one had let go.
//!
//! Promises: what is said to be gone is neither open nor mapped, in any process of this machine. A file that nobody
//! else has open is let go of, so that its room on the disk is free, within a second.
//! Not here: telling readers that there is a newer file (`amem_store`); files that an earlier daemon has replaced.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use amem_format::Generation;
use amem_format::brain::Brain;
use amem_store::OpenHandle;
use amem_store::disk::FileId;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::holders::{self, Holder};
use crate::limits::REPLACED_HELD_MAX;

/// How often files are looked at that somebody else still has open.
const FOLLOW_EVERY: Duration = Duration::from_millis(250);
/// How long a look at the files is apart from the next: at first, and at most.
const LOOK_AFTER: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// The replaced files of a folder's brains.
#[derive(Debug, Default)]
pub(crate) struct ReplacedFiles {
    list: Mutex<List>,
    /// Woken when there are some.
    added: Notify,
}

#[derive(Debug, Default)]
struct List {
    files: Vec<Replaced>,
    /// What can't be told any more, and why: of which instance, from which generation on.
    untold: Vec<(Uuid, Generation, String)>,
}

#[derive(Debug)]
struct Replaced {
    instance: Uuid,
    generation: Generation,
    file: OpenHandle,
    /// What this process has mapped of it.
    brain: Weak<Brain>,
}

/// Whether the files of earlier generations are still open somewhere.
#[derive(Debug)]
pub(crate) enum Released {
    /// None was any more at this moment.
    At(SystemTime),
    /// Some are: who has them open, as far as this process may see.
    HeldBy(Vec<Holder>),
    /// It can't be told, and why.
    Unknown(String),
}

impl List {
    /// A file is followed no longer: of its instance, the oldest such one is kept in mind.
    fn forget(&mut self, file: &Replaced, why: String) {
        let (instance, generation) = (file.instance, file.generation);
        let known = self.untold.iter().position(|(of, ..)| *of == instance);
        let known = known.map(|at| self.untold.swap_remove(at));
        let oldest = known.map_or(generation, |(_, known, _)| known.min(generation));
        self.untold.push((instance, oldest, why));
    }
}

impl Replaced {
    fn is_released(&self) -> io::Result<bool> {
        Ok(self.brain.strong_count() == 0 && self.file.is_sole_opening()?)
    }
}

impl ReplacedFiles {
    /// A brain goes on in another file.
    pub(crate) fn add(&self, brain: &Arc<Brain>, file: OpenHandle) {
        let identity = brain.base().identity();
        let mut list = self.list();
        list.files.push(Replaced {
            instance: identity.instance,
            generation: identity.generation,
            file,
            brain: Arc::downgrade(brain),
        });
        if list.files.len() > REPLACED_HELD_MAX {
            let oldest = list.files.remove(0);
            let why = format!(
                "more than {REPLACED_HELD_MAX} replaced files were open, the most that are followed"
            );
            list.forget(&oldest, why);
        }
        drop(list);
        self.added.notify_one();
    }

    /// Lets go of files as soon as nobody else has them open, for as long as it is polled.
    pub(crate) async fn follow(self: Arc<Self>) {
        loop {
            self.added.notified().await;
            while !self.list().files.is_empty() {
                tokio::time::sleep(FOLLOW_EVERY).await;
                let files = self.clone();
                drop(tokio::task::spawn_blocking(move || files.look()).await);
            }
        }
    }

    /// Lets go of files that nobody else has open.
    pub(crate) fn look(&self) {
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
        // This is where the room of a removed file becomes free, which may take milliseconds.
        drop(released);
    }

    /// Waits until no file of an instance is open that is older than a generation, but not longer than that.
    pub(crate) async fn released(
        self: &Arc<Self>,
        instance: Uuid,
        before: Generation,
        within: Duration,
    ) -> Released {
        let until = Instant::now() + within;
        let [mut after, longest] = LOOK_AFTER;
        loop {
            let files = self.clone();
            let looked = tokio::task::spawn_blocking(move || files.look_for(instance, before));
            let left = match looked.await {
                Ok(Ok(left)) => left,
                Ok(Err(why)) => return Released::Unknown(why),
                Err(_) => return Released::Unknown("a defect stopped the look".into()),
            };
            if left.is_empty() {
                return Released::At(SystemTime::now());
            }
            let now = Instant::now();
            if now >= until {
                let found = tokio::task::spawn_blocking(move || holders::of(&left));
                return Released::HeldBy(found.await.unwrap_or_default());
            }
            tokio::time::sleep(after.min(until - now)).await;
            after = (2 * after).min(longest);
        }
    }

    /// The files of an instance older than a generation that are still open; an error if that can't be told.
    fn look_for(&self, instance: Uuid, before: Generation) -> Result<Vec<FileId>, String> {
        self.look();
        let list = self.list();
        let untold = list.untold.iter().find(|(of, generation, _)| {
            // Whoever can't be told of one file can't be told of the others.
            *of == instance && *generation < before
        });
        if let Some((.., why)) = untold {
            return Err(why.clone());
        }
        let ours = list.files.iter();
        let ours = ours.filter(|file| file.instance == instance && file.generation < before);
        Ok(ours.map(|file| file.file.id()).collect())
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
