//! A brain on a simulated disk with items, and a clock that the test moves.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use amem_facts::{FactBrain, SpaceEmbedder};
use amem_format::types::{Lsn, Micros};
use amem_format::view::View;
use amem_items::{
    Item, ItemChange, ItemFilter, ItemIndex, ItemName, ItemPut, ItemRanking, ItemSearch, ItemState,
    Items, KeptRequest, NamespaceList, NamespacePattern, Prefix,
};
use amem_store::disk::Disk;
use amem_store::mutation::{Answer, Mutation, Request};
use amem_store::{Folder, NewBrain, Store, create};
use amem_tests::disk::SimDisk;
use serde_json::Value;

/// The present of the first call.
pub(crate) const START: i64 = 1_700_000_000_000_000;
pub(crate) const SECOND: i64 = 1_000_000;

/// A store as `FactBrain`.
pub(crate) struct StoreBrain {
    pub(crate) store: Mutex<Store>,
    /// Commits that were made.
    pub(crate) commits: AtomicU32,
}

impl FactBrain for StoreBrain {
    fn view(&self) -> View {
        self.store.lock().unwrap().view()
    }

    fn commit(&self, mutation: Mutation) -> amem_engine::Result<Answer> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let request = Request::new(mutation).by("uid:1", "test");
        Ok(self.store.lock().unwrap().execute(request)?)
    }

    fn commit_after(&self, mutation: Mutation, lsn: Lsn) -> amem_engine::Result<Answer> {
        let request = Request {
            expected_lsn: Some(lsn),
            ..Request::new(mutation).by("uid:1", "test")
        };
        Ok(self.store.lock().unwrap().execute(request)?)
    }
}

pub(crate) struct Bench {
    disk: Arc<SimDisk>,
    pub(crate) brain: StoreBrain,
    state: ItemState,
    pub(crate) clock: Cell<i64>,
}

/// Labels of a text such as `a/b`.
pub(crate) fn labels(text: &str) -> Vec<String> {
    let labels = text.split('/').filter(|label| !label.is_empty());
    labels.map(str::to_owned).collect()
}

pub(crate) fn name(namespace: &str, key: &str) -> ItemName {
    ItemName::new(labels(namespace), key.into()).unwrap()
}

pub(crate) fn put(namespace: &str, key: &str, value: &Value) -> ItemChange {
    put_with(namespace, key, value, &ItemIndex::Texts, None)
}

pub(crate) fn put_with(
    namespace: &str,
    key: &str,
    value: &Value,
    index: &ItemIndex,
    ttl: Option<i64>,
) -> ItemChange {
    let put = ItemPut::new(name(namespace, key), value.to_string(), index, ttl);
    ItemChange::Put(put.unwrap())
}

pub(crate) fn search(prefix: &str) -> ItemSearch {
    ItemSearch {
        prefix: Prefix::new(labels(prefix)).unwrap(),
        limit: 100,
        ..ItemSearch::default()
    }
}

pub(crate) fn filtered(prefix: &str, filter: &Value) -> ItemSearch {
    ItemSearch {
        filter: ItemFilter::parse(&filter.to_string()).unwrap(),
        ..search(prefix)
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let disk = Arc::new(SimDisk::new(1));
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
        create(&folder, "b", &NewBrain::default()).unwrap();
        let store = Store::open(&folder, "b").unwrap();
        Self::of(disk, store, START)
    }

    fn of(disk: Arc<SimDisk>, store: Store, clock: i64) -> Self {
        let brain = StoreBrain {
            store: Mutex::new(store),
            commits: AtomicU32::new(0),
        };
        Self {
            disk,
            brain,
            state: ItemState::default(),
            clock: Cell::new(clock),
        }
    }

    /// The brain after a stop: everything in memory is gone.
    pub(crate) fn reopened(self) -> Self {
        let Self {
            disk, brain, clock, ..
        } = self;
        drop(brain);
        let disk = Arc::new(disk.cloned());
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
        let store = Store::open(&folder, "b").unwrap();
        Self::of(disk, store, clock.get())
    }

    pub(crate) fn now(&self) -> Micros {
        Micros(self.clock.get())
    }

    pub(crate) fn wait(&self, micros: i64) {
        self.clock.set(self.clock.get() + micros);
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&Items<'_>) -> T) -> T {
        let embedder = SpaceEmbedder::of(&self.brain.view(), None);
        work(&Items {
            brain: &self.brain,
            state: &self.state,
            embedder: &embedder,
            now: self.now(),
        })
    }

    pub(crate) fn change(&self, changes: &[ItemChange]) -> Vec<bool> {
        self.with(|items| items.change(changes, None).unwrap())
    }

    pub(crate) fn repeat(
        &self,
        changes: &[ItemChange],
        kept: &KeptRequest,
    ) -> amem_items::Result<Vec<bool>> {
        self.with(|items| items.change(changes, Some(kept)))
    }

    pub(crate) fn get(&self, name: &ItemName, is_refreshing: bool) -> Option<Item> {
        self.with(|items| {
            let read = items.get(&items.view(), name, is_refreshing).unwrap();
            items.refresh(&read).unwrap();
            items.forget_expired(&read).unwrap();
            read.answer
        })
    }

    pub(crate) fn value(&self, namespace: &str, key: &str) -> Option<Value> {
        let item = self.get(&name(namespace, key), false);
        item.map(|item| serde_json::from_str(&item.value_json).unwrap())
    }

    pub(crate) fn search(&self, search: &ItemSearch) -> ItemRanking {
        self.with(|items| {
            let read = items.search(&items.view(), search).unwrap();
            items.refresh(&read).unwrap();
            items.forget_expired(&read).unwrap();
            read.answer
        })
    }

    /// The keys of what is found, in order.
    pub(crate) fn keys(&self, search: &ItemSearch) -> Vec<String> {
        let hits = self.search(search).hits.into_iter();
        hits.map(|hit| hit.item.name.key().to_owned()).collect()
    }

    pub(crate) fn namespaces(
        &self,
        (prefix, suffix): (&str, &str),
        depth_max: Option<usize>,
        (skip, limit): (usize, usize),
    ) -> Vec<String> {
        let list = NamespaceList {
            pattern: NamespacePattern::new(labels(prefix), labels(suffix)).unwrap(),
            depth_max,
            after: None,
            skip,
            limit,
        };
        let page = self.with(|items| items.namespaces(&items.view(), &list).unwrap());
        page.namespaces.iter().map(|one| one.join("/")).collect()
    }
}
