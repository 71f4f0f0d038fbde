//! The brains whose files are ours, as far as this process has had them open or has made them of files that were put
//! there: which brain each is, and, of those that are closed, a descriptor that outlives the file's name.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use amem_store::OpenHandle;
use amem_store::disk::FileId;
use uuid::Uuid;

use crate::descriptors::held_max;

/// The known brains, by name.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    entries: HashMap<String, Entry>,
    /// Files that are held.
    held: usize,
}

impl List {
    /// Puts an entry in the place of what was known, or nothing.
    fn put(&mut self, name: &str, entry: Option<Entry>) {
        let is_held = |entry: &Entry| entry.held.is_some();
        self.held += usize::from(entry.as_ref().is_some_and(is_held));
        let before = match entry {
            Some(entry) => self.entries.insert(name.to_owned(), entry),
            None => self.entries.remove(name),
        };
        self.held -= usize::from(before.as_ref().is_some_and(is_held));
    }
}

impl List {
    /// A brain whose file is there; what was told of its mode is told still.
    fn entry(&self, name: &str, which: Option<Which>, is_open: bool) -> Entry {
        Entry {
            which,
            is_open,
            held: None,
            missing: None,
            mode: self.entries.get(name).and_then(|before| before.mode),
        }
    }
}

/// Which brain it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Which {
    pub(crate) instance: Uuid,
    pub(crate) lineage: Uuid,
}

#[derive(Debug)]
struct Entry {
    /// None if the file could not be read when it was adopted.
    which: Option<Which>,
    /// Its writer holds the file.
    is_open: bool,
    held: Option<OpenHandle>,
    /// Since when there is no file under its name.
    missing: Option<Instant>,
    /// The mode that somebody gave its file, if it is not what we give it.
    mode: Option<u32>,
}

impl Known {
    /// A brain is open: its writer holds its file.
    pub(super) fn opened(&self, name: &str, which: Which) {
        let mut list = self.list();
        let entry = list.entry(name, Some(which), true);
        list.put(name, Some(entry));
    }

    /// A file became a brain, which nobody has opened yet.
    pub(super) fn adopted(&self, name: &str, which: Option<Which>) {
        let mut list = self.list();
        let is_sure = |entry: &Entry| entry.is_open || entry.held.is_some();
        if list.entries.get(name).is_some_and(is_sure) {
            return;
        }
        let entry = list.entry(name, which, false);
        list.put(name, Some(entry));
    }

    /// A brain is closed; its file is held open, if there is room for one more.
    pub(super) fn closed(&self, name: &str, file: OpenHandle) {
        let mut list = self.list();
        let Some(which) = list.entries.get(name).map(|entry| entry.which) else {
            return;
        };
        let entry = Entry {
            // What nobody holds can't be saved: its name is as free as any.
            held: (list.held < held_max()).then_some(file),
            ..list.entry(name, which, false)
        };
        list.put(name, Some(entry));
    }

    /// A brain is no more, or not ours any more.
    pub(super) fn forget(&self, name: &str) {
        self.list().put(name, None);
    }

    /// The held file of a closed brain.
    pub(super) fn held(&self, name: &str) -> Option<OpenHandle> {
        self.list().entries.get(name)?.held.clone()
    }

    /// Which brains are known, by name.
    pub(super) fn which(&self) -> HashMap<String, Which> {
        let list = self.list();
        list.entries
            .iter()
            .filter_map(|(name, entry)| Some((name.clone(), entry.which?)))
            .collect()
    }

    /// The names.
    pub(super) fn names(&self) -> HashSet<String> {
        self.list().entries.keys().cloned().collect()
    }

    /// True if something is known of a brain of this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.list().entries.contains_key(name)
    }

    /// True if there is a brain of this name whose file is held.
    pub(super) fn has(&self, name: &str) -> bool {
        let list = self.list();
        list.entries
            .get(name)
            .is_some_and(|entry| entry.is_open || entry.held.is_some())
    }

    /// There is no file under a brain's name; gives since when.
    pub(super) fn missing(&self, name: &str) -> Option<Instant> {
        let mut list = self.list();
        let entry = list.entries.get_mut(name)?;
        Some(*entry.missing.get_or_insert_with(Instant::now))
    }

    /// Its file is there.
    pub(super) fn present(&self, name: &str) {
        if let Some(entry) = self.list().entries.get_mut(name) {
            entry.missing = None;
        }
    }

    /// Notes the mode that somebody gave a brain's file, if it is not ours; true if it was another before.
    pub(super) fn is_new_mode(&self, name: &str, mode: Option<u32>) -> bool {
        let mut list = self.list();
        let entry = list.entries.get_mut(name);
        entry.is_some_and(|entry| std::mem::replace(&mut entry.mode, mode) != mode)
    }

    /// The names, and which files are held.
    pub(super) fn files(&self) -> HashMap<String, Option<FileId>> {
        let list = self.list();
        let files = list
            .entries
            .iter()
            .map(|(name, entry)| (name.clone(), entry.held.as_ref().map(OpenHandle::id)));
        files.collect()
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_store::{Folder, NewBrain, Store, create};
    use std::sync::Arc;

    #[test]
    fn what_is_held_is_counted_as_brains_open_close_and_go() {
        let path = tempfile::tempdir().unwrap();
        let disk = Arc::new(amem_store::disk::os::OsDisk::new(path.path()).unwrap());
        let folder = Folder::open(disk, "a test").unwrap();
        create(&folder, "a", &NewBrain::default()).unwrap();
        let file = Store::open(&folder, "a").unwrap().open_handle();
        let (known, which) = (
            Known::default(),
            Which {
                instance: Uuid::nil(),
                lineage: Uuid::nil(),
            },
        );
        let held = || known.list().held;
        known.closed("never opened", file.clone());
        assert!(!known.has("never opened"));
        for name in ["a", "b"] {
            known.opened(name, which);
            assert!(known.has(name) && known.held(name).is_none());
            known.closed(name, file.clone());
            known.closed(name, file.clone());
            assert!(known.has(name) && known.held(name).is_some());
        }
        assert_eq!(held(), 2);
        known.opened("a", which);
        assert_eq!(held(), 1);
        // What was open here is not known less for being adopted once more.
        known.adopted("a", None);
        known.adopted("c", Some(which));
        assert!(known.has("a") && !known.has("c"));
        // Of what nobody holds, a file that is adopted later may be another brain.
        let other = Which {
            instance: Uuid::max(),
            ..which
        };
        known.adopted("c", Some(other));
        assert_eq!(known.which()["c"], other);
        assert_eq!(
            (held(), known.which().len(), known.names().len()),
            (1, 3, 3)
        );
        known.forget("a");
        known.forget("b");
        known.forget("b");
        assert_eq!(held(), 0);
    }
}
