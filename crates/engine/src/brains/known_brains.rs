//! The brains that this process has had open, or has adopted: the identity of each, and, of those that are closed, an
//! open file that outlives its name.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use amem_format::view::View;
use amem_locks::LockResultExt;
use amem_store::OpenHandle;
use amem_store::disk::FileId;
use uuid::Uuid;

use super::summary::{BrainSummary, FileStamp};
use crate::descriptors::held_max;

/// The known brains, by name.
#[derive(Debug, Default)]
pub(super) struct KnownBrains(Mutex<KnownList>);

#[derive(Debug, Default)]
struct KnownList {
    entries: HashMap<String, KnownBrain>,
    /// How many files are held open.
    held: usize,
}

impl KnownList {
    /// Replaces or removes an entry.
    fn put(&mut self, name: &str, entry: Option<KnownBrain>) {
        let is_held = |entry: &KnownBrain| entry.held.is_some();
        self.held += usize::from(entry.as_ref().is_some_and(is_held));
        let before = match entry {
            Some(entry) => self.entries.insert(name.to_owned(), entry),
            None => self.entries.remove(name),
        };
        self.held -= usize::from(before.as_ref().is_some_and(is_held));
    }
}

impl KnownList {
    /// The entry of a brain whose file is there; its reported mode stays.
    fn entry(&self, name: &str, identity: Option<BrainIdentity>, is_open: bool) -> KnownBrain {
        KnownBrain {
            identity,
            is_open,
            held: None,
            missing: None,
            mode: self.entries.get(name).and_then(|before| before.mode),
            summary: None,
        }
    }
}

/// Instance and lineage of a brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrainIdentity {
    /// The owned file.
    pub instance: Uuid,
    /// All that descend from one creation.
    pub lineage: Uuid,
}

impl BrainIdentity {
    pub(crate) fn of(view: &View) -> Self {
        let identity = view.identity();
        Self {
            instance: identity.instance,
            lineage: identity.lineage,
        }
    }
}

#[derive(Debug)]
struct KnownBrain {
    /// None if the file could not be read when it was adopted.
    identity: Option<BrainIdentity>,
    /// Its writer holds the file.
    is_open: bool,
    held: Option<OpenHandle>,
    /// Since when there is no file under its name.
    missing: Option<Instant>,
    /// The mode of its file, if another program changed it.
    mode: Option<u32>,
    /// What its file held when it was read last, while it was closed.
    summary: Option<(FileStamp, BrainSummary)>,
}

impl KnownBrains {
    /// A brain is open: its writer holds the file.
    pub(super) fn opened(&self, name: &str, identity: BrainIdentity) {
        let mut list = self.list();
        let entry = list.entry(name, Some(identity), true);
        list.put(name, Some(entry));
    }

    /// A file became a brain, identity is not open yet.
    pub(super) fn adopted(&self, name: &str, identity: Option<BrainIdentity>) {
        let mut list = self.list();
        let is_sure = |entry: &KnownBrain| entry.is_open || entry.held.is_some();
        if list.entries.get(name).is_some_and(is_sure) {
            return;
        }
        let entry = list.entry(name, identity, false);
        list.put(name, Some(entry));
    }

    /// A brain is closed; its file is held open, if the limit allows.
    pub(super) fn closed(&self, name: &str, file: OpenHandle) {
        let mut list = self.list();
        let Some(identity) = list.entries.get(name).map(|entry| entry.identity) else {
            return;
        };
        let entry = KnownBrain {
            // A file that is not held can't be saved: its name is as free as any.
            held: (list.held < held_max()).then_some(file),
            ..list.entry(name, identity, false)
        };
        list.put(name, Some(entry));
    }

    /// A brain is gone, or not ours any more.
    pub(super) fn forget(&self, name: &str) {
        self.list().put(name, None);
    }

    /// The held file of a closed brain.
    pub(super) fn held(&self, name: &str) -> Option<OpenHandle> {
        self.list().entries.get(name)?.held.clone()
    }

