//! The memory budget of a merge: memory is counted before it is allocated.
//!
//! Promises: a merge over its limit ends with an error that says what to do, and does not exhaust the process. Sizes
//! are upper estimates of entries and of their tables.

use std::mem::size_of;

use amem_format::event::{Event, Graph};

use crate::error::{Error, Result};

/// Bytes of a new event beside its operation: what the brain holds of it until the next checkpoint.
pub(crate) const NEW_EVENT_BYTES: u64 = 512;
/// The same of a new edge.
pub(crate) const NEW_EDGE_BYTES: u64 = 256;
/// Bytes of the operation that changes a belief.
pub(crate) const BELIEF_OP_BYTES: u64 = 32;
/// Bytes of an entry in a map beside what it holds: maps are half empty after they have grown.
const AROUND: u64 = 16;
/// How often the texts and vectors of a file of another layout are in memory at once: as events, as operations, as the
/// journal of the brain that is made of these.
const COPIES: u64 = 3;
/// Bytes of an event of such a file beside its values, in all of these and in the tables of that brain.
const DECODED_EVENT: u64 = 2 * size_of::<Event>() as u64 + 512;
/// The same of an edge.
const DECODED_EDGE: u64 = 256;
/// Bytes of parsed attributes for one of their JSON.
const PARSED: u64 = 8;

/// Bytes in memory for one of a journal that is replayed: the smallest operations, of a dozen bytes, leave the state of
/// an event or an edge from both ends, and words of a few letters an entry in the index of terms.
const REPLAYED: u64 = 16;

/// The limit of a merge and the memory in use.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    max: u64,
    taken: u64,
}

impl MemoryBudget {
    pub(crate) fn new(max: u64) -> Self {
        Self { max, taken: 0 }
    }

    /// Takes bytes until they are released.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<()> {
        self.check(bytes)?;
        self.taken += bytes;
        Ok(())
    }

    /// Takes `count` entries of a list or a map.
    pub(crate) fn take_entries(&mut self, count: u64, size: usize) -> Result<()> {
        self.take(entries(count, size))
    }

    /// Releases what was taken since `taken` was read.
    pub(crate) fn release_to(&mut self, taken: u64) {
        self.taken = taken;
    }

    /// Bytes that are taken now.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Refuses `more` bytes if they are over the limit.
    pub(crate) fn check(&self, more: u64) -> Result<()> {
        let bytes = self.taken.saturating_add(more);
        if bytes > self.max {
            return Err(Error::MergeTooLarge {
                of: "memory",
                bytes,
                max: self.max,
            });
        }
        Ok(())
    }
}

/// Bytes of `count` entries of a list or a map.
pub(crate) fn entries(count: u64, size: usize) -> u64 {
    count.saturating_mul(2 * (size as u64 + AROUND))
}

/// Refuses a journal that would take too much once it is replayed.
pub(crate) fn check_journal(bytes: u64, max: u64) -> Result<()> {
    MemoryBudget::new(max).take(bytes.saturating_mul(REPLAYED))
}

/// Refuses a graph that would take too much as a brain that is read: by its counts before anything of it is decoded,
/// then by its values, one event at a time.
pub(crate) fn check_graph(graph: &dyn Graph, edges: u64, max: u64) -> Result<()> {
    let mut budget = MemoryBudget::new(max);
    budget.take(graph.event_count().saturating_mul(DECODED_EVENT))?;
    budget.take(edges.saturating_mul(DECODED_EDGE))?;
    for position in 0..graph.event_count() {
        let event = graph.event_at(position)?;
        let vector = event.vector.map_or(0, |vector| 4 * vector.len());
        budget.take(COPIES * (event.text.len() + vector) as u64)?;
        if let Some(attributes) = event.attributes {
            let json = serde_json::to_string(&attributes)
                .map_err(|e| Error::invalid("attributes", e.to_string()))?;
            budget.take((COPIES + PARSED) * json.len() as u64)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use amem_format::event::{Edge, MemoryGraph};
    use amem_format::{EventType, Flags, Micros, NodeId, SessionId};

    use super::*;
    use crate::limits::MERGE_MEMORY_BYTES_MAX;

    /// A graph that must not be read.
    struct CountedGraph(u64);

    impl Graph for CountedGraph {
        fn dimension(&self) -> u32 {
            0
        }

        fn event_count(&self) -> u64 {
            self.0
        }

        fn event_at(&self, position: u64) -> amem_format::Result<Event> {
            panic!("event {position} is decoded")
        }

        fn edges_at(&self, position: u64) -> amem_format::Result<Vec<Edge>> {
            panic!("the edges of event {position} are decoded")
        }
    }

    fn event(id: u64, text: String) -> Event {
        Event {
            id: NodeId(id),
            event_type: EventType::FACT,
            flags: Flags::default(),
            created_at: Micros(1),
            event_time: None,
            session: SessionId(0),
            confidence: 1.0,
            access_count: 0,
            last_accessed: Micros(1),
            decay_score: 1.0,
            lambda: 0.0,
            text,
            vector: None,
            attributes: None,
        }
    }

    #[test]
    fn too_many_events_or_edges_are_refused_before_one_is_decoded() {
        for (events, edges) in [(10_000_000, 0), (u64::MAX, 0), (1, 1 << 32), (1, u64::MAX)] {
            let refused =
                check_graph(&CountedGraph(events), edges, MERGE_MEMORY_BYTES_MAX).unwrap_err();
            assert!(matches!(refused, Error::MergeTooLarge { .. }), "{refused}");
        }
    }

    #[test]
    fn values_are_counted_until_there_is_no_room() {
        let texts = (0..100).map(|at| event(at, "x".repeat(1000)));
        let graph = MemoryGraph {
            events: texts.collect(),
            ..MemoryGraph::default()
        };
        let needed = 100 * (DECODED_EVENT + 1000 * COPIES);
        check_graph(&graph, 0, needed).unwrap();
        let refused = check_graph(&graph, 0, needed - 1).unwrap_err();
        assert!(refused.to_string().contains("memory"), "{refused}");
    }

    #[test]
    fn a_journal_counts_by_its_length() {
        check_journal(MERGE_MEMORY_BYTES_MAX / REPLAYED, MERGE_MEMORY_BYTES_MAX).unwrap();
        for bytes in [MERGE_MEMORY_BYTES_MAX / REPLAYED + 1, u64::MAX] {
            let refused = check_journal(bytes, MERGE_MEMORY_BYTES_MAX).unwrap_err();
            assert!(matches!(refused, Error::MergeTooLarge { .. }), "{refused}");
        }
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let mut budget = MemoryBudget::new(100);
        budget.take(40).unwrap();
        let before = budget.taken();
        budget.take(60).unwrap();
        budget.take(1).unwrap_err();
        budget.release_to(before);
        budget.take(60).unwrap();
        budget.check(u64::MAX).unwrap_err();
    }
}
