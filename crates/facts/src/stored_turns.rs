//! The turns of a brain: by id, and by what was said when.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::FactScope;
use uuid::Uuid;

use crate::error::Result;
use crate::record::{EventAttributes, TurnRecord, path, turn_key};
use amem_query::planner::events_with;

/// The event of a turn in a brain, and whether it may be an end of an edge.
pub(crate) fn turn_event(view: &View, id: Uuid) -> Result<Option<(NodeId, TurnRecord, Micros)>> {
    for node in events_with(view, path::TURN_ID, &id.to_string())? {
        let node = view.node(node)?;
        if node.is_forgotten() || node.is_erased() {
            continue;
        }
        let found = EventAttributes::read(&node)?.and_then(|attributes| attributes.turn);
        if let Some(turn) = found.filter(|turn| turn.id == id) {
            return Ok(Some((node.id(), turn, node.happened()?)));
        }
    }
    Ok(None)
}

/// The turn that is stored under a scope with this text and time.
pub(crate) fn stored_turn(
    view: &View,
    scope: &FactScope,
    hash: &str,
    time: Micros,
) -> Result<Option<(NodeId, Uuid)>> {
    let key = turn_key(scope, hash, time);
    for node in events_with(view, path::TURN_KEY, &key)? {
        let node = view.node(node)?;
        if node.is_forgotten() || node.is_erased() {
            continue;
        }
        let Some(attributes) = EventAttributes::read(&node)? else {
            continue;
        };
        let is_same = attributes.scope() == *scope && node.event_time()? == Some(time);
        if let Some(turn) = attributes.turn.filter(|turn| is_same && turn.hash == hash) {
            return Ok(Some((node.id(), turn.id)));
        }
    }
    Ok(None)
}
