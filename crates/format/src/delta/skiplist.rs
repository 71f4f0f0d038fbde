//! An append-only ordered set: a skip list for one writer and any number of readers, without locks
//! (Pugh: Skip lists, a probabilistic alternative to balanced trees, 1990).

use crate::append::{AppendVec, AtomicIndex, NONE};

/// Levels above the lowest; one in four entries reaches each next level.
const LEVELS: usize = 14;

/// An ordered set.
#[derive(Debug)]
pub struct SkipList<K> {
    entries: AppendVec<SkipNode<K>>,
    heads: [AtomicIndex; LEVELS],
}

#[derive(Debug)]
struct SkipNode<K> {
    key: K,
    next: Box<[AtomicIndex]>,
}

impl<K> Default for SkipList<K> {
    fn default() -> Self {
        Self {
            entries: AppendVec::new(),
            heads: Default::default(),
        }
    }
}

impl<K: Copy> SkipList<K> {
    /// The number of keys.
    pub fn len(&self) -> u32 {
        self.entries.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a key behind those for which `is_before` is true: a prefix in the caller's order.
    pub fn insert_after(&self, key: K, is_before: impl Fn(&K) -> bool) {
        let height = height(self.entries.len());
        let mut before = [NONE; LEVELS];
        let mut at = NONE;
        for level in (0..LEVELS).rev() {
            while let Some((next, entry)) = self.follow(at, level)
                && is_before(&entry.key)
            {
                at = next;
            }
            before[level] = at;
        }
        let next = (0..height).map(|level| {
            AtomicIndex::to(
                self.link(before[level], level)
                    .map_or(NONE, AtomicIndex::get),
            )
        });
        let index = self.entries.push(SkipNode {
            key,
            next: next.collect(),
        });
        // From the lowest level up: a reader that reaches the entry can continue on every level below.
        for (level, &previous) in before.iter().enumerate().take(height) {
            if let Some(link) = self.link(previous, level) {
                link.set(index);
            }
        }
    }

    /// The keys behind those for which `is_before` is true, in order.
    pub fn range_after<'s>(
        &'s self,
        is_before: impl Fn(&K) -> bool + 's,
    ) -> impl Iterator<Item = K> + 's {
        let mut at = NONE;
        for level in (0..LEVELS).rev() {
            while let Some((next, entry)) = self.follow(at, level)
                && is_before(&entry.key)
            {
                at = next;
            }
        }
        // A key inserted meanwhile may follow `at` and still be before.
        self.walk(at).skip_while(is_before)
    }

    /// All keys, ascending.
    pub fn iter(&self) -> impl Iterator<Item = K> + '_ {
        self.walk(NONE)
    }

    fn walk(&self, mut at: u32) -> impl Iterator<Item = K> + '_ {
        std::iter::from_fn(move || {
            let (next, entry) = self.follow(at, 0)?;
            at = next;
            Some(entry.key)
        })
    }

    /// Adds a key. Duplicates are not detected.
    pub fn insert(&self, key: K)
    where
        K: Ord,
    {
        self.insert_after(key, |other| *other < key);
    }

    /// The keys that are at least `from`, ascending.
    pub fn range_from<'s>(&'s self, from: K) -> impl Iterator<Item = K> + 's
    where
        K: Ord + 's,
    {
        self.range_after(move |key| *key < from)
    }

    /// The largest key less than `bound`: one step of a descending scan.
    pub fn last_before(&self, bound: K) -> Option<K>
    where
        K: Ord,
    {
        let mut at = NONE;
        for level in (0..LEVELS).rev() {
            while let Some((next, entry)) = self.follow(at, level)
                && entry.key < bound
            {
                at = next;
            }
        }
        self.entries.get(at).map(|entry| entry.key)
    }

    /// The largest key.
    pub fn last(&self) -> Option<K> {
        let mut at = NONE;
        for level in (0..LEVELS).rev() {
            while let Some((next, _)) = self.follow(at, level) {
                at = next;
            }
        }
        self.entries.get(at).map(|entry| entry.key)
    }

    fn link(&self, at: u32, level: usize) -> Option<&AtomicIndex> {
        if at == NONE {
            self.heads.get(level)
        } else {
            self.entries.get(at)?.next.get(level)
        }
    }

    fn follow(&self, at: u32, level: usize) -> Option<(u32, &SkipNode<K>)> {
        let next = self.link(at, level)?.get();
        Some((next, self.entries.get(next)?))
    }
}

/// One level, and one more for every fourth entry of each level; chosen by a hash of the index.
fn height(index: u32) -> usize {
    let hash = (u64::from(index) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 + (hash.leading_zeros() as usize / 2).min(LEVELS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_skip_list_is_an_ordered_set() {
        let (list, mut set) = (SkipList::default(), BTreeSet::new());
        let mut x = 1u64;
        for _ in 0..5_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = x >> 40;
            if set.insert(key) {
                list.insert(key);
            }
        }
        assert!(list.iter().eq(set.iter().copied()));
        assert_eq!(list.last(), set.last().copied());
        for bound in (0..1 << 24).step_by(99_991) {
            assert!(
                list.range_from(bound)
                    .take(5)
                    .eq(set.range(bound..).copied().take(5))
            );
            assert_eq!(
                list.last_before(bound),
                set.range(..bound).next_back().copied()
            );
        }
        let heights: usize = (0..100_000).map(height).sum();
        assert!((120_000..150_000).contains(&heights), "{heights}");
    }
}
