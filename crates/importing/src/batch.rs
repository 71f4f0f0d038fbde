//! The next batch: entries, and edges whose ends both exist once it is written.

use std::collections::{HashMap, VecDeque};

use amem_format::EdgeType;
use amem_proto::v1;
use prost::Message;

use crate::entry::{BatchEntry, EntryEdge};
use crate::message::edge_type_number;

const EVENTS_MAX: usize = 512;
/// Bytes after which a batch is full: the longest event still fits into a message of 4 MiB.
const BYTES_MAX: usize = 1 << 20;
const LINKS_MAX: usize = 20_000;

/// An edge between entries, by number.
#[derive(Debug, Clone, Copy)]
struct PendingEdge {
    source: u64,
    tie: EntryEdge,
}

/// Entries that wait for their request, and edges that wait for their ends.
#[derive(Debug, Default)]
pub struct AppendBatch {
    events: Vec<v1::NewEvent>,
    bytes: usize,
    /// First and last.
    lines: Option<(u64, u64)>,
    /// Positions in this batch, by number.
    places: HashMap<u64, u32>,
    /// Positions in the batch that was taken and is not known to be written yet.
    sent: HashMap<u64, u32>,
    /// Ids of written entries, by number.
    written: HashMap<u64, u64>,
    /// Edges whose ends are written or in this batch.
    ready: VecDeque<PendingEdge>,
    /// Supersedes edges of this batch: the target must exist before.
    corrections: Vec<PendingEdge>,
    /// Those of the batch that was taken.
    sent_corrections: Vec<PendingEdge>,
    /// Edges to later entries, by target.
    waiting: HashMap<u64, Vec<PendingEdge>>,
}

/// A batch that is taken.
#[derive(Debug)]
pub struct BatchRequest {
    /// Without options.
    pub request: v1::IngestRequest,
    /// The lines of its events: first and last.
    pub lines: Option<(u64, u64)>,
}

impl AppendBatch {
    /// True if a further entry fits into the batch.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.events.len() < EVENTS_MAX && self.bytes < BYTES_MAX && self.ready.len() < LINKS_MAX
    }

    /// Adds an entry and its edges to entries that exist.
    pub fn push(&mut self, entry: BatchEntry, is_there: impl Fn(u64) -> bool) {
        self.bytes += entry.event.encoded_len();
        let (first, _) = self.lines.unwrap_or((entry.line, entry.line));
        self.lines = Some((first, entry.line));
        if let Some(number) = entry.number {
            self.places.insert(number, self.events.len() as u32);
            self.edges(number, entry.edges, is_there);
        }
        self.events.push(entry.event);
    }

    /// Adds the edges of an entry that the brain has already.
    pub fn push_known(
        &mut self,
        (number, id): (u64, u64),
        ties: Vec<EntryEdge>,
        is_there: impl Fn(u64) -> bool,
    ) {
        self.written.insert(number, id);
        self.edges(number, ties, is_there);
    }

    /// Adds the edges of an entry, and those to it that waited.
    fn edges(&mut self, number: u64, ties: Vec<EntryEdge>, is_there: impl Fn(u64) -> bool) {
        for link in self.waiting.remove(&number).unwrap_or_default() {
            self.ready(link);
        }
        for tie in ties {
            let link = PendingEdge {
                source: number,
                tie,
            };
            if self.end(tie.to).is_some() {
                self.ready(link);
            } else if is_there(tie.to) {
                self.waiting.entry(tie.to).or_default().push(link);
            }
        }
    }

    fn ready(&mut self, link: PendingEdge) {
        if link.tie.edge_type == EdgeType::SUPERSEDES {
            self.corrections.push(link)
        } else {
            self.ready.push_back(link)
        }
    }

    /// The batch so far, if there is something in it. The one before must be `done`.
    pub fn take_next(&mut self) -> Option<BatchRequest> {
        if self.events.is_empty() {
            self.ready.extend(self.corrections.drain(..));
        }
        let mut links = Vec::new();
        while links.len() < LINKS_MAX
            && let Some(PendingEdge { source, tie }) = self.ready.pop_front()
        {
            links.push(v1::NewLink {
                source: self.end(source),
                target: self.end(tie.to),
                r#type: edge_type_number(tie.edge_type),
                weight: Some(tie.weight),
            });
        }
        let events = std::mem::take(&mut self.events);
        let lines = self.lines.take();
        self.bytes = 0;
        self.sent = std::mem::take(&mut self.places);
        self.sent_corrections = std::mem::take(&mut self.corrections);
        if events.is_empty() && links.is_empty() {
            return None;
        }
        Some(BatchRequest {
            request: v1::IngestRequest {
                events,
                links,
                ..Default::default()
            },
            lines,
        })
    }

    /// Edges whose other end never came.
    #[must_use]
    pub fn unresolved(&self) -> u64 {
        self.waiting.values().map(|edges| edges.len() as u64).sum()
    }

    /// Records the ids of the events of the batch that was taken. Others may have been added since.
    pub fn done(&mut self, ids: &[u64]) {
        for (number, place) in std::mem::take(&mut self.sent) {
            if let Some(id) = ids.get(place as usize) {
                self.written.insert(number, *id);
            }
            for link in self.waiting.remove(&number).unwrap_or_default() {
                self.ready(link);
            }
        }
        self.ready.extend(self.sent_corrections.drain(..));
    }

    fn end(&self, number: u64) -> Option<v1::LinkEnd> {
        use v1::link_end::End;
        let place = self
            .places
            .get(&number)
            .map(|place| End::BatchIndex(*place));
        let end = place.or_else(|| self.written.get(&number).map(|id| End::EventId(*id)));
        end.map(|end| v1::LinkEnd { end: Some(end) })
    }
}
