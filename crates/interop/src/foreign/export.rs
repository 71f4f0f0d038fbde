//! Export of any graph: checks events and turns ids into positions.
//!
//! Promises: the reader of the layout accepts everything that is exported.

use amem_format::error::{Error, Result};
use amem_format::event::{Edge, Event, Graph};
use amem_format::limits;
use amem_format::types::NodeId;

/// The ids of a graph by position, ascending.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    ids: Vec<u64>,
}

impl Numbering {
    /// Adds the id of the next position.
    pub(crate) fn push(&mut self, id: NodeId) -> Result<()> {
        if let Some(&last) = self.ids.last()
            && last >= id.0
        {
            return Err(Error::invalid(
                "graph",
                format!("event {id} follows event {last}: events must ascend by id"),
            ));
        }
        self.ids.push(id.0);
        Ok(())
    }

    /// The position of an event.
    pub(crate) fn position(&self, id: NodeId) -> Option<u64> {
        if usize::try_from(id.0).is_ok_and(|at| self.ids.get(at) == Some(&id.0)) {
            return Some(id.0);
        }
        self.ids.binary_search(&id.0).ok().map(|p| p as u64)
    }

    /// Number of events whose id is not their position.
    pub(crate) fn renumbered(&self) -> u64 {
        // Ids ascend, so all after the first one that differs do.
        let same = self.ids.iter().zip(0..).take_while(|&(&id, p)| id == p);
        (self.ids.len() - same.count()) as u64
    }

    /// The edges of the event at a position, with positions instead of ids.
    pub(crate) fn edges(&self, edges: &[Edge], position: u64) -> Result<Vec<Edge>> {
        let numbered = |edge: &Edge| {
            let bad = |why| {
                let (source, target) = (edge.source, edge.target);
                Error::invalid(
                    "graph",
                    format!("the edge from event {source} to {target} {why}"),
                )
            };
            if !edge.weight.is_finite() {
                return Err(bad("has a weight that is not finite"));
            }
            let target = self.position(edge.target).ok_or_else(|| {
                bad("points to an event that is not exported: leave the edge out too")
            })?;
            Ok(Edge {
                source: NodeId(position),
                target: NodeId(target),
                ..*edge
            })
        };
        edges.iter().map(numbered).collect()
    }
}

/// The event at a position.
///
/// # Errors
/// If the layout cannot represent it.
pub(crate) fn event(graph: &dyn Graph, position: u64) -> Result<Event> {
    let event = graph.event_at(position)?;
    let text_max = limits::TEXT_BYTES_MAX as u64;
    Error::check_limit("text in bytes", event.text.len() as u64, text_max)?;
    let vector = event.vector.as_deref().unwrap_or_default();
    if event.vector.is_some() && vector.len() != graph.dimension() as usize {
        return Err(Error::Dimension {
            expected: graph.dimension(),
            found: vector.len(),
        });
    }
    let floats = [event.confidence, event.decay_score, event.lambda];
    if !floats.iter().chain(vector).all(|f| f.is_finite()) {
        return Err(Error::invalid(
            "graph",
            format!("event {} has a number that is not finite", event.id),
        ));
    }
    Ok(event)
}

/// The error of a failed write.
pub(crate) fn write_error(source: std::io::Error) -> Error {
    Error::io("write", "the export", source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_ascend_and_are_found_by_position() {
        let mut numbering = Numbering::default();
        for id in [0, 1, 5, 9] {
            numbering.push(NodeId(id)).unwrap();
        }
        assert!(numbering.push(NodeId(9)).is_err());
        let positions = [0, 1, 2, 5, 9, 10].map(|id| numbering.position(NodeId(id)));
        assert_eq!(positions, [Some(0), Some(1), None, Some(2), Some(3), None]);
        assert_eq!(numbering.renumbered(), 2);
    }
}
