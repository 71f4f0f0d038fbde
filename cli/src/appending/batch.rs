//! The next batch: entries, and the edges both of whose ends are there once it is written.

use std::collections::{HashMap, VecDeque};

use amem_client::v1;
use amem_format::EdgeType;
use prost::Message;

use crate::entries::{EntryEdge, TextEntry};
use crate::types::edge_type_number;

/// Events of a batch.
const EVENTS_MAX: usize = 512;
/// Bytes after which a batch takes no further event: with one of the longest there is room left in a message of 4 MiB.
const BYTES_MAX: usize = 1 << 20;
/// Edges of a batch.
const LINKS_MAX: usize = 20_000;

/// An edge between numbers of a text.
#[derive(Debug, Clone, Copy)]
struct PendingEdge {
    source: u64,
    tie: EntryEdge,
}

/// What is to be written next, and what waits for it.
#[derive(Debug, Default)]
pub(super) struct Batch {
    events: Vec<v1::NewEvent>,
    bytes: usize,
    /// The first and the last line.
    lines: Option<(u64, u64)>,
    /// The place in this batch of each number.
    places: HashMap<u64, u32>,
    /// The ids of the numbers that are written.
    written: HashMap<u64, u64>,
    /// Edges whose ends are written or in this batch.
    ready: VecDeque<PendingEdge>,
    /// Corrections in this batch: what they replace must be there before the edge.
    corrections: Vec<PendingEdge>,
    /// Edges whose target comes later, by it.
    waiting: HashMap<u64, Vec<PendingEdge>>,
}

/// A batch to be sent.
pub(super) struct Request {
    /// Its events and edges.
    pub(super) request: v1::IngestRequest,
    /// The lines that its events are of.
    pub(super) lines: Option<(u64, u64)>,
}

impl Batch {
    /// True if there is room for another entry.
    pub(super) fn has_room(&self) -> bool {
        self.events.len() < EVENTS_MAX && self.bytes < BYTES_MAX && self.ready.len() < LINKS_MAX
    }

    /// Takes an entry and its ties to entries that there are.
    pub(super) fn push(&mut self, entry: TextEntry, is_there: impl Fn(u64) -> bool) {
        self.bytes += entry.event.encoded_len();
        let (first, _) = self.lines.unwrap_or((entry.line, entry.line));
        self.lines = Some((first, entry.line));
        if let Some(number) = entry.number {
            self.places.insert(number, self.events.len() as u32);
            for link in self.waiting.remove(&number).unwrap_or_default() {
                self.ready(link);
            }
            for tie in entry.ties {
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
        self.events.push(entry.event);
    }

    /// Both ends of an edge are known.
    fn ready(&mut self, link: PendingEdge) {
        match link.tie.edge_type == EdgeType::SUPERSEDES {
            true => self.corrections.push(link),
            false => self.ready.push_back(link),
        }
    }

    /// What is to be sent; none if there is nothing.
    pub(super) fn next(&mut self) -> Option<Request> {
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
        if events.is_empty() && links.is_empty() {
            return None;
        }
        Some(Request {
            request: v1::IngestRequest {
                events,
                links,
                ..Default::default()
            },
            lines: self.lines,
        })
    }

    /// It is written, and its events have these ids.
    pub(super) fn done(&mut self, ids: &[u64]) {
        for (number, place) in self.places.drain() {
            if let Some(id) = ids.get(place as usize) {
                self.written.insert(number, *id);
            }
        }
        self.ready.extend(self.corrections.drain(..));
        (self.bytes, self.lines) = (0, None);
    }

    /// Where an edge starts or ends, if that is known.
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
