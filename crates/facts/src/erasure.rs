//! Which events an erasure by request takes: everything of a scope, or a source and what only it supported.

use std::collections::BTreeSet;

use amem_format::NodeId;
use amem_format::view::View;
use amem_memory::FactScope;
use uuid::Uuid;

use crate::batch_plan::turn_event;
use crate::error::Result;
use crate::feedback::feedback_events;
use crate::lookup::events_with;
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::record::{EventAttributes, path};
use crate::scope_plan::events_of;

/// True if an event is of fact memory: a reset takes nothing else that carries the scope.
fn is_ours(attributes: &EventAttributes) -> bool {
    attributes.fact.is_some()
        || attributes.turn.is_some()
        || attributes.answer.is_some()
        || attributes.pending.is_some()
        || attributes.feedback.is_some()
}

/// All events of fact memory of a scope, ascending: versions, ends, turns, feedback, kept answers and pending work.
pub(crate) fn events_of_scope(view: &View, scope: &FactScope) -> Result<Vec<NodeId>> {
    let mut out = Vec::new();
    let everything = scope.fields().all(|(_, value)| value.is_none());
    let ids: Vec<NodeId> = if everything {
        (0..view.nodes()).map(NodeId).collect()
    } else {
        events_of(view, scope)?
    };
    for id in ids {
        let node = view.node(id)?;
        let attributes = EventAttributes::read(&node)?.filter(|_| !node.is_erased());
        let is_taken = attributes
            .is_some_and(|attributes| is_ours(&attributes) && scope.covers(&attributes.scope()));
        if is_taken {
            out.push(id);
        }
    }
    Ok(out)
}

/// The memories of a turn, current ones, whose newest version only it supported, while an earlier one has another
/// source: with the last such version, which is what is known once the turn is erased.
pub(crate) fn outlasting_versions(
    view: &View,
    scope: &FactScope,
    turn: Uuid,
) -> Result<Vec<(ChainEvent, ChainEvent)>> {
    let Some((node, ..)) = turn_event(view, turn)? else {
        return Ok(Vec::new());
    };
    let attributes = EventAttributes::read(&view.node(node)?)?.unwrap_or_default();
    if !scope.covers(&attributes.scope()) {
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for id in memories_of(view, turn)? {
        let chain = MemoryChain::of(view, id)?;
        let is_only = |event: &&ChainEvent| event.record.sources == [turn];
        let Some(head) = chain.head().filter(is_only) else {
            continue;
        };
        let versions = chain.events.iter().rev().filter(|event| event.is_version());
        if let Some(earlier) = versions.into_iter().find(|event| !is_only(event)) {
            out.push((head.clone(), earlier.clone()));
        }
    }
    Ok(out)
}

/// The memories that a turn is a source of.
fn memories_of(view: &View, turn: Uuid) -> Result<BTreeSet<Uuid>> {
    let mut ids = BTreeSet::new();
    for id in events_with(view, path::FACT_SOURCES, &turn.to_string())? {
        let event = ChainEvent::read(&view.node(id)?)?;
        let named = event.filter(|event| event.record.sources.contains(&turn));
        ids.extend(named.map(|event| event.record.id));
    }
    Ok(ids)
}

/// A source, and the memories all of whose versions only it supported: their events, and their ids.
///
/// Answers that are kept for repetitions of the same scope go with it, as they repeat texts.
pub(crate) fn events_of_source(
    view: &View,
    scope: &FactScope,
    turn: Uuid,
) -> Result<Option<(Vec<NodeId>, Vec<Uuid>)>> {
    let Some((node, ..)) = turn_event(view, turn)? else {
        return Ok(None);
    };
    let attributes = EventAttributes::read(&view.node(node)?)?.unwrap_or_default();
    let own = attributes.scope();
    if !scope.covers(&own) {
        return Ok(None);
    }
    let mut events = BTreeSet::from([node]);
    let mut memories = Vec::new();
    for id in memories_of(view, turn)? {
        let chain = MemoryChain::of(view, id)?;
        let is_only = |event: &&ChainEvent| event.record.sources == [turn];
        let versions = || chain.events.iter().filter(|event| event.is_version());
        if versions().all(|event| is_only(&event)) {
            events.extend(chain.events.iter().map(|event| event.node));
            events.extend(feedback_events(view, id)?.into_iter().map(|(node, _)| node));
            memories.push(id);
        } else {
            // A version that only this source supported goes; the memory stays, by its other versions.
            events.extend(versions().filter(is_only).map(|event| event.node));
        }
    }
    for id in events_of(view, &own)? {
        let attributes = EventAttributes::read(&view.node(id)?)?;
        let is_answer = attributes
            .is_some_and(|attributes| attributes.answer.is_some() && attributes.scope() == own);
        if is_answer {
            events.insert(id);
        }
    }
    Ok(Some((events.into_iter().collect(), memories)))
}
