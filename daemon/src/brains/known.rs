//! The brains whose files are ours, as far as this process has had them open: which file each is, and, of those that
//! are closed, a descriptor that outlives the file's name.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use amem_store::Held;
use amem_store::disk::FileId;
use uuid::Uuid;

use crate::descriptors::held_max;

/// The known brains, by name.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<String, Entry>>);

/// Which brain it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Which {
    pub(crate) instance: Uuid,
    pub(crate) lineage: Uuid,
}

#[derive(Debug)]
struct Entry {
    which: Which,
    /// Its writer holds the file.
    is_open: bool,
    held: Option<Held>,
    /// Since when there is no file under its name.
    missing: Option<Instant>,
}

impl Known {
    /// A brain is open: its writer holds its file.
    pub(super) fn opened(&self, name: &str, which: Which) {
        let entry = Entry {
            which,
            is_open: true,
            held: None,
            missing: None,
        };
        self.list().insert(name.to_owned(), entry);
    }

    /// A brain is closed; its file is held open, if there is room for one more.
    pub(super) fn closed(&self, name: &str, file: Held) {
        let mut list = self.list();
        let held = list.values().filter(|entry| entry.held.is_some()).count();
        if let Some(entry) = list.get_mut(name) {
            entry.is_open = false;
            // What nobody holds can't be saved: its name is as free as any.
            entry.held = (held < held_max()).then_some(file);
        }
    }

    /// A brain is no more, or not ours any more.
    pub(super) fn forget(&self, name: &str) {
        self.list().remove(name);
    }

    /// The held file of a closed brain.
    pub(super) fn held(&self, name: &str) -> Option<Held> {
        self.list().get(name)?.held.clone()
    }

    /// Which brains are known, by name.
    pub(super) fn which(&self) -> HashMap<String, Which> {
        let list = self.list();
        list.iter()
            .map(|(name, entry)| (name.clone(), entry.which))
            .collect()
    }

    /// True if there is a brain of this name whose file is held.
    pub(super) fn has(&self, name: &str) -> bool {
        let list = self.list();
        list.get(name)
            .is_some_and(|entry| entry.is_open || entry.held.is_some())
    }

    /// There is no file under a brain's name; gives since when.
    pub(super) fn missing(&self, name: &str) -> Option<Instant> {
        let mut list = self.list();
        let entry = list.get_mut(name)?;
        Some(*entry.missing.get_or_insert_with(Instant::now))
    }

    /// Its file is there.
    pub(super) fn present(&self, name: &str) {
        if let Some(entry) = self.list().get_mut(name) {
            entry.missing = None;
        }
    }

    /// The names, and which files are held.
    pub(super) fn files(&self) -> HashMap<String, Option<FileId>> {
        let list = self.list();
        let files = list
            .iter()
            .map(|(name, entry)| (name.clone(), entry.held.as_ref().map(Held::id)));
        files.collect()
    }

    fn list(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
