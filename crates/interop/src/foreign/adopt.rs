//! Converts a foreign graph for adoption: ids from 0 in order of recorded time, each edge once.
//!
//! Promises: the report lists every dropped edge and every changed value.
//! Not here: writing the result (`amem-store`), identity, session keys.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::limits::FOREIGN_TEXTS_BYTES_MAX;
use amem_format::attributes;
use amem_format::error::{Error, Result};
use amem_format::event::{Edge, Event, Graph, MemoryGraph};
use amem_format::types::{Flags, Micros, NodeId};

/// The attribute with the id of an event in its original file.
pub const ORIGIN_ID: &str = "amem.origin_id";

/// What the conversion changed. Ids are those of the foreign graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdoptionReport {
    /// Number of events with a new id.
    pub renumbered: u64,
    /// Renumbered events whose attributes had no room for their old id.
    pub origins_lost: Vec<NodeId>,
    /// Edges dropped for a newer one of the same source, target and type.
    pub merged: Vec<Edge>,
    /// Dropped self-loops.
    pub self_edges: Vec<Edge>,
    /// Dropped edges from or to missing events.
    pub dangling: Vec<Edge>,
    /// Events whose confidence or decay score was clamped to 0..=1, or whose negative decay rate became 0.
    pub clamped_events: Vec<NodeId>,
    /// Events with a negative recorded time (before 1970, or past the year 294,000, which overflows). It became 0, and
    /// the old value became the event time unless there was one.
    pub clamped_times: Vec<NodeId>,
    /// Events with a negative time of last use, which became 0.
    pub clamped_uses: Vec<NodeId>,
    /// Edges whose weight was clamped to 0..=1.
    pub clamped_edges: Vec<Edge>,
    /// Edges with a negative time, which became 0.
    pub clamped_edge_times: Vec<Edge>,
}

impl AdoptionReport {
    /// Number of dropped edges.
    pub fn dropped(&self) -> u64 {
        let dropped = [&self.merged, &self.self_edges, &self.dangling];
        dropped.iter().map(|edges| edges.len() as u64).sum()
    }

    /// Number of events and edges with a changed value. New ids do not count, lost original ids do.
    pub fn changed(&self) -> u64 {
        let events = [
            &self.origins_lost,
            &self.clamped_events,
            &self.clamped_times,
            &self.clamped_uses,
        ];
        let events: HashSet<_> = events.into_iter().flatten().collect();
        let edges = [&self.clamped_edges, &self.clamped_edge_times];
        let edges: HashSet<_> = edges.into_iter().flatten().map(Edge::key).collect();
        (events.len() + edges.len()) as u64
    }
}

/// Converts to a graph whose ids are positions in order of recorded time.
///
/// For files of the reference, pass `Foreign::as_written`: edges to missing events are then reported, not errors. An
/// event with a new id keeps the old one as attribute [`ORIGIN_ID`], unless that exists already.
///
/// # Errors
/// If an event or edge is unreadable, or all texts exceed `FOREIGN_TEXTS_BYTES_MAX`.
pub fn to_dense(graph: &(impl Graph + ?Sized)) -> Result<(MemoryGraph, AdoptionReport)> {
    dense_within(graph, FOREIGN_TEXTS_BYTES_MAX)
}

fn dense_within(
    graph: &(impl Graph + ?Sized),
    texts_bytes_max: u64,
) -> Result<(MemoryGraph, AdoptionReport)> {
    let mut report = AdoptionReport::default();
    let (mut events, mut texts_bytes) = (Vec::new(), 0);
    for position in 0..graph.event_count() {
        let event = graph.event_at(position)?;
        texts_bytes += event.text.len() as u64;
        Error::check_limit("texts of the file, in bytes", texts_bytes, texts_bytes_max)?;
        events.push(event);
    }
    let mut edges = Vec::new();
    for position in 0..graph.event_count() {
        edges.extend(graph.edges_at(position)?);
    }
    report.dangling = graph.stray_edges()?;

    for event in &mut events {
        clamp_times(event, &mut report);
    }
    events.sort_by_key(|e| (e.created_at, e.id));
    let mut new_ids = HashMap::with_capacity(events.len());
    for (position, event) in (0..).zip(&mut events) {
        let old = std::mem::replace(&mut event.id, NodeId(position));
        new_ids.insert(old, event.id);
        clamp_event(event, old, &mut report);
        if old != event.id {
            report.renumbered += 1;
            keep_origin(event, old, &mut report);
        }
    }
    let edges = renumber_edges(edges, &new_ids, &mut report);
    let dense = MemoryGraph {
        dimension: graph.dimension(),
        events,
        edges,
    };
    Ok((dense, report))
}

fn clamp_event(event: &mut Event, old: NodeId, report: &mut AdoptionReport) {
    let before = (event.confidence, event.decay_score, event.lambda);
    event.confidence = event.confidence.clamp(0.0, 1.0);
    event.decay_score = event.decay_score.clamp(0.0, 1.0);
    event.lambda = event.lambda.max(0.0);
    if before != (event.confidence, event.decay_score, event.lambda) {
        report.clamped_events.push(old);
    }
}

