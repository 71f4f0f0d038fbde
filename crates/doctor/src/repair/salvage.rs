//! Reads a damaged graph event by event.

use std::collections::BTreeSet;

use crate::verify::Finding;
use amem_format::event::{Graph, MemoryGraph};
use amem_format::types::NodeId;

/// The readable part of a graph, and what is lost. Edges of lost events are lost, too.
///
/// For files in other layouts, where ids need not be positions; `repair` keeps the ids of native files.
pub fn readable(graph: &dyn Graph) -> (MemoryGraph, Vec<Finding>) {
    let mut out = MemoryGraph {
        dimension: graph.dimension(),
        ..MemoryGraph::default()
    };
    let mut lost = Vec::new();
    let mut ids: BTreeSet<NodeId> = BTreeSet::new();
    for position in 0..graph.event_count() {
        match graph.event_at(position) {
            Ok(event) => {
                ids.insert(event.id);
                out.events.push(event);
            }
            Err(e) => lost.push(e.into()),
        }
        match graph.edges_at(position) {
            Ok(edges) => out.edges.extend(edges),
            Err(e) => lost.push(e.into()),
        }
    }
    let all = out.edges.len();
    out.edges
        .retain(|e| ids.contains(&e.source) && ids.contains(&e.target));
    if out.edges.len() < all {
        lost.push(Finding {
            part: "edge table".into(),
            offset: None,
            why: format!("{} edges of lost events", all - out.edges.len()),
        });
    }
    match graph.stray_edges() {
        Ok(edges) => lost.extend(edges.iter().map(|edge| Finding {
            part: "edge table".into(),
            offset: None,
            why: format!(
                "an edge from event {}, which does not exist, to event {}",
                edge.source, edge.target
            ),
        })),
        Err(e) => lost.push(e.into()),
    }
    (out, lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn edges_from_missing_events_are_reported() {
        let mut graph = sample::graph(3);
        assert_eq!(readable(&graph), (graph.clone(), Vec::new()));
        let all = graph.clone();
        graph.edges.push(sample::edge(9, 1, 0));
        let (found, lost) = readable(&graph);
        assert_eq!(found, all);
        let why: Vec<_> = lost.iter().map(|lost| lost.why.as_str()).collect();
        assert_eq!(
            why,
            ["an edge from event 9, which does not exist, to event 1"]
        );
    }
}
