//! Evidence: which end of a supports edge is the evidence for the other.
//!
//! The target is the evidence for the source. Builds before the first release stored the edges of fact memory the other
//! way, from a turn to the fact that was found in it; such an edge is read against its direction
//! (docs/decisions/0042-evidence-of-facts.md). It is known by its ends: an older turn and a newer version of a memory.

use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, EdgeRef, GraphReader, View};

use crate::planner::lookup::may_have;

/// The attribute of a turn of a conversation.
const TURN_ATTRIBUTE: &str = "amem.turn";
/// The attribute of a version of a memory.
const FACT_ATTRIBUTE: &str = "amem.fact";
/// The path whose value says whether an event is a version of a memory.
const FACT_STATE_PATH: &str = "amem.fact.state";
/// The value of `FACT_STATE_PATH` at a version.
const FACT_VERSION: &str = "version";

/// What an event is in fact memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FactRole {
    Turn,
    Version,
    /// An erase left no attribute that says it.
    Erased,
    Other,
}

fn role_of(view: &View, id: NodeId) -> Result<FactRole> {
    let node = view.node(id)?;
    if node.is_erased() {
        return Ok(FactRole::Erased);
    }
    let attributes = node.attributes()?.unwrap_or_default();
    Ok(if attributes.contains_key(FACT_ATTRIBUTE) {
        FactRole::Version
    } else if attributes.contains_key(TURN_ATTRIBUTE) {
        FactRole::Turn
    } else {
        FactRole::Other
    })
}

/// False if the brain has no edge that leads from a turn to a memory.
pub(crate) fn may_be_reversed(view: &View) -> Result<bool> {
    may_have(view, FACT_STATE_PATH, FACT_VERSION)
}

/// True if the source of a supports edge is the evidence for its target.
fn is_reversed(view: &View, source: NodeId, target: NodeId) -> Result<bool> {
    // No turn rests on what came after it: only such edges need a look at the events.
    if source >= target {
        return Ok(false);
    }
    let is_turn = match role_of(view, source)? {
        FactRole::Turn => true,
        FactRole::Erased => false,
        FactRole::Version | FactRole::Other => return Ok(false),
    };
    Ok(match role_of(view, target)? {
        FactRole::Version => true,
        FactRole::Erased => is_turn,
        FactRole::Turn | FactRole::Other => false,
    })
}

/// The edges of an event that a walk along evidence follows, and their directions: those in `direction`, and edges of
/// type supports that are read against it.
pub(crate) fn edges_along(
    web: &GraphReader<'_>,
    id: NodeId,
    direction: Direction,
) -> Result<Vec<(EdgeRef, Direction)>> {
    let against = match direction {
        Direction::Outgoing => Direction::Incoming,
        Direction::Incoming => Direction::Outgoing,
    };
    let is_read_against = |edge: &EdgeRef, direction| -> Result<bool> {
        if edge.edge_type != EdgeType::SUPPORTS {
            return Ok(false);
        }
        match direction {
            Direction::Outgoing => is_reversed(web.view(), id, edge.other),
            Direction::Incoming => is_reversed(web.view(), edge.other, id),
        }
    };
    let mut out = Vec::new();
    for edge in web.edges_of(id, direction)?.iter() {
        if !is_read_against(&edge, direction)? {
            out.push((edge, direction));
        }
    }
    for edge in web.edges_of(id, against)?.iter() {
        if is_read_against(&edge, against)? {
            out.push((edge, against));
        }
    }
    Ok(out)
}