fn clamp_times(event: &mut Event, report: &mut AdoptionReport) {
    if event.last_accessed < Micros(0) {
        event.last_accessed = Micros(0);
        report.clamped_uses.push(event.id);
    }
    if event.created_at < Micros(0) {
        event.event_time.get_or_insert(event.created_at);
        event.created_at = Micros(0);
        report.clamped_times.push(event.id);
    }
}

fn keep_origin(event: &mut Event, old: NodeId, report: &mut AdoptionReport) {
    let mut with_origin = event.attributes.clone().unwrap_or_default();
    if with_origin.contains_key(ORIGIN_ID) {
        return;
    }
    with_origin.insert(ORIGIN_ID.to_owned(), Value::from(old.0));
    let has_room = event.attributes.is_none() || attributes::validate(&with_origin).is_ok();
    if has_room {
        event.attributes = Some(with_origin);
        event.flags = event.flags.with(Flags::ATTRIBUTES);
    } else {
        report.origins_lost.push(old);
    }
}

fn renumber_edges(
    mut edges: Vec<Edge>,
    new_ids: &HashMap<NodeId, NodeId>,
    report: &mut AdoptionReport,
) -> Vec<Edge> {
    // Of duplicates, the newest comes first; of equally new ones, the last in the file.
    edges.reverse();
    edges.sort_by_key(|e| (e.key(), std::cmp::Reverse(e.created_at)));
    let mut last = None;
    let mut kept = Vec::with_capacity(edges.len());
    for edge in edges {
        let (Some(&source), Some(&target)) = (new_ids.get(&edge.source), new_ids.get(&edge.target))
        else {
            report.dangling.push(edge);
            continue;
        };
        if source == target {
            report.self_edges.push(edge);
            continue;
        }
        if last.replace(edge.key()) == Some(edge.key()) {
            report.merged.push(edge);
            continue;
        }
        let weight = edge.weight.clamp(0.0, 1.0);
        if weight != edge.weight {
            report.clamped_edges.push(edge);
        }
        let created_at = edge.created_at.max(Micros(0));
        if created_at != edge.created_at {
            report.clamped_edge_times.push(edge);
        }
        kept.push(Edge {
            source,
            target,
            weight,
            created_at,
            ..edge
        });
    }
    kept.sort_by_key(Edge::key);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::event::Attributes;
    use amem_format::types::{EdgeType, EventType, SessionId};

    fn event(id: u64, created_at: i64) -> Event {
        Event {
            id: NodeId(id),
            event_type: EventType::FACT,
            flags: Flags::default(),
            created_at: Micros(created_at),
            event_time: None,
            session: SessionId(1),
            confidence: 1.0,
            access_count: 0,
            last_accessed: Micros(created_at),
            decay_score: 1.0,
            lambda: 0.0,
            text: format!("event {id}"),
            vector: None,
            attributes: None,
        }
    }

    #[test]
    fn texts_that_are_too_many_bytes_together_are_refused() {
        let graph = MemoryGraph {
            dimension: 0,
            events: (0..3).map(|id| event(id, 1)).collect(),
            edges: Vec::new(),
        };
        let bytes = 3 * "event 0".len() as u64;
        assert!(dense_within(&graph, bytes).is_ok());
        let refused = dense_within(&graph, bytes - 1).unwrap_err().to_string();
        assert!(refused.contains("texts of the file"), "{refused}");
    }

    fn edge(source: u64, target: u64, edge_type: EdgeType, created_at: i64) -> Edge {
        Edge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type,
            weight: 0.5,
            created_at: Micros(created_at),
        }
    }

    #[test]
    fn events_are_numbered_in_order_of_time_and_keep_their_old_id() {
        let graph = MemoryGraph {
            events: vec![event(0, 5), event(3, 9), event(4, 7), event(9, 7)],
            edges: vec![
                edge(0, 4, EdgeType::SUPPORTS, 1),
                edge(9, 3, EdgeType::CAUSED_BY, 1),
            ],
            dimension: 0,
        };
        let (dense, report) = to_dense(&graph).unwrap();
        let texts: Vec<_> = dense.events.iter().map(|e| e.text.as_str()).collect();
        assert_eq!(texts, ["event 0", "event 4", "event 9", "event 3"]);
        let origin = |at: usize| {
            dense.events[at]
                .attributes
                .as_ref()
                .map(|a| a[ORIGIN_ID].clone())
        };
        assert_eq!(origin(0), None);
        assert_eq!(origin(1), Some(Value::from(4)));
        assert_eq!(origin(2), Some(Value::from(9)));
        assert_eq!(origin(3), None, "its id is the same as before");
        assert!(dense.events[1].flags.has(Flags::ATTRIBUTES));
        assert_eq!(
            dense.edges,
            [
                edge(0, 1, EdgeType::SUPPORTS, 1),
                edge(2, 3, EdgeType::CAUSED_BY, 1)
            ]
        );
        let expected = AdoptionReport {
            renumbered: 2,
            ..AdoptionReport::default()
        };
        assert_eq!(report, expected);
    }

    #[test]
    fn edges_that_do_not_survive_are_listed() {
        let newest = edge(0, 1, EdgeType::SUPPORTS, 3);
        let repeated = [
            edge(0, 1, EdgeType::SUPPORTS, 2),
            edge(0, 1, EdgeType::SUPPORTS, 1),
        ];
        let other_type = edge(0, 1, EdgeType::CAUSED_BY, 1);
        let to_self = edge(1, 1, EdgeType::RELATED_TO, 1);
        let to_nowhere = edge(1, 7, EdgeType::RELATED_TO, 1);
        let from_nowhere = edge(8, 1, EdgeType::RELATED_TO, 1);
        let graph = MemoryGraph {
            events: vec![event(0, 1), event(1, 2)],
            edges: vec![
                other_type,
                repeated[1],
                newest,
                repeated[0],
                to_self,
                to_nowhere,
                from_nowhere,
            ],
            dimension: 0,
        };
        let (dense, report) = to_dense(&graph).unwrap();
        assert_eq!(dense.edges, [other_type, newest]);
        assert_eq!(report.merged, repeated);
        assert_eq!(report.self_edges, [to_self]);
        assert_eq!(report.dangling, [from_nowhere, to_nowhere]);
    }

    #[test]
    fn of_equally_new_edges_the_last_in_the_file_is_kept() {
        let first = edge(0, 1, EdgeType::SUPPORTS, 1);
        let last = Edge {
            weight: 0.9,
            ..first
        };
        let graph = MemoryGraph {
            events: vec![event(0, 1), event(1, 2)],
            edges: vec![first, last],
            dimension: 0,
        };
        let (dense, report) = to_dense(&graph).unwrap();
        assert_eq!(dense.edges, [last]);
        assert_eq!(report.merged, [first]);
    }

    #[test]
    fn values_out_of_range_are_clamped_and_listed() {
        let strong = Edge {
            weight: 7.0,
            ..edge(0, 1, EdgeType::SUPPORTS, 1)
        };
        let mut graph = MemoryGraph {
            events: vec![event(0, 1), event(1, 2)],
            edges: vec![strong],
            dimension: 0,
        };
        graph.events[0].lambda = -1.0;
        graph.events[1].confidence = -0.5;
        let (dense, report) = to_dense(&graph).unwrap();
        assert_eq!(
            (
                dense.events[0].lambda,
                dense.events[1].confidence,
                dense.edges[0].weight
            ),
            (0.0, 0.0, 1.0)
        );
        assert_eq!(report.clamped_events, [NodeId(0), NodeId(1)]);
        assert_eq!(report.clamped_edges, [strong]);
        assert_eq!((report.dropped(), report.changed()), (0, 3));
    }

    #[test]
    fn times_before_1970_become_event_times() {
        let old = Edge {
            created_at: Micros(-9),
            ..edge(0, 1, EdgeType::SUPPORTS, 1)
        };
        let mut graph = MemoryGraph {
            events: vec![event(0, -5), event(1, -7), event(2, 3)],
            edges: vec![old],
            dimension: 0,
        };
        graph.events[1].event_time = Some(Micros(-100));
        let (dense, report) = to_dense(&graph).unwrap();
        assert_eq!(report.clamped_times, [NodeId(0), NodeId(1)]);
        assert_eq!(report.clamped_uses, [NodeId(0), NodeId(1)]);
        assert_eq!(report.clamped_edge_times, [old]);
        assert_eq!(report.renumbered, 0);
        // Each event once, whatever of it was changed.
        assert_eq!((report.dropped(), report.changed()), (0, 3));
        let times: Vec<_> = dense
            .events
            .iter()
            .map(|e| (e.created_at.0, e.last_accessed.0, e.event_time.map(|t| t.0)))
            .collect();
        let expected = [(0, 0, Some(-5)), (0, 0, Some(-100)), (3, 3, None)];
        assert_eq!(times, expected);
        assert_eq!(dense.edges[0].created_at, Micros(0));
    }

    #[test]
    fn an_older_origin_and_full_attributes_are_left_alone() {
        let mut graph = MemoryGraph {
            events: vec![event(5, 1), event(6, 2)],
            ..MemoryGraph::default()
        };
        let older = Attributes::from_iter([(ORIGIN_ID.to_owned(), Value::from("77"))]);
        let full: Attributes = (0..amem_format::limits::ATTRIBUTES_KEYS_MAX)
            .map(|i| (i.to_string(), Value::Null))
            .collect();
        graph.events[0].attributes = Some(older.clone());
        graph.events[1].attributes = Some(full.clone());
        let (dense, report) = to_dense(&graph).unwrap();
        assert_eq!(dense.events[0].attributes, Some(older));
        assert_eq!(dense.events[1].attributes, Some(full));
        assert_eq!(report.origins_lost, [NodeId(6)]);
    }
}
