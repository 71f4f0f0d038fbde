//! What supports a version: the turns that it is from, and those that said the same again.

use std::collections::BTreeSet;

use amem_format::NodeId;
use amem_format::view::View;
use uuid::Uuid;

use crate::error::Result;
use crate::memory_chain::ChainEvent;
use crate::record::{EventAttributes, SupportRecord, path};
use crate::stored_turns::turn_event;
use amem_query::planner::events_with;

/// What said again what a memory says, in order.
pub(crate) fn supports_of(view: &View, memory: Uuid) -> Result<Vec<(NodeId, SupportRecord)>> {
    with(view, path::SUPPORT_ID, memory, |record| record.id == memory)
}

/// Where a turn said again what memories say.
pub(crate) fn supports_by(view: &View, turn: Uuid) -> Result<Vec<(NodeId, SupportRecord)>> {
    with(view, path::SUPPORT_SOURCES, turn, |record| {
        record.sources.contains(&turn)
    })
}

fn with(
    view: &View,
    path: &str,
    value: Uuid,
    is_meant: impl Fn(&SupportRecord) -> bool,
) -> Result<Vec<(NodeId, SupportRecord)>> {
    let mut found = Vec::new();
    for node in events_with(view, path, &value.to_string())? {
        let node = view.node(node)?;
        if node.is_erased() {
            continue;
        }
        let record = EventAttributes::read(&node)?.and_then(|attributes| attributes.support);
        found.extend(record.filter(&is_meant).map(|record| (node.id(), record)));
    }
    Ok(found)
}

/// The turns that a version is from, in order: its own, then those that said the same again.
pub(crate) fn sources_of(event: &ChainEvent, supports: &[(NodeId, SupportRecord)]) -> Vec<Uuid> {
    let mut sources = event.record.sources.clone();
    let mut seen: BTreeSet<Uuid> = sources.iter().copied().collect();
    let again = supports
        .iter()
        .filter(|(_, record)| record.hash == event.record.hash);
    for (_, record) in again {
        sources.extend(record.sources.iter().filter(|turn| seen.insert(**turn)));
    }
    sources
}

/// True if a version goes with a turn: no other source is left, or it joins what several turns said.
pub(crate) fn goes_with(
    view: &View,
    event: &ChainEvent,
    turn: Uuid,
    supports: &[(NodeId, SupportRecord)],
) -> Result<bool> {
    let sources = sources_of(event, supports);
    if !sources.contains(&turn) || event.record.joined {
        return Ok(event.record.sources.contains(&turn));
    }
    for other in sources.into_iter().filter(|other| *other != turn) {
        if turn_event(view, other)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
