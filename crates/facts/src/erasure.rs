//! Which events an erasure by request takes: everything of a scope, or a source and what only it supported.

use std::collections::BTreeSet;

use amem_format::NodeId;
use amem_format::types::{EdgeType, EventType};
use amem_format::view::{Direction, View};
use amem_memory::FactScope;
use uuid::Uuid;

use crate::error::Result;
use crate::feedback::feedback_events;
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::recall::turn_ends;
use crate::record::{AnswerRecord, EventAttributes, name_key, path};
use crate::rejection::{rejected_from, rejections_of};
use crate::scope_plan::events_of;
use crate::stored_turns::turn_event;
use crate::support::{goes_with, supports_by, supports_of};
use amem_query::planner::events_with;

/// True if an event is of fact memory: a reset takes nothing else that carries the scope.
fn is_ours(attributes: &EventAttributes) -> bool {
    attributes.fact.is_some()
        || attributes.turn.is_some()
        || attributes.answer.is_some()
        || attributes.pending.is_some()
        || attributes.feedback.is_some()
        || attributes.support.is_some()
        || attributes.rejected.is_some()
        || attributes.entity.is_some()
        || attributes.turn_end.is_some()
}

/// All events of fact memory of a scope, ascending: versions, ends, turns, feedback, kept answers and pending work.
pub(crate) fn events_of_scope(view: &View, scope: &FactScope) -> Result<Vec<NodeId>> {
    let mut out = Vec::new();
    let mut named = BTreeSet::new();
    let everything = scope.fields().all(|(_, value)| value.is_none());
    let ids: Vec<NodeId> = if everything {
        (0..view.nodes()).map(NodeId).collect()
    } else {
        events_of(view, scope)?
    };
    for id in ids {
        let node = view.node(id)?;
        let attributes = EventAttributes::read(&node)?.filter(|_| !node.is_erased());
        let ours = attributes
            .filter(|attributes| is_ours(attributes) && scope.covers(&attributes.scope()));
        let Some(attributes) = ours else { continue };
        out.push(id);
        let turn = attributes.turn.map(|turn| turn.id);
        named.extend(attributes.fact.map(|fact| fact.id).or(turn));
    }
    if !everything {
        // What a wider scope was answered has texts of this one.
        out.extend(answers_with(view, &named)?);
    }
    out.extend(episodes_of(view, &out)?);
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

/// The episodes that cover one of the events: a summary may have its sentences word by word.
fn episodes_of<'e>(
    view: &View,
    events: impl IntoIterator<Item = &'e NodeId>,
) -> Result<BTreeSet<NodeId>> {
    let mut out = BTreeSet::new();
    for id in events {
        for edge in view.edges_of(*id, Direction::Outgoing)?.iter() {
            if edge.edge_type == EdgeType::PART_OF {
                let whole = view.node(edge.other)?;
                let is_episode = whole.event_type() == EventType::EPISODE && !whole.is_erased();
                out.extend(is_episode.then_some(edge.other));
            }
        }
    }
    Ok(out)
}

/// The parts of kept answers, of any scope, that have texts of memories or turns.
fn answers_with(view: &View, named: &BTreeSet<Uuid>) -> Result<BTreeSet<NodeId>> {
    let answer = |id: NodeId| -> Result<Option<AnswerRecord>> {
        let attributes = EventAttributes::read(&view.node(id)?)?;
        Ok(attributes.and_then(|attributes| attributes.answer))
    };
    let mut keys = BTreeSet::new();
    for id in named {
        let name = name_key(*id);
        for event in events_with(view, path::ANSWER_NAMES, &name)? {
            let found = answer(event)?.filter(|answer| answer.names.contains(&name));
            keys.extend(found.map(|answer| answer.key));
        }
    }
    let mut parts = BTreeSet::new();
    for key in keys {
        for event in events_with(view, path::ANSWER_KEY, &key)? {
            let is_part = answer(event)?.is_some_and(|answer| answer.key == key);
            if is_part && !view.node(event)?.is_erased() {
                parts.insert(event);
            }
        }
    }
    Ok(parts)
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
        let supports = supports_of(view, id)?;
        let Some(head) = chain.head() else { continue };
        if !goes_with(view, head, turn, &supports)? {
            continue;
        }
        for event in chain.events.iter().rev().filter(|event| event.is_version()) {
            if !goes_with(view, event, turn, &supports)? {
                out.push((head.clone(), event.clone()));
                break;
            }
        }
    }
    Ok(out)
}

