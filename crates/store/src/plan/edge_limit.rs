//! The limit of edges: a plan that would exceed it is refused before anything is written.

use std::collections::HashSet;

use amem_format::journal::op::{Op, Ops};
use amem_format::{EdgeType, NodeId};

use crate::error::Result;
use crate::plan::builder::PlanBuilder;

/// Source, target and type of an edge.
pub(super) type EdgeKey = (NodeId, NodeId, EdgeType);

impl PlanBuilder<'_> {
    /// Refuses a plan that would leave more than `edges_max` edges. It counts as the journal is applied: a frame that
    /// is refused there would stop every recovery.
    pub(super) fn check_edges(&self, edges_max: u64) -> Result<()> {
        let before = self.view.edges();
        // Looking up each edge is slow, and only needed near the limit.
        if before.saturating_add(self.links) <= edges_max {
            return Ok(());
        }
        let edges = before + self.new_edges()?;
        Ok(amem_format::Error::check_limit(
            "the number of edges",
            edges,
            edges_max,
        )?)
    }

    /// How many edges are new. Retractions do not reduce it: a merge retracts last.
    fn new_edges(&self) -> Result<u64> {
        let end = self.view.nodes();
        let mut new: HashSet<EdgeKey> = HashSet::new();
        for payload in &self.payloads {
            for op in Ops::new(payload, 0) {
                let Op::Link {
                    source,
                    target,
                    edge_type,
                    ..
                } = op?
                else {
                    continue;
                };
                let is_here = source.0 < end
                    && target.0 < end
                    && self.view.find_edge(source, target, edge_type)?.is_some();
                if !is_here {
                    new.insert((source, target, edge_type));
                }
            }
        }
        Ok(new.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use amem_format::EventType;

    use super::*;
    use crate::disk::os::OsDisk;
    use crate::mutation::{Ingest, NewEdge, NewEvent};
    use crate::{Error, Folder, MergeSource, Mutation, NewBrain, Request, Store, create};

    const EDGES_MAX: u64 = 2;

    fn link(source: u64, target: u64, weight: f32) -> Mutation {
        Mutation::Link(NewEdge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type: EdgeType::SUPPORTS,
            weight,
        })
    }

    fn ingest(texts: &[&str], follow: bool) -> Mutation {
        let event = |text: &&str| NewEvent::new(EventType::FACT, *text);
        Mutation::Ingest(Ingest {
            events: texts.iter().map(event).collect(),
            follow,
            ..Ingest::default()
        })
    }

    /// A brain of three events.
    fn brain(folder: &Folder, name: &str) -> Store {
        create(folder, name, &NewBrain::default()).unwrap();
        let mut store = Store::open(folder, name).unwrap();
        let events = ingest(&["one", "two", "three"], false);
        store.execute(Request::new(events)).unwrap();
        store
    }

    #[test]
    fn what_would_be_one_edge_too_many_is_refused_before_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(Arc::new(OsDisk::new(dir.path()).unwrap()), "a test").unwrap();
        let mut other = brain(&folder, "other");
        other.execute(Request::new(link(0, 1, 1.0))).unwrap();
        let mut store = brain(&folder, "b");
        store.edges_max = EDGES_MAX;
        let mut run = |mutation| store.execute(Request::new(mutation));
        run(link(0, 1, 1.0)).unwrap();
        run(link(0, 2, 1.0)).unwrap();
        let full = [
            (link(1, 2, 1.0), 3),
            // Each follows the one before it.
            (ingest(&["four", "five"], true), 4),
            (Mutation::Merge(MergeSource::new(other.view())), 3),
        ];
        for (mutation, edges) in &full {
            let refused = run(mutation.clone()).unwrap_err();
            let Error::Format(amem_format::Error::Limit { what, value, max }) = refused else {
                panic!("{mutation:?}: {refused}");
            };
            assert_eq!(
                (what, value, max),
                ("the number of edges", *edges, EDGES_MAX)
            );
            // A change that adds no edge is accepted.
            run(link(0, 1, 0.5)).unwrap();
        }
        run(ingest(&["six"], false)).unwrap();
        let gone = Mutation::Unlink {
            source: NodeId(0),
            target: NodeId(2),
            edge_type: EdgeType::SUPPORTS,
        };
        run(gone).unwrap();
        run(link(1, 2, 1.0)).unwrap();
        assert_eq!((store.view().edges(), store.view().nodes()), (2, 4));
        drop(store);
        let store = Store::open(&folder, "b").unwrap();
        assert_eq!((store.view().edges(), store.view().nodes()), (2, 4));
    }
}
