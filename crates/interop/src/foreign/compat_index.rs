//! The six sections after the vectors in a file of the reference.
//!
//! The reference reads only the last two and rebuilds the others; all six are written for byte equality. The cluster
//! map is empty, as after reading a graph.

use std::collections::BTreeMap;

use super::tokens;
use amem_format::event::Event;
use amem_format::types::EventType;

/// Maximum length of a word in the term index.
const WORD_BYTES_MAX: usize = u16::MAX as usize;

/// The indexes under construction.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    by_type: BTreeMap<u8, Vec<u64>>,
    /// Recorded time, unsigned as in the reference, and id.
    by_time: Vec<(u64, u64)>,
    by_session: BTreeMap<u32, Vec<u64>>,
    /// For each word, the events that contain it, ascending, with the count.
    postings: BTreeMap<Box<str>, Vec<(u64, u32)>>,
    /// Number of words of each event.
    lengths: Vec<u32>,
    words_left_out: u64,
}

impl Indexes {
    /// Adds the event of the next position.
    pub(super) fn push(&mut self, event_type: EventType, event: &Event) {
        let id = self.lengths.len() as u64;
        self.by_type.entry(event_type.0).or_default().push(id);
        self.by_time.push((event.created_at.0 as u64, id));
        self.by_session.entry(event.session.0).or_default().push(id);
        let mut length = 0;
        tokens::for_each_word(&event.text, |word| {
            length += 1;
            self.post(word, id);
        });
        self.lengths.push(length);
    }

    fn post(&mut self, word: &str, id: u64) {
        if word.len() > WORD_BYTES_MAX {
            self.words_left_out += 1;
            return;
        }
        if !self.postings.contains_key(word) {
            self.postings.insert(word.into(), Vec::new());
        }
        if let Some(list) = self.postings.get_mut(word) {
            match list.last_mut() {
                Some((last, count)) if *last == id => *count += 1,
                _ => list.push((id, 1)),
            }
        }
    }

    /// Number of words too long for the term index.
    pub(super) fn words_left_out(&self) -> u64 {
        self.words_left_out
    }

    /// The sections, by tag.
    pub(super) fn sections(&mut self, dimension: u32) -> Vec<(u8, Vec<u8>)> {
        let mut sections = vec![
            (0x01, self.types()),
            (0x02, self.times()),
            (0x03, self.sessions()),
            (0x04, [0, dimension].map(u32::to_le_bytes).concat()),
        ];
        if !self.lengths.is_empty() {
            sections.push((0x05, self.terms()));
            sections.push((0x06, self.lengths()));
        }
        sections
    }

    fn types(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (&event_type, ids) in &self.by_type {
            out.push(event_type);
            push_ids(&mut out, ids);
        }
        out
    }

    fn times(&mut self) -> Vec<u8> {
        self.by_time.sort_unstable();
        let mut out = (self.by_time.len() as u64).to_le_bytes().to_vec();
        for &(time, id) in &self.by_time {
            out.extend_from_slice(&time.to_le_bytes());
            out.extend_from_slice(&id.to_le_bytes());
        }
        out
    }

    fn sessions(&self) -> Vec<u8> {
        let mut out = (self.by_session.len() as u32).to_le_bytes().to_vec();
        for (session, ids) in &self.by_session {
            out.extend_from_slice(&session.to_le_bytes());
            push_ids(&mut out, ids);
        }
        out
    }

    fn terms(&self) -> Vec<u8> {
        let words: u64 = self.lengths.iter().map(|&l| u64::from(l)).sum();
        let count = self.lengths.len() as u64;
        let mut out = count.to_le_bytes().to_vec();
        out.extend_from_slice(&(words as f32 / count as f32).to_le_bytes());
        out.extend_from_slice(&(self.postings.len() as u32).to_le_bytes());
        for (word, list) in &self.postings {
            out.extend_from_slice(&(word.len() as u16).to_le_bytes());
            out.extend_from_slice(word.as_bytes());
            out.extend_from_slice(&(list.len() as u32).to_le_bytes());
            for (id, count) in list {
                out.extend_from_slice(&id.to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
            }
        }
        out
    }

    fn lengths(&self) -> Vec<u8> {
        let mut out = (self.lengths.len() as u64).to_le_bytes().to_vec();
        for length in &self.lengths {
            out.extend_from_slice(&length.to_le_bytes());
        }
        out
    }
}

fn push_ids(out: &mut Vec<u8>, ids: &[u64]) {
    out.extend_from_slice(&(ids.len() as u64).to_le_bytes());
    for id in ids {
        out.extend_from_slice(&id.to_le_bytes());
    }
}
