//! Postings of new texts by term, compact in memory.

use super::COUNT_MAX;
use crate::analyzer::{Analyzer, Numbers};
use crate::error::{Error, Result};
use crate::limits::NODES_MAX;

/// The terms of new texts.
#[derive(Debug, Default)]
pub(super) struct NewTerms {
    /// Terms in each text, from the first id on.
    pub(super) lengths: Vec<u16>,
    /// Ascending by term.
    pub(super) terms: Vec<(Box<str>, PostingList)>,
}

/// Postings of one term, as varints: gaps between ids, frequencies.
#[derive(Debug, Default)]
pub(super) struct PostingList {
    bytes: Vec<u8>,
    next: u32,
    /// The event being counted, and its occurrences so far.
    open: (u32, u32),
    pub(super) count: u32,
}

impl NewTerms {
    /// Reads texts whose ids ascend from `first` on; skipped and dropped ids have no text.
    pub(super) fn read<T: AsRef<str>>(
        first: u32,
        texts: impl IntoIterator<Item = Result<(u32, T)>>,
        dropped: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let analyzer = Analyzer::new();
        let mut numbers = Numbers::default();
        let mut lengths = Vec::new();
        let mut lists: Vec<PostingList> = Vec::new();
        let mut occurrences = Vec::new();
        for item in texts {
            let (id, text) = item?;
            Error::check_limit("event id", u64::from(id), NODES_MAX - 1)?;
            let at = id.checked_sub(first).map(|at| at as usize);
            let Some(at) = at.filter(|&at| at >= lengths.len()) else {
                return Err(Error::invalid(
                    "texts",
                    format!("event {id} follows a later one"),
                ));
            };
            lengths.resize(at + 1, 0);
            if dropped(id) {
                continue;
            }
            occurrences.clear();
            let length = numbers.read(&analyzer, text.as_ref(), &mut occurrences);
            lengths[at] = length.min(COUNT_MAX) as u16;
            lists.resize_with(numbers.len(), PostingList::default);
            occurrences
                .iter()
                .for_each(|&term| lists[term as usize].add(id));
        }
        let mut terms: Vec<_> = numbers
            .into_terms()
            .map(|(term, at)| {
                let mut list = std::mem::take(&mut lists[at as usize]);
                list.close();
                (term, list)
            })
            .collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Self { lengths, terms })
    }
}

impl PostingList {
    /// Counts one occurrence. Those of one event arrive one after the other.
    fn add(&mut self, id: u32) {
        if self.open.1 > 0 && self.open.0 == id {
            self.open.1 += 1;
        } else {
            self.close();
            self.open = (id, 1);
        }
    }

    /// Appends the posting of the event being counted.
    fn close(&mut self) {
        let (id, times) = std::mem::take(&mut self.open);
        if times > 0 {
            self.push(id, times);
        }
    }

    fn push(&mut self, id: u32, tf: u32) {
        push_number(&mut self.bytes, id - self.next);
        push_number(&mut self.bytes, tf.min(COUNT_MAX));
        self.next = id + 1;
        self.count += 1;
    }

    /// The postings, ids ascending, with frequencies.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut bytes = self.bytes.iter().copied();
        let mut next = 0;
        std::iter::from_fn(move || {
            let id = next + take_number(&mut bytes)?;
            next = id + 1;
            Some((id, take_number(&mut bytes)?))
        })
    }
}

fn push_number(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_number(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes.next()?;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_come_back() {
        let mut list = PostingList::default();
        let all = [
            (0, 1),
            (1, 127),
            (300, 128),
            (70_000, 65_535),
            (u32::MAX - 2, 9),
        ];
        all.iter().for_each(|&(id, tf)| list.push(id, tf));
        assert_eq!(list.iter().collect::<Vec<_>>(), all);
        assert_eq!(list.count, 5);
    }

    #[test]
    fn texts_out_of_order_are_refused() {
        let read = |ids: &[u32]| {
            let texts = ids.iter().map(|&id| Ok((id, "dog")));
            NewTerms::read(5, texts, &|_| false)
        };
        assert_eq!(read(&[5, 6, 9]).unwrap().lengths, [1, 1, 0, 0, 1]);
        for bad in [&[4][..], &[5, 5], &[7, 6], &[u32::MAX - 1]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
