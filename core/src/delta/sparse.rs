//! A map from the ids of a brain to `u32` that only grows, for one writer and any number of readers, without locks.
//!
//! A tree of 64-way nodes by the digits of the id, as high as the largest id needs. Ids near each other share their
//! nodes, so a lookup costs fewer steps, and fewer of them miss the cache, than in a trie of hashes. A node of few ids
//! is wasted in part: 256 bytes a level for one that stands alone.
//!
//! Promises: inserting costs the same in a map of ten as in one of ten million; a reader that finds an id finds the
//! value that was inserted. Not here: keys that are anything but ids (`append::Trie`).

use std::array;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::append::AppendVec;

/// Bits of a digit.
const BITS: u32 = 6;
/// The largest digit.
const LAST: u64 = (1 << BITS) - 1;

type Node = [AtomicU32; 1 << BITS];

/// The map. Cells hold what they lead to, plus one; 0 leads nowhere.
#[derive(Debug, Default)]
pub struct Sparse {
    nodes: AppendVec<Node>,
    /// Levels in the upper half, the topmost node in the lower. No level, no node.
    root: AtomicU64,
}

impl Sparse {
    /// The value of an id.
    #[inline]
    pub fn get(&self, id: u64) -> Option<u32> {
        let (mut levels, mut node) = unpack(self.root.load(Ordering::Acquire));
        if !reaches(levels, id) {
            return None;
        }
        loop {
            levels -= 1;
            let cell = &self.nodes.get(node)?[digit(id, levels)];
            let found = cell.load(Ordering::Acquire).checked_sub(1)?;
            if levels == 0 {
                return Some(found);
            }
            node = found;
        }
    }

    /// Gives an id a value, which is not the largest `u32`.
    pub fn insert(&self, id: u64, value: u32) {
        let (mut levels, mut node) = unpack(self.root.load(Ordering::Relaxed));
        while !reaches(levels, id) {
            let below = (levels > 0).then_some(node);
            node = self.push(below);
            levels += 1;
            let root = u64::from(levels) << 32 | u64::from(node);
            self.root.store(root, Ordering::Release);
        }
        loop {
            levels -= 1;
            let Some(cell) = self.nodes.get(node).map(|node| &node[digit(id, levels)]) else {
                return;
            };
            if levels == 0 {
                return cell.store(value + 1, Ordering::Release);
            }
            node = match cell.load(Ordering::Relaxed).checked_sub(1) {
                Some(below) => below,
                None => {
                    let below = self.push(None);
                    cell.store(below + 1, Ordering::Release);
                    below
                }
            };
        }
    }

    /// A node more, whose first digit leads to another.
    fn push(&self, first: Option<u32>) -> u32 {
        let node: Node = array::from_fn(|_| AtomicU32::new(0));
        node[0].store(first.map_or(0, |first| first + 1), Ordering::Relaxed);
        self.nodes.push(node)
    }
}

fn unpack(root: u64) -> (u32, u32) {
    ((root >> 32) as u32, root as u32)
}

/// True if so many levels have a place for an id.
fn reaches(levels: u32, id: u64) -> bool {
    levels > 0 && id.checked_shr(BITS * levels).unwrap_or(0) == 0
}

fn digit(id: u64, level: u32) -> usize {
    (id >> (BITS * level) & LAST) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_to_its_value_and_every_other_nowhere() {
        let map = Sparse::default();
        assert_eq!(map.get(0), None);
        let ids = [
            5,
            0,
            63,
            64,
            4_095,
            4_096,
            262_143,
            262_144,
            7_000_000,
            u64::from(u32::MAX),
        ];
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
    }

    #[test]
    fn readers_see_what_was_inserted_while_the_map_grows() {
        let map = Sparse::default();
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
