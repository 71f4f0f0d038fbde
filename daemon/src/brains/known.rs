//! The brains whose files are ours, as far as this process has had them open: which file each is, and, of those that
//! are closed, a descriptor that outlives the file's name.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use amem_store::Held;
use amem_store::disk::FileId;

use crate::limits::HELD_MAX;

/// The known brains, by name.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<String, Entry>>);

#[derive(Debug)]
struct Entry {
    held: Option<Held>,
    /// Since when there is no file under its name.
    missing: Option<Instant>,
}

impl Known {
    /// A brain is open: its writer holds its file.
    pub(super) fn opened(&self, name: &str) {
        let entry = Entry {
            held: None,
            missing: None,
        };
        self.list().insert(name.to_owned(), entry);
    }

    /// A brain is closed; its file is held open, if there is room for one more.
    pub(super) fn closed(&self, name: &str, file: Held) {
        let mut list = self.list();
        let held = list.values().filter(|entry| entry.held.is_some()).count();
        match list.get_mut(name) {
            Some(entry) if held < HELD_MAX => entry.held = Some(file),
            // What nobody holds can't be saved: it is as any other file.
            _ => drop(list.remove(name)),
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

    /// True if a brain of this name is, or was, open here.
    pub(super) fn has(&self, name: &str) -> bool {
        self.list().contains_key(name)
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
