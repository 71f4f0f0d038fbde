//! Builds brains from graphs: for imports, conversions and partial exports.

use std::collections::BTreeMap;

use amem_format::attributes;
use amem_format::base::identity::Identity;
use amem_format::base::settings::Settings;
use amem_format::base_builder::Options;
use amem_format::base_builder::build::Build;
use amem_format::event::{Graph, MemoryGraph};
use amem_format::journal::op::Op;
use amem_format::view::View;
use amem_format::{EdgeType, Micros, NodeId, SessionId};

use crate::failure::Failure;

/// A session with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedSession {
    pub(crate) id: SessionId,
    pub(crate) key: String,
    /// May be empty.
    pub(crate) agent: String,
    pub(crate) opened: Micros,
}

/// A brain in memory, ready to be written.
#[derive(Debug)]
pub(crate) struct BuiltBrain {
    pub(crate) view: View,
    /// For its first base.
    pub(crate) options: Options,
}

/// The ids of the graph must be positions in order of recorded time.
pub(crate) fn brain(
    graph: &MemoryGraph,
    sessions: &[NamedSession],
    identity: &Identity,
    settings: &Settings,
) -> Result<BuiltBrain, Failure> {
    check_attributes(graph)?;
    let mut identity = *identity;
    // No event may be newer than the brain; one from a fast clock moves the brain's time.
    let newest = graph.events.last().map_or(Micros::MIN, |e| e.created_at);
    identity.base_time = identity.base_time.max(newest);
    identity.origin_time = identity.base_time;
    let mut build = Build::new(&identity, graph.dimension(), settings)?;
    build.push_graph(graph)?;
    for session in sessions {
        build.push(&Op::OpenSession {
            session: session.id,
            key: &session.key,
            agent: &session.agent,
            at: session.opened,
        })?;
    }
    let view = build.finish()?;
    let options = Build::options(&view, &identity);
    Ok(BuiltBrain { view, options })
}

/// Names the event whose attributes exceed a limit.
fn check_attributes(graph: &MemoryGraph) -> Result<(), Failure> {
    for event in &graph.events {
        if let Some(of) = &event.attributes
            && let Err(e) = attributes::validate(of)
        {
            let failure = Failure::from(e);
            return Err(Failure::refused(
                failure.code,
                format!("event {}: {}", event.id, failure.message),
                "make the event's attributes smaller",
            ));
        }
    }
    Ok(())
}

/// Events on cycles of supersedes edges. Queries bound them; they are reported, not rejected.
pub(crate) fn in_cycles(graph: &MemoryGraph) -> Vec<NodeId> {
    let edges: Vec<_> = graph
        .edges
        .iter()
        .filter(|e| e.edge_type == EdgeType::SUPERSEDES)
        .map(|e| (e.source, e.target))
        .collect();
    let forward = not_reached_from_ends(&edges);
    let turned: Vec<_> = edges.iter().map(|&(a, b)| (b, a)).collect();
    let backward = not_reached_from_ends(&turned);
    forward
        .into_iter()
        .filter(|id| backward.binary_search(id).is_ok())
        .collect()
}

/// Removes events without incoming edges until none is left to remove; the rest, ascending.
fn not_reached_from_ends(edges: &[(NodeId, NodeId)]) -> Vec<NodeId> {
    let mut incoming: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut outgoing: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for &(source, target) in edges {
        incoming.entry(source).or_default();
        *incoming.entry(target).or_default() += 1;
        outgoing.entry(source).or_default().push(target);
    }
    let ends = incoming.iter().filter(|(_, n)| **n == 0);
    let mut todo: Vec<NodeId> = ends.map(|(&id, _)| id).collect();
    while let Some(id) = todo.pop() {
        incoming.remove(&id);
        for target in outgoing.remove(&id).unwrap_or_default() {
            if let Some(n) = incoming.get_mut(&target) {
                *n -= 1;
                if *n == 0 {
                    todo.push(target);
                }
            }
        }
    }
    incoming.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::Edge;

    #[test]
    fn only_events_of_circles_are_told() {
        let supersedes = |source, target| Edge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type: EdgeType::SUPERSEDES,
            weight: 1.0,
            created_at: Micros(0),
        };
        let graph = MemoryGraph {
            edges: [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (0, 1), (8, 9)]
                .map(|(a, b)| supersedes(a, b))
                .into(),
            ..MemoryGraph::default()
        };
        assert_eq!(in_cycles(&graph), [1, 2, 3].map(NodeId));
        assert_eq!(in_cycles(&MemoryGraph::default()), []);
    }
}
