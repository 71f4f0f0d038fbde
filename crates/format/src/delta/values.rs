//! The index of the journal's attribute values: in memory, append-only, filled by the first filter that needs it.
//!
//! Each value (`attributes::values_of`) has a chain of the events that were created with it, newest first. One thread
//! adds events in the order of their ids; readers take no lock. What the journal changed later is in
//! `Events::described`: like the base's index, this one proposes events, and the filter decides.

use std::borrow::Cow;

use amem_locks::LockResultExt;

use crate::append::{AppendVec, AtomicIndex, NONE, Trie};
use crate::attributes;
use crate::error::Result;
use crate::sync::{AtomicU32, Mutex, Ordering};

/// The events of the delta by the values of their attributes.
#[derive(Debug, Default)]
pub struct DeltaValues {
    /// From the hash of a value to its index in `lists`.
    places: Trie<u64>,
    lists: AppendVec<ValueList>,
    postings: AppendVec<ValuePosting>,
    /// Events with too many values for lists.
    unlisted: AppendVec<u32>,
    /// The number of covered events; stored last.
    covered: AtomicU32,
    filling: Mutex<()>,
}

#[derive(Debug)]
struct ValueList {
    newest: AtomicIndex,
    count: AtomicU32,
}

#[derive(Debug)]
struct ValuePosting {
    /// The event, counted from the first of the delta.
    at: u32,
    older: u32,
}

impl DeltaValues {
    /// Covers at least the first `count` events of the delta. `json` returns the attributes that an event was created
    /// with, by its place in the delta.
    pub(crate) fn until<'t>(
        &self,
        count: u32,
        json: impl Fn(u32) -> Result<Option<Cow<'t, str>>>,
    ) -> Result<&Self> {
        if self.covered.load(Ordering::Acquire) < count {
            let _filling = self.filling.lock().unpoisoned();
            for at in self.covered.load(Ordering::Relaxed)..count {
                if let Some(json) = json(at)? {
                    self.add(at, &json);
                }
                self.covered.store(at + 1, Ordering::Release);
            }
        }
        Ok(self)
    }

    fn add(&self, at: u32, json: &str) {
        let Some(hashes) = attributes::values_of(json) else {
            self.unlisted.push(at);
            return;
        };
        for hash in hashes {
            let list = self
                .places
                .get(hash)
                .and_then(|place| self.lists.get(place));
            let older = list.map_or(NONE, |list| list.newest.get());
            let posting = self.postings.push(ValuePosting { at, older });
            match list {
                Some(list) => {
                    list.newest.set(posting);
                    list.count
                        .store(list.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                }
                None => {
                    let place = self.lists.push(ValueList {
                        newest: AtomicIndex::to(posting),
                        count: AtomicU32::new(1),
                    });
                    self.places.insert(hash, place);
                }
            }
        }
    }

    /// The number of events with a hash, at least those that a reader sees.
    pub fn count(&self, hash: u64) -> u64 {
        let list = self
            .places
            .get(hash)
            .and_then(|place| self.lists.get(place));
        list.map_or(0, |list| list.count.load(Ordering::Relaxed).into())
    }

    /// The events with a hash among the first `count` of the delta, newest first, by their places.
    pub fn events(&self, hash: u64, count: u32) -> impl Iterator<Item = u32> {
        let list = self
            .places
            .get(hash)
            .and_then(|place| self.lists.get(place));
        let mut next = list.map_or(NONE, |list| list.newest.get());
        let all = std::iter::from_fn(move || {
            let posting = self.postings.get(next)?;
            next = posting.older;
            Some(posting.at)
        });
        all.filter(move |&at| at < count)
    }

    /// Events with too many values for lists, ascending, by their places.
    pub fn unlisted(&self) -> impl Iterator<Item = u32> {
        self.unlisted.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::{ScalarValue, hash};

    #[test]
    fn events_are_listed_by_their_values_newest_first_and_up_to_a_bound() {
        let values = DeltaValues::default();
        let stored = [r#"{"a":"x"}"#, r#"{"a":["x","y"]}"#, "", r#"{"a":"x"}"#];
        let json = |at: u32| {
            let json = stored[at as usize];
            Ok((!json.is_empty()).then_some(Cow::Borrowed(json)))
        };
        let of = |text| hash(&mut b"a".to_vec(), &ScalarValue::Text(text));
        values.until(2, json).unwrap();
        assert_eq!(values.events(of("x"), 2).collect::<Vec<_>>(), [1, 0]);
        values.until(4, json).unwrap();
        assert_eq!(values.events(of("x"), 4).collect::<Vec<_>>(), [3, 1, 0]);
        assert_eq!(values.events(of("x"), 1).collect::<Vec<_>>(), [0]);
        assert_eq!(values.events(of("y"), 4).collect::<Vec<_>>(), [1]);
        assert_eq!((values.count(of("x")), values.count(of("z"))), (3, 0));
    }

    #[test]
    fn an_event_of_too_many_values_is_unlisted() {
        let values = DeltaValues::default();
        let many: Vec<String> = (0..300).map(|n| format!("\"k{n}\":{n}")).collect();
        let json = format!("{{{}}}", many.join(","));
        values
            .until(1, |_| Ok(Some(Cow::Borrowed(json.as_str()))))
            .unwrap();
        assert_eq!(values.unlisted().collect::<Vec<_>>(), [0]);
    }
}
