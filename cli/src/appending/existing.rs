//! Lines of our own export whose events a brain has already.
//!
//! An event is known by when it was first recorded, in any brain: recorded times within one brain are unique. A brain
//! that was made of an export has the recorded times of its lines; an event that was added to another has them, and the
//! origin, in its attribute `amem.origin`.
//!
//! Promises: a known event is neither written again nor changed, also if it was forgotten or erased since; a line that
//! differs from it is counted. Not here: edges and batches (`append`, `batch`).

use std::collections::{HashMap, HashSet};

use amem_client::{Timestamp, v1};
use amem_format::attributes::ORIGIN;
use amem_format::event::Attributes;
use uuid::Uuid;

use crate::brain::opened::BrainHandle;
use crate::entries::{EntryOrigin, TextEntry};
use crate::failure::Failure;
use crate::json::event::Time;
use crate::jsonl::{Origin, first_recorded};
use crate::output::context::CommandContext;

/// Events of one answer.
const PAGE_EVENTS: u32 = 1_000;
/// Events whose edges are asked for at once.
const EDGES_OF_MAX: usize = 100;

/// An event of the brain that a line may be.
#[derive(Debug)]
struct KnownEvent {
    event: v1::Event,
    /// `None` if it was recorded here.
    origin: Option<Origin>,
}

/// The events of a brain that were first recorded at the times of the lines.
#[derive(Debug)]
pub(super) struct KnownEvents {
    by_time: HashMap<i64, Vec<KnownEvent>>,
    instance: Option<Uuid>,
    /// Source, target and type.
    edges: HashSet<(u64, u64, i32)>,
    /// Forgotten and erased ones: they take no edges.
    hidden: HashSet<u64>,
}

/// The event that a line is, and whether the line differs from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownLine {
    pub(super) id: u64,
    pub(super) is_changed: bool,
    /// The line comes from this very brain.
    pub(super) is_of_here: bool,
}

impl KnownEvents {
    /// Reads the brain once, and the edges of the events that it finds.
    pub(super) fn read(
        cx: &mut CommandContext,
        opened: &BrainHandle,
        instance: Option<Uuid>,
        times: &HashSet<i64>,
    ) -> Result<Self, Failure> {
        let mut known = Self {
            by_time: HashMap::new(),
            instance,
            edges: HashSet::new(),
            hidden: HashSet::new(),
        };
        let mut ids = Vec::new();
        let mut request = v1::PatternRequest {
            selection: Some(v1::Selection {
                include_forgotten: true,
                include_compressed: true,
                ..Default::default()
            }),
            order: v1::Order::Oldest.into(),
            page_size: PAGE_EVENTS,
            ..Default::default()
        };
        loop {
            let page = match opened.ask(cx, request.clone()) {
                Ok(page) => page,
                // Long texts: fewer of them are an answer.
                Err(failure) if is_too_large(&failure) && request.page_size > 1 => {
                    request.page_size /= 2;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            for event in page.events {
                known.add(event, times, &mut ids)?;
            }
            if page.next_page_token.is_empty() {
                break;
            }
            (request.page_token, request.page_size) = (page.next_page_token, PAGE_EVENTS);
        }
        known.read_edges(cx, opened, &ids)?;
        Ok(known)
    }

    /// Adds an event, if it was first recorded at one of the times.
    fn add(
        &mut self,
        event: v1::Event,
        times: &HashSet<i64>,
        ids: &mut Vec<u64>,
    ) -> Result<(), Failure> {
        let attributes = attributes(&event.attributes_json);
        let time = match first_recorded(&attributes) {
            Some(time) => time,
            None => Time::of(event.created_at)?.0,
        };
        if times.contains(&time.0) {
            ids.push(event.id);
            if event.forgotten || event.erased {
                self.hidden.insert(event.id);
            }
            let origin = Origin::of(&attributes);
            let known = KnownEvent { event, origin };
            self.by_time.entry(time.0).or_default().push(known);
        }
        Ok(())
    }

    fn read_edges(
        &mut self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        ids: &[u64],
    ) -> Result<(), Failure> {
        let (mut rest, mut count) = (ids, EDGES_OF_MAX);
        while !rest.is_empty() {
            let (asked, more) = rest.split_at(count.min(rest.len()));
            let request = v1::GetEventsRequest {
                event_ids: asked.to_vec(),
                include_forgotten: true,
                include_edges: true,
                touch: Some(false),
                ..Default::default()
            };
            match opened.ask(cx, request) {
                Ok(answer) => {
                    let edges = answer.events.iter().flat_map(|event| &event.edges);
                    let keys = edges.map(|edge| (edge.source, edge.target, edge.r#type));
                    self.edges.extend(keys);
                    (rest, count) = (more, EDGES_OF_MAX);
                }
                Err(failure) if is_too_large(&failure) && count > 1 => count /= 2,
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// The event that a line is.
    pub(super) fn find(&self, entry: &TextEntry) -> Option<KnownLine> {
        let of = entry.origin.as_ref()?;
        let is_of_here = self.instance == Some(of.origin.instance);
        let there = self.by_time.get(&of.time.0)?;
        let same = there.iter().find(|known| is_same(&known.event, entry, of));
        // Another brain may have recorded another event at the same microsecond.
        let may_be = |known: &&KnownEvent| known.origin.is_none_or(|origin| origin == of.origin);
        let (known, is_changed) = match same {
            Some(known) => (known, false),
            None => (there.iter().find(may_be)?, true),
        };
        Some(KnownLine {
            id: known.event.id,
            // An erased event has nothing that a line could differ from.
            is_changed: is_changed && !known.event.erased,
            is_of_here,
        })
    }

    /// True if an edge between two known events is there, or cannot be: an end is hidden.
    pub(super) fn has_edge(&self, source: u64, target: u64, edge_type: i32) -> bool {
        self.edges.contains(&(source, target, edge_type))
            || self.is_hidden(source)
            || self.is_hidden(target)
    }

    /// True if an event is forgotten or erased.
    pub(super) fn is_hidden(&self, id: u64) -> bool {
        self.hidden.contains(&id)
    }
}

/// True if an answer would have had too many bytes or edges.
fn is_too_large(failure: &Failure) -> bool {
    ["message_size", "answer_edges"].contains(&failure.code)
}

/// True if an event says what a line says. Confidence, strength and accesses are left out: the brain changes them.
fn is_same(event: &v1::Event, entry: &TextEntry, of: &EntryOrigin) -> bool {
    // Without an event time it happened when it was first recorded.
    let happened = |time: Option<Timestamp>| {
        let known = time.and_then(|time| Time::of(Some(time)).ok());
        known.map_or(of.time.0, |time| time.0.0)
    };
    event.text == entry.event.text
        && event.r#type == entry.event.r#type
        && happened(event.event_time) == happened(of.event_time)
        && described(&event.attributes_json) == described(&entry.event.attributes_json)
}

/// Attributes without what the writer adds.
fn described(json: &str) -> Attributes {
    let mut of = attributes(json);
    of.retain(|key, _| key != ORIGIN);
    of
}

/// No attributes if there are none, or if they are damaged.
fn attributes(json: &str) -> Attributes {
    serde_json::from_str(json).unwrap_or_default()
}
