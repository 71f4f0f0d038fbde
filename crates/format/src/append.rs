//! Append-only structures for one writer and any number of readers, without locks.
//!
//! Entries never move or change, so a reader needs only a bound and ignores entries past it. `AppendVec` is a vector
//! of doubling chunks; `Trie` maps keys to `u32`; `AtomicIndex` is a link of a chain (newest entry first).
//!
//! Promises: a reader that sees an index sees its entry (release on push, acquire on read). Pushes from two threads at
//! once are memory-safe but may panic: callers hold the writer's lock.
//! Not here: what the entries mean (`delta`).

use crate::sync::{AtomicU32, OnceLock, Ordering};

/// "No entry" in chains of indices.
pub const NONE: u32 = u32::MAX;

/// Entries of the first chunk; each next chunk is twice as large.
const FIRST_CHUNK: u32 = 32;
/// Chunks needed for 2³² entries.
const CHUNKS: usize = 28;

/// An append-only vector whose entries never move.
#[derive(Debug)]
pub struct AppendVec<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    len: AtomicU32,
}

impl<T> Default for AppendVec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> AppendVec<T> {
    /// An empty vector; allocates nothing.
    pub fn new() -> Self {
        Self {
            chunks: std::array::from_fn(|_| OnceLock::new()),
            len: AtomicU32::new(0),
        }
    }

    /// The number of entries.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len.load(Ordering::Acquire)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an entry and returns its index.
    ///
    /// # Panics
    /// At 2³² − 1 entries, which the limits on events and edges prevent.
    pub fn push(&self, value: T) -> u32 {
        let index = self.len.load(Ordering::Relaxed);
        assert!(index < NONE, "an append-only vector is full");
        let (chunk, at) = locate(index);
        let size = FIRST_CHUNK << chunk;
        let cells = self.chunks[chunk].get_or_init(|| (0..size).map(|_| OnceLock::new()).collect());
        let fresh = cells[at].set(value).is_ok();
        assert!(fresh, "two writers on one append-only vector");
        self.len.store(index + 1, Ordering::Release);
        index
    }

    /// The entry at `index`, if it has been pushed.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        if index == NONE {
            return None;
        }
        let (chunk, at) = locate(index);
        self.chunks[chunk].get()?[at].get()
    }

    /// The entries `0..len`, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The first index below `len` for which `before` is false; entries must be partitioned by it.
    pub fn partition_point(&self, len: u32, mut before: impl FnMut(&T) -> bool) -> u32 {
        let (mut from, mut to) = (0, len.min(self.len()));
        while from < to {
            let middle = from + (to - from) / 2;
            match self.get(middle) {
                Some(entry) if before(entry) => from = middle + 1,
                _ => to = middle,
            }
        }
        from
    }
}

/// The chunk of an index, and the index in that chunk.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + u64::from(FIRST_CHUNK);
    let chunk = 63 - shifted.leading_zeros() - FIRST_CHUNK.trailing_zeros();
    (
        chunk as usize,
        (shifted - (u64::from(FIRST_CHUNK) << chunk)) as usize,
    )
}

/// An index that a writer changes and readers follow: the head or a link of a chain.
#[derive(Debug)]
pub struct AtomicIndex(AtomicU32);

impl Default for AtomicIndex {
    fn default() -> Self {
        Self(AtomicU32::new(NONE))
    }
}

impl AtomicIndex {
    /// Links to `index`.
    pub fn to(index: u32) -> Self {
        Self(AtomicU32::new(index))
    }

    /// The index, or `NONE`.
    #[inline]
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Publishes `index` with release.
    #[inline]
    pub fn set(&self, index: u32) {
        self.0.store(index, Ordering::Release);
    }
}

/// An append-only map from keys to `u32`: a hash trie of 16-way nodes.
///
/// A lookup follows four bits of the key's hash per level; a leaf holds the whole key. No level is ever rebuilt, so an
/// insert costs the same in a map of ten as in one of ten million.
#[derive(Debug)]
pub struct Trie<K = u64> {
    nodes: AppendVec<[AtomicU32; 16]>,
    leaves: AppendVec<(K, u32)>,
}

/// A key of a `Trie`.
pub trait TrieKey: Copy + Eq {
    /// A hash of the key, independent for each `round`.
    fn hash(&self, round: u64) -> u64;
}

