//! Models of the structures of the delta: one writer, one reader that looks whenever it likes.

use std::sync::Arc;

use super::event_set::EventSet;
use super::skiplist::SkipList;
use super::sparse::Sparse;
use crate::append::{AppendVec, AtomicIndex, Trie, TrieKey};
use crate::spawn;
use crate::types::NodeId;

/// Runs a reader beside a writer, to the end of both.
pub(crate) fn beside<T: Send + Sync + 'static>(
    shared: T,
    write: impl FnOnce(&T),
    read: impl FnOnce(&T) + Send + 'static,
) {
    let shared = Arc::new(shared);
    let theirs = shared.clone();
    let reader = spawn(move || read(&theirs));
    write(&shared);
    reader.join().expect("a reader that ends");
}

/// A thread that sees a length sees the entries, also where the next chunk begins.
pub(crate) fn vector() {
    let vector = AppendVec::new();
    for at in 0..31u64 {
        vector.push((at, at * 31));
    }
    let write = |vector: &AppendVec<(u64, u64)>| {
        for at in 31..33 {
            vector.push((at, at * 31));
        }
    };
    beside(vector, write, |vector| {
        let len = vector.len();
        for at in 30..len {
            let entry = vector.get(at).copied();
            let at = u64::from(at);
            assert_eq!(entry, Some((at, at * 31)), "wrong: entry {at} of {len}");
        }
    });
}

/// A thread that follows a chain sees whole entries, newest first, to its end.
pub(crate) fn chain() {
    #[derive(Default)]
    struct Chain(AppendVec<(u32, u32)>, AtomicIndex);
    let push = |Chain(entries, newest): &Chain, value| {
        newest.set(entries.push((value, newest.get())));
    };
    let chain = Chain::default();
    push(&chain, 0);
    let write = |chain: &Chain| {
        push(chain, 1);
        push(chain, 2);
    };
    beside(chain, write, |Chain(entries, newest)| {
        let mut at = newest.get();
        let mut expected = at;
        while at != crate::append::NONE {
            let Some((value, older)) = entries.get(at) else {
                panic!("wrong: the chain is cut at {at}");
            };
            assert_eq!(*value, expected, "wrong: an entry of the chain");
            (at, expected) = (*older, expected.wrapping_sub(1));
        }
        assert_eq!(expected, u32::MAX, "wrong: the chain is too short");
    });
}

/// Keys of which the first three agree on their way for two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CollidingKey(u32);

impl TrieKey for CollidingKey {
    fn hash(&self, _: u64) -> u64 {
        match self.0 {
            3 => 5,
            n => u64::from(n) << 8 | 0x42,
        }
    }
}

/// A key that was there is found at any moment, and a thread that finds a new one sees its value.
pub(crate) fn trie() {
    #[derive(Default)]
    struct Map(Trie<CollidingKey>, AppendVec<u32>);
    let insert = |Map(trie, values): &Map, key| trie.insert(CollidingKey(key), values.push(key));
    let map = Map::default();
    insert(&map, 0);
    let write = |map: &Map| {
        insert(map, 1);
        insert(map, 3);
    };
    beside(map, write, |Map(trie, values)| {
        for key in [3, 1, 0] {
            let found = trie.get(CollidingKey(key));
            assert!(found.is_some() || key > 0, "wrong: a key is lost");
            if let Some(at) = found {
                assert_eq!(values.get(at), Some(&key), "wrong: what a key leads to");
            }
        }
    });
}

/// A thread that finds an id sees what was pushed before it was inserted.
pub(crate) fn sparse() {
    struct Map(Sparse, AppendVec<u64>);
    let insert = |Map(sparse, values): &Map, id| sparse.insert(id, values.push(id));
    let map = Map(Sparse::new(100), AppendVec::new());
    let write = |map: &Map| {
        insert(map, 70);
        insert(map, 71);
    };
    beside(map, write, |Map(sparse, values)| {
        for id in [71, 70] {
            if let Some(at) = sparse.get(id) {
                assert_eq!(values.get(at), Some(&id), "wrong: what an id leads to");
            }
        }
    });
}

/// A thread that sees the bit of an event sees what was pushed before; other bits stay.
pub(crate) fn touched() {
    struct TouchLog(EventSet, AppendVec<u64>);
    let say = |TouchLog(touched, said): &TouchLog, id| {
        said.push(id);
        touched.add(NodeId(id));
    };
    let all = TouchLog(EventSet::new(100), AppendVec::new());
    say(&all, 1);
    let write = |all: &TouchLog| {
        say(all, 2);
        say(all, 65);
    };
    beside(all, write, |TouchLog(touched, said)| {
        assert!(touched.has(NodeId(1)), "wrong: a bit is lost");
        if touched.word(0) == 0b110 {
            assert_eq!(said.get(1), Some(&2), "wrong: a bit without an entry");
        }
        if touched.has(NodeId(65)) {
            assert_eq!(said.get(2), Some(&65), "wrong: a bit without an entry");
            assert!(touched.has(NodeId(2)), "wrong: an earlier bit");
        }
    });
}

/// A key that was there is found at any moment, from either side, and what is met ascends.
pub(crate) fn ordered() {
    let list = SkipList::default();
    for key in [10, 30] {
        list.insert(key);
    }
    let write = |list: &SkipList<u32>| {
        for key in [20, 5] {
            list.insert(key);
        }
    };
    beside(list, write, |list| {
        let all: Vec<_> = list.iter().collect();
        assert!(all.is_sorted(), "wrong: {all:?} is not in order");
        let missed = [10, 30].into_iter().any(|key| !all.contains(&key));
        assert!(!missed, "wrong: {all:?} lacks a key that was there");
        let next = list.range_from(25).next();
        assert_eq!(next, Some(30), "wrong: the next key");
        assert_eq!(list.last(), Some(30), "wrong: the last key");
    });
}