    /// True if a brain of this name is closed and its file, which is held, is this one.
    pub(super) fn is_held_as(&self, name: &str, file: FileId) -> bool {
        self.held(name).is_some_and(|held| held.id() == file)
    }

    /// The identities of known brains, by name.
    pub(super) fn identities(&self) -> HashMap<String, BrainIdentity> {
        let list = self.list();
        list.entries
            .iter()
            .filter_map(|(name, entry)| Some((name.clone(), entry.identity?)))
            .collect()
    }

    /// The names.
    pub(super) fn names(&self) -> HashSet<String> {
        self.list().entries.keys().cloned().collect()
    }

    /// True if a brain of this name is known.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.list().entries.contains_key(name)
    }

    /// True if a brain of this name is known and its file is held open.
    pub(super) fn is_held(&self, name: &str) -> bool {
        let list = self.list();
        list.entries
            .get(name)
            .is_some_and(|entry| entry.is_open || entry.held.is_some())
    }

    /// Notes that there is no file under a brain's name; returns since when.
    pub(super) fn note_missing(&self, name: &str) -> Option<Instant> {
        let mut list = self.list();
        let entry = list.entries.get_mut(name)?;
        Some(*entry.missing.get_or_insert_with(Instant::now))
    }

    /// Notes that its file is there.
    pub(super) fn note_present(&self, name: &str) {
        if let Some(entry) = self.list().entries.get_mut(name) {
            entry.missing = None;
        }
    }

    /// Notes the mode of a brain's file, if another program changed it; true if that is news.
    pub(super) fn note_mode(&self, name: &str, mode: Option<u32>) -> bool {
        let mut list = self.list();
        let entry = list.entries.get_mut(name);
        entry.is_some_and(|entry| std::mem::replace(&mut entry.mode, mode) != mode)
    }

    /// What the file of a closed brain held when it was read last.
    pub(super) fn summary(&self, name: &str) -> Option<(FileStamp, BrainSummary)> {
        self.list().entries.get(name)?.summary
    }

    /// Notes what the file of a closed brain holds.
    pub(super) fn note_summary(&self, name: &str, summary: (FileStamp, BrainSummary)) {
        if let Some(entry) = self.list().entries.get_mut(name) {
            entry.summary = Some(summary);
        }
    }

    /// The names, and the files that are held.
    pub(super) fn files(&self) -> HashMap<String, Option<FileId>> {
        let list = self.list();
        let files = list
            .entries
            .iter()
            .map(|(name, entry)| (name.clone(), entry.held.as_ref().map(OpenHandle::id)));
        files.collect()
    }

    fn list(&self) -> MutexGuard<'_, KnownList> {
        self.0.lock().unpoisoned()
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
        let (known, identity) = (
            KnownBrains::default(),
            BrainIdentity {
                instance: Uuid::nil(),
                lineage: Uuid::nil(),
            },
        );
        let held = || known.list().held;
        known.closed("never opened", file.clone());
        assert!(!known.is_held("never opened"));
        for name in ["a", "b"] {
            known.opened(name, identity);
            assert!(known.is_held(name) && known.held(name).is_none());
            known.closed(name, file.clone());
            known.closed(name, file.clone());
            assert!(known.is_held(name) && known.held(name).is_some());
        }
        assert_eq!(held(), 2);
        known.opened("a", identity);
        assert_eq!(held(), 1);
        // What was open here is not known less for being adopted once more.
        known.adopted("a", None);
        known.adopted("c", Some(identity));
        assert!(known.is_held("a") && !known.is_held("c"));
        // If no file is held, one that is adopted later may be another brain.
        let other = BrainIdentity {
            instance: Uuid::max(),
            ..identity
        };
        known.adopted("c", Some(other));
        assert_eq!(known.identities()["c"], other);
        assert_eq!(
            (held(), known.identities().len(), known.names().len()),
            (1, 3, 3)
        );
        known.forget("a");
        known.forget("b");
        known.forget("b");
        assert_eq!(held(), 0);
    }
}