impl TrieKey for u64 {
    fn hash(&self, round: u64) -> u64 {
        mix(*self ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

impl TrieKey for u128 {
    fn hash(&self, round: u64) -> u64 {
        mix((*self as u64) ^ mix((*self >> 64) as u64 ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

impl TrieKey for (u64, u64, u8) {
    fn hash(&self, round: u64) -> u64 {
        mix(self.0
            ^ mix(self.1 ^ mix(u64::from(self.2) ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15))))
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// An empty entry of a trie node; other entries are an index · 2, plus 1 for a leaf.
const EMPTY: u32 = 0;

impl<K: TrieKey> Default for Trie<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: TrieKey> Trie<K> {
    /// An empty map; allocates nothing.
    pub fn new() -> Self {
        Self {
            nodes: AppendVec::new(),
            leaves: AppendVec::new(),
        }
    }

    /// The number of keys.
    pub fn len(&self) -> u32 {
        self.leaves.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`.
    #[inline]
    pub fn get(&self, key: K) -> Option<u32> {
        let mut node = self.nodes.get(0)?;
        let mut path = TriePath::new(&key);
        loop {
            let entry = node[path.next(&key)].load(Ordering::Acquire);
            if entry == EMPTY {
                return None;
            }
            if entry & 1 == 1 {
                let (found, value) = self.leaves.get(entry >> 1)?;
                return (*found == key).then_some(*value);
            }
            node = self.nodes.get(entry >> 1)?;
        }
    }

    /// Adds a key that is not there yet.
    pub fn insert(&self, key: K, value: u32) {
        let leaf = self.leaves.push((key, value)) << 1 | 1;
        if self.nodes.is_empty() {
            self.nodes.push(Default::default());
        }
        let mut at = 0;
        let mut path = TriePath::new(&key);
        loop {
            let Some(cell) = self.nodes.get(at).map(|node| &node[path.next(&key)]) else {
                return;
            };
            let entry = cell.load(Ordering::Relaxed);
            if entry == EMPTY {
                // Relaxed: a reader checks the leaf's key in `leaves`, and no other key's path ends here.
                cell.store(leaf, Ordering::Relaxed);
                return;
            }
            if entry & 1 == 0 {
                at = entry >> 1;
                continue;
            }
            // Two keys share this cell: build the levels on which their hashes agree, then publish them. Until then no
            // reader sees the new cells, so their stores are relaxed.
            let Some((other, _)) = self.leaves.get(entry >> 1) else {
                return;
            };
            let mut other_path = path.clone_for(other);
            let top = self.nodes.push(Default::default());
            let mut below = top;
            loop {
                let (a, b) = (path.next(&key), other_path.next(other));
                let Some(node) = self.nodes.get(below) else {
                    return;
                };
                if a != b {
                    node[a].store(leaf, Ordering::Relaxed);
                    node[b].store(entry, Ordering::Relaxed);
                    break;
                }
                let deeper = self.nodes.push(Default::default());
                node[a].store(deeper << 1, Ordering::Relaxed);
                below = deeper;
            }
            cell.store(top << 1, Ordering::Release);
            return;
        }
    }
}

/// The path of a key through the trie: four bits of hash per level, rehashed after sixteen levels.
struct TriePath {
    bits: u64,
    remaining: u32,
    round: u64,
}

impl TriePath {
    fn new<K: TrieKey>(key: &K) -> Self {
        Self {
            bits: key.hash(0),
            remaining: 16,
            round: 0,
        }
    }

    #[inline]
    fn next<K: TrieKey>(&mut self, key: &K) -> usize {
        if self.remaining == 0 {
            self.round += 1;
            self.bits = key.hash(self.round);
            self.remaining = 16;
        }
        let out = self.bits & 15;
        self.bits >>= 4;
        self.remaining -= 1;
        out as usize
    }

    /// The path of another key at the same depth.
    fn clone_for<K: TrieKey>(&self, key: &K) -> Self {
        let bits = if self.remaining == 0 {
            0
        } else {
            key.hash(self.round) >> (4 * (16 - self.remaining))
        };
        Self {
            bits,
            remaining: self.remaining,
            round: self.round,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_entries_keep_their_index() {
        let v = AppendVec::new();
        for i in 0..10_000u32 {
            assert_eq!(v.push(i * 3), i);
        }
        assert!((0..10_000).all(|i| v.get(i) == Some(&(i * 3))));
        assert_eq!(v.get(10_000), None);
        assert_eq!(v.get(NONE), None);
        assert_eq!(v.iter().next_back(), Some(&29_997));
        assert_eq!(v.partition_point(v.len(), |&x| x < 300), 100);
        assert_eq!(v.partition_point(50, |&x| x < 300), 50);
    }

    #[test]
    fn the_last_index_has_a_chunk() {
        assert_eq!(locate(0), (0, 0));
        assert_eq!(locate(31), (0, 31));
        assert_eq!(locate(32), (1, 0));
        assert!(locate(NONE - 1).0 < CHUNKS);
    }

    #[test]
    fn a_trie_finds_what_was_inserted_and_nothing_else() {
        let trie = Trie::<u64>::new();
        assert_eq!(trie.get(1), None);
        for i in 0..20_000u64 {
            trie.insert(i * 7, i as u32);
        }
        for i in 0..140_000u64 {
            assert_eq!(trie.get(i), (i % 7 == 0).then_some((i / 7) as u32));
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    struct CollidingKey(u32);

    impl TrieKey for CollidingKey {
        fn hash(&self, round: u64) -> u64 {
            // All keys agree on two whole rounds of hash.
            if round < 2 { 42 } else { u64::from(self.0) }
        }
    }

    #[test]
    fn colliding_hashes_only_make_the_trie_deeper() {
        let trie = Trie::new();
        for i in 0..50 {
            trie.insert(CollidingKey(i), i + 100);
        }
        assert!((0..50).all(|i| trie.get(CollidingKey(i)) == Some(i + 100)));
        assert_eq!(trie.get(CollidingKey(50)), None);
    }

    #[test]
    fn readers_see_whole_entries_while_a_writer_pushes() {
        let v = AppendVec::<(u64, u64)>::new();
        let trie = Trie::<u64>::new();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while v.len() < 50_000 {
                        let n = v.len();
                        if n > 0 {
                            let &(a, b) = v.get(n - 1).unwrap();
                            assert_eq!(a * 31, b);
                            if let Some(i) = trie.get(a) {
                                assert_eq!(v.get(i).unwrap().0, a);
                            }
                        }
                    }
                });
            }
            for i in 0..50_000u64 {
                let at = v.push((i, i * 31));
                trie.insert(i, at);
            }
        });
    }
}
