//! Cached heads: which event supersedes an event of the base in the end.
//!
//! A long chain of corrections costs a walk over all of it, and queries return to the same chains. An entry is valid
//! until a supersedes edge is added or retracted, or an event is forgotten or restored. So each entry has the number of
//! such changes since the base; readers with another number ignore it.
//!
//! Promises: no locks, because readers with the same number of changes compute the same heads. Sixteen bytes an event,
//! in pages allocated on first use.

use crate::sync::{AtomicU64, OnceLock, Ordering};
use crate::types::NodeId;

/// Events of a page.
const PAGE: usize = 64;

/// The cached heads of one base.
#[derive(Debug)]
pub(super) struct HeadCache {
    nodes: u64,
    /// Allocated with the first entry, so that opening a large brain to read one event costs nothing.
    pages: OnceLock<Box<[OnceLock<HeadPage>]>>,
}

type HeadPage = Box<[HeadEntry; PAGE]>;

/// The two heads of an event. In each word, the upper half is the number of changes plus one, the lower half the head's
/// id plus one; 0 is an empty entry.
#[derive(Debug, Default)]
struct HeadEntry {
    head: AtomicU64,
    shown: AtomicU64,
}

/// The cache as a reader with this number of changes sees it.
#[derive(Debug, Clone, Copy)]
pub struct CachedHeads<'a> {
    all: &'a HeadCache,
    changes: u32,
}

impl HeadCache {
    /// An empty cache for `nodes` events.
    pub(super) fn new(nodes: u64) -> Self {
        let pages = OnceLock::new();
        Self { nodes, pages }
    }

    /// The entries valid after `changes` changes since the base.
    pub(super) fn after(&self, changes: u32) -> CachedHeads<'_> {
        CachedHeads { all: self, changes }
    }
}

impl CachedHeads<'_> {
    /// The newest head of an event, and the newest visible event above it; `None` on a miss.
    pub fn get(self, id: NodeId) -> Option<(Option<NodeId>, Option<NodeId>)> {
        let page = self.all.pages.get()?.get((id.0 / PAGE as u64) as usize)?;
        let entry = &page.get()?[id.0 as usize % PAGE];
        Some((self.read(&entry.head)?, self.read(&entry.shown)?))
    }

    /// Caches the heads of an event; ignores events that are not in the base.
    pub fn set(self, id: NodeId, head: Option<NodeId>, shown: Option<NodeId>) {
        let count = self.all.nodes.div_ceil(PAGE as u64);
        let pages = || (0..count).map(|_| OnceLock::new()).collect();
        let pages = self.all.pages.get_or_init(pages);
        let Some(page) = pages.get((id.0 / PAGE as u64) as usize) else {
            return;
        };
        let page = page.get_or_init(|| Box::new(std::array::from_fn(|_| HeadEntry::default())));
        let entry = &page[id.0 as usize % PAGE];
        entry.head.store(self.packed(head), Ordering::Relaxed);
        entry.shown.store(self.packed(shown), Ordering::Relaxed);
    }

    fn read(self, word: &AtomicU64) -> Option<Option<NodeId>> {
        let word = word.load(Ordering::Relaxed);
        let is_of_now = word >> 32 == u64::from(self.changes) + 1;
        is_of_now.then(|| (word & u64::from(u32::MAX)).checked_sub(1).map(NodeId))
    }

    fn packed(self, id: Option<NodeId>) -> u64 {
        (u64::from(self.changes) + 1) << 32 | id.map_or(0, |id| id.0 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_valid_for_readers_with_the_same_number_of_changes() {
        let cache = HeadCache::new(100);
        let (seven, nine) = (Some(NodeId(7)), Some(NodeId(9)));
        assert_eq!(cache.after(0).get(NodeId(5)), None);
        cache.after(0).set(NodeId(5), None, seven);
        cache.after(0).set(NodeId(99), nine, nine);
        assert_eq!(cache.after(0).get(NodeId(5)), Some((None, seven)));
        assert_eq!(cache.after(0).get(NodeId(99)), Some((nine, nine)));
        assert_eq!(cache.after(0).get(NodeId(6)), None);
        assert_eq!(cache.after(1).get(NodeId(5)), None);
        cache.after(1).set(NodeId(5), seven, None);
        assert_eq!(cache.after(1).get(NodeId(5)), Some((seven, None)));
        assert_eq!(cache.after(0).get(NodeId(5)), None, "it was overwritten");
    }

    #[test]
    fn events_outside_the_base_are_ignored() {
        let cache = HeadCache::new(3);
        for id in [64, u64::MAX] {
            cache.after(0).set(NodeId(id), None, None);
            assert_eq!(cache.after(0).get(NodeId(id)), None);
        }
        let none = HeadCache::new(0);
        none.after(0).set(NodeId(0), None, None);
        assert_eq!(none.after(0).get(NodeId(0)), None);
    }
}