/// Everything of a memory, current or ended: its versions and its end, feedback, what said it again, kept answers that
/// have its text, and the turns that are the source of no other memory. `None` if there is no such memory in the scope.
pub(crate) fn events_of_memory(
    view: &View,
    scope: &FactScope,
    id: Uuid,
) -> Result<Option<Vec<NodeId>>> {
    let chain = MemoryChain::of(view, id)?;
    let Some(last) = chain.last_version() else {
        return Ok(None);
    };
    if !scope.covers(&last.scope) {
        return Ok(None);
    }
    let supports = supports_of(view, id)?;
    let mut events: BTreeSet<NodeId> = chain.events.iter().map(|event| event.node).collect();
    events.extend(feedback_events(view, id)?.into_iter().map(|(node, _)| node));
    events.extend(supports.iter().map(|(node, _)| *node));
    // A fact that a review accepted was kept as a rejected one before.
    events.extend(rejections_of(view, id)?.into_iter().map(|(node, ..)| node));
    let said = chain.events.iter().flat_map(|event| &event.record.sources);
    let again = supports.iter().flat_map(|(_, record)| &record.sources);
    let turns: BTreeSet<Uuid> = said.chain(again).copied().collect();
    let mut named = BTreeSet::from([id]);
    for turn in turns {
        let Some((node, ..)) = turn_event(view, turn)? else {
            continue;
        };
        let attributes = EventAttributes::read(&view.node(node)?)?.unwrap_or_default();
        let is_only_its = memories_of(view, turn)?.iter().all(|other| *other == id);
        if is_only_its && scope.covers(&attributes.scope()) {
            events.insert(node);
            events.extend(turn_ends(view, turn)?);
            named.insert(turn);
        }
    }
    events.extend(answers_with(view, &named)?);
    events.extend(episodes_of(view, &events)?);
    Ok(Some(events.into_iter().collect()))
}

/// The memories that a turn is a source of.
fn memories_of(view: &View, turn: Uuid) -> Result<BTreeSet<Uuid>> {
    let mut ids = BTreeSet::new();
    for id in events_with(view, path::FACT_SOURCES, &turn.to_string())? {
        let event = ChainEvent::read(&view.node(id)?)?;
        let named = event.filter(|event| event.record.sources.contains(&turn));
        ids.extend(named.map(|event| event.record.id));
    }
    let again = supports_by(view, turn)?.into_iter();
    ids.extend(again.map(|(_, record)| record.id));
    Ok(ids)
}

/// A source, and the memories all of whose versions go with it: their events, and their ids.
///
/// Kept answers that have a text which goes are erased as well, those of other scopes too.
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
    events.extend(turn_ends(view, turn)?);
    let mut memories = Vec::new();
    let mut named = BTreeSet::from([turn]);
    for id in memories_of(view, turn)? {
        let chain = MemoryChain::of(view, id)?;
        let supports = supports_of(view, id)?;
        let (mut gone, mut stays) = (Vec::new(), false);
        for event in chain.events.iter().filter(|event| event.is_version()) {
            match goes_with(view, event, turn, &supports)? {
                true => gone.push(event.node),
                false => stays = true,
            }
        }
        if gone.is_empty() {
            continue;
        }
        named.insert(id);
        if !stays {
            events.extend(chain.events.iter().map(|event| event.node));
            events.extend(feedback_events(view, id)?.into_iter().map(|(node, _)| node));
            events.extend(supports.iter().map(|(node, _)| *node));
            memories.push(id);
        } else {
            // The memory stays, by its other versions.
            events.extend(gone);
        }
    }
    events.extend(rejected_from(view, turn)?);
    for (node, record) in supports_by(view, turn)? {
        if record.sources == [turn] {
            events.insert(node);
        }
    }
    events.extend(answers_with(view, &named)?);
    events.extend(episodes_of(view, &events)?);
    Ok(Some((events.into_iter().collect(), memories)))
}
