//! Events visited by a walk: a map from event to number, and a set that turns into a bitmap when it grows.
//!
//! Both cost in proportion to the events visited, not to the brain. The hash is a multiplication with a random odd
//! number per table, so that no file can force collisions; nothing depends on the order of slots.

use std::hash::{BuildHasher, RandomState};

use amem_format::types::NodeId;

/// Initial slots: enough for a chain of a hundred, and cheaper to fill than one growth.
const SLOTS: usize = 256;
/// Marks a free slot: ids are smaller, by the limit on events.
const EMPTY: u32 = u32::MAX;
/// Up to this many events in the brain, a bitmap costs less than a table.
const BITS_AT_ONCE: u64 = 1 << 17;

/// A map from event to number.
#[derive(Debug)]
pub(crate) struct NodeMap {
    slots: Vec<(u32, u32)>,
    len: usize,
    multiplier: u64,
    shift: u32,
}

impl NodeMap {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![(EMPTY, 0); SLOTS],
            len: 0,
            multiplier: RandomState::new().hash_one(0) | 1,
            shift: 64 - SLOTS.trailing_zeros(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: NodeId) -> Option<u32> {
        let (key, number) = self.slots[self.find(id.0 as u32)];
        (key != EMPTY && u64::from(key) == id.0).then_some(number)
    }

    /// Returns the number of an event; if it has none, stores this one and returns `None`.
    #[inline]
    pub(crate) fn put(&mut self, id: NodeId, number: u32) -> Option<u32> {
        let at = self.find(id.0 as u32);
        let slot = &mut self.slots[at];
        if slot.0 != EMPTY {
            return Some(slot.1);
        }
        *slot = (id.0 as u32, number);
        self.len += 1;
        if self.len * 2 > self.slots.len() {
            self.grow();
        }
        None
    }

    /// The slot of a key, or the free slot for it.
    #[inline]
    fn find(&self, key: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (u64::from(key).wrapping_mul(self.multiplier) >> self.shift) as usize & mask;
        loop {
            let found = self.slots[at].0;
            if found == key || found == EMPTY {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![(EMPTY, 0); 4 * self.slots.len()];
        self.shift -= 2;
        for entry in std::mem::replace(&mut self.slots, slots) {
            if entry.0 != EMPTY {
                let at = self.find(entry.0);
                self.slots[at] = entry;
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct VisitedSet {
    /// One bit per event; empty while `table` is used.
    bits: Vec<u64>,
    table: Option<NodeMap>,
    nodes: u64,
}

impl VisitedSet {
    /// An empty set for a brain of `nodes` events.
    pub(crate) fn new(nodes: u64) -> Self {
        let is_small = nodes <= BITS_AT_ONCE;
        Self {
            bits: vec![0; if is_small { words(nodes) } else { 0 }],
            table: (!is_small).then(NodeMap::new),
            nodes,
        }
    }

    /// True if the set is a bitmap.
    #[inline]
    pub(crate) fn is_bits(&self) -> bool {
        self.table.is_none()
    }

    /// Adds an event; true if it is new. An id beyond the brain counts as present.
    #[inline]
    pub(crate) fn add(&mut self, id: NodeId) -> bool {
        if self.table.is_some() {
            return self.add_to_table(id);
        }
        self.add_bit(id)
    }

    /// `add` for a bitmap.
    #[inline(always)]
    pub(crate) fn add_bit(&mut self, id: NodeId) -> bool {
        let Some(word) = self.bits.get_mut((id.0 / 64) as usize) else {
            return false;
        };
        let bit = 1 << (id.0 % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn add_to_table(&mut self, id: NodeId) -> bool {
        let Some(table) = self.table.as_mut().filter(|_| id.0 < u64::from(EMPTY)) else {
            return false;
        };
        let is_new = table.put(id, 0).is_none();
        if table.slots.len() as u64 > self.nodes / 64 {
            // The system provides zeroed pages on first use.
            self.bits = vec![0; words(self.nodes)];
            if let Some(table) = self.table.take() {
                for (key, _) in table.slots.into_iter().filter(|slot| slot.0 != EMPTY) {
                    self.add_bit(NodeId(key.into()));
                }
            }
        }
        is_new
    }
}

fn words(nodes: u64) -> usize {
    (nodes / 64 + 1) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn ids(seed: u64, below: u64) -> impl Iterator<Item = NodeId> {
        let mut state = seed;
        std::iter::repeat_with(move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            NodeId((state >> 33) % below)
        })
    }

    #[test]
    fn places_are_those_of_a_plain_map() {
        let (mut places, mut plain) = (NodeMap::new(), HashMap::new());
        for (i, id) in ids(1, 5_000).take(20_000).enumerate() {
            assert_eq!(places.get(id), plain.get(&id).copied());
            assert_eq!(places.put(id, i as u32), plain.get(&id).copied());
            plain.entry(id).or_insert(i as u32);
        }
        assert_eq!(places.len, plain.len());
    }

    #[test]
    fn a_set_of_few_or_many_is_a_plain_set() {
        for nodes in [10, 1_000, 1 << 17, 1 << 20, 1 << 22] {
            let (mut met, mut plain) = (VisitedSet::new(nodes), HashSet::new());
            for id in ids(nodes, nodes).take(100_000) {
                assert_eq!(met.add(id), plain.insert(id), "{id} of {nodes}");
            }
            assert!(met.table.is_none(), "{nodes}");
        }
    }
}
