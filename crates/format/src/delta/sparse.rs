//! An append-only map from ids of the base to `u32`, for one writer and any number of readers, without locks.
//!
//! A radix tree: two levels of pointers above leaves of 64 values. The pointers of a brain of 100,000 events take
//! 25 KiB, so a lookup misses the near caches once, at the leaf. A leaf takes 256 bytes, even for a single id.
//!
//! Promises: an insert costs the same in a map of ten as in one of ten million; a reader that finds an id finds its
//! value. Not here: keys other than ids (`append::Trie`).

use crate::sync::{AtomicU32, OnceLock, Ordering};
use amem_kernels::prefetch;

/// Ids of a leaf.
const LEAF: u64 = 64;
/// Leaves of a block.
const LEAVES: usize = 512;
/// Ids of a block.
const BLOCK: u64 = LEAF * LEAVES as u64;

/// Values plus one, by id; 0 if there is none.
type Leaf = [AtomicU32; LEAF as usize];
type LeafBlock = [OnceLock<Box<Leaf>>; LEAVES];

/// The map.
#[derive(Debug)]
pub struct Sparse {
    blocks: Box<[OnceLock<Box<LeafBlock>>]>,
}

impl Sparse {
    /// Empty, for ids below a bound.
    pub fn new(bound: u64) -> Self {
        let blocks = bound.div_ceil(BLOCK);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The value of an id.
    #[inline]
    pub fn get(&self, id: u64) -> Option<u32> {
        self.leaf(id)?[at(id)]
            .load(Ordering::Acquire)
            .checked_sub(1)
    }

    /// Prefetches the value of an id.
    #[inline]
    pub fn expect(&self, id: u64) {
        if let Some(leaf) = self.leaf(id) {
            prefetch(leaf, at(id));
        }
    }

    /// Sets the value of an id; it must be less than `u32::MAX`. An id past the bound is ignored.
    pub fn insert(&self, id: u64, value: u32) {
        let Some(block) = self.blocks.get((id / BLOCK) as usize) else {
            return;
        };
        let block = block.get_or_init(|| Box::new(std::array::from_fn(|_| OnceLock::new())));
        let leaf = block[(id % BLOCK / LEAF) as usize]
            .get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU32::new(0))));
        leaf[at(id)].store(value + 1, Ordering::Release);
    }

    #[inline]
    fn leaf(&self, id: u64) -> Option<&Leaf> {
        let block = self.blocks.get((id / BLOCK) as usize)?.get()?;
        Some(block[(id % BLOCK / LEAF) as usize].get()?)
    }
}

/// The index of an id in its leaf.
#[inline]
fn at(id: u64) -> usize {
    (id % LEAF) as usize
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn an_id_leads_to_its_value_and_every_other_nowhere() {
        let map = Sparse::new(7_000_001);
        assert_eq!(map.get(0), None);
        let ids = [5, 0, 63, 64, 32_767, 32_768, 262_143, 262_144, 7_000_000];
        for (at, &id) in ids.iter().enumerate() {
            assert_eq!(map.get(id), None, "{id}");
            map.insert(id, at as u32);
            for (before, &id) in ids[..=at].iter().enumerate() {
                assert_eq!(map.get(id), Some(before as u32), "{id}");
            }
        }
        for id in (0..300_000).chain([6_999_999, 7_000_001, 1 << 36, u64::MAX]) {
            let place = ids.iter().position(|&known| known == id);
            assert_eq!(map.get(id), place.map(|at| at as u32), "{id}");
        }
        map.insert(u64::MAX, 1);
        assert_eq!(map.get(u64::MAX), None);
    }

    #[test]
    fn readers_see_what_was_inserted_while_the_map_grows() {
        let map = Sparse::new(20_001 * 37);
        let newest = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while newest.load(Ordering::Acquire) < 20_000 {
                    let until = newest.load(Ordering::Acquire);
                    for at in [until / 2, until].into_iter().filter(|&at| at > 0) {
                        assert_eq!(map.get(at * 37), Some(at as u32));
                    }
                }
            });
            for at in 1..=20_000 {
                map.insert(at * 37, at as u32);
                newest.store(at, Ordering::Release);
            }
        });
    }
}
