//! The history of a new base: that of the older base, then the changes of the delta, by LSN.

use crate::base::history::{PastChange, PriorValue};
use crate::delta::entry::{StateVersion, ValueRef};
use crate::delta::graph::EdgeVersion;
use crate::error::{Error, Result};
use crate::types::{Flags, NodeId};
use crate::view::View;

/// Every change up to the view, without the values of erased events, and without vectors of another space than the
/// view's.
pub(super) fn all<'v>(
    view: &'v View,
    erased: &'v dyn Fn(u64) -> bool,
) -> impl Iterator<Item = Result<PastChange<'v>>> + 'v {
    let (base, failed) = match view.brain().base().history() {
        Ok(history) => (Some(history.iter()), None),
        Err(e) => (None, Some(Err(e))),
    };
    failed
        .into_iter()
        .chain(base.into_iter().flatten())
        .chain(delta(view))
        .filter(move |change| match change {
            Ok(PastChange {
                before: PriorValue::Vector(_),
                ..
            }) if view.other_space().is_some() => false,
            Ok(PastChange {
                target,
                before: PriorValue::Attributes(_) | PriorValue::Vector(_),
                ..
            }) => !erased(target.0),
            _ => true,
        })
}

/// Every change of an event and its edges up to the view, oldest first. Includes values of an erased event while the
/// file has them.
pub fn of<'v>(
    view: &'v View,
    id: NodeId,
) -> Result<impl Iterator<Item = Result<PastChange<'v>>> + 'v> {
    let base = view.brain().base().history()?.of(id);
    let is_its = move |change: &Result<PastChange<'_>>| match change {
        Ok(change) => {
            change.target == id
                || matches!(change.before, PriorValue::Edge { target, .. } if target == id)
        }
        Err(_) => true,
    };
    Ok(base.chain(delta(view).filter(is_its)))
}

/// The changes of the delta: merges two lists that each ascend by LSN.
fn delta(view: &View) -> impl Iterator<Item = Result<PastChange<'_>>> + '_ {
    let delta = view.brain().delta();
    let bound = view.lsn();
    let mut states = delta
        .events
        .states
        .iter()
        .take_while(move |s| s.lsn <= bound)
        .peekable();
    let mut versions = delta
        .edges
        .versions
        .iter()
        .take_while(move |v| v.lsn <= bound)
        .peekable();
    let mut ready: std::collections::VecDeque<Result<PastChange<'_>>> = Default::default();
    std::iter::from_fn(move || {
        loop {
            if let Some(change) = ready.pop_front() {
                return Some(change);
            }
            let state_first = match (states.peek(), versions.peek()) {
                (None, None) => return None,
                (Some(state), Some(version)) => state.lsn <= version.lsn,
                (state, _) => state.is_some(),
            };
            if state_first {
                if let Some(state) = states.next()
                    && let Err(e) = state_changes(view, state, &mut ready)
                {
                    ready.push_back(Err(e));
                }
            } else if let Some(version) = versions.next()
                && let Some(change) = edge_change(view, version)
            {
                ready.push_back(Ok(change));
            }
        }
    })
}

fn edge_change<'v>(view: &'v View, version: &EdgeVersion) -> Option<PastChange<'v>> {
    let slot = view.brain().delta().edges.slots.get(version.slot)?;
    // An edge's first version has no history: its recorded time suffices.
    if version.before.is_none() && version.previous == crate::delta::entry::END {
        return None;
    }
    Some(PastChange {
        lsn: version.lsn,
        time: version.time,
        actor: version.actor,
        target: slot.source,
        before: PriorValue::Edge {
            target: slot.target,
            edge_type: slot.edge_type,
            existed: version.before,
        },
    })
}

fn state_changes<'v>(
    view: &'v View,
    state: &StateVersion,
    out: &mut std::collections::VecDeque<Result<PastChange<'v>>>,
) -> Result<()> {
    let brain = view.brain();
    let before = match brain.delta().events.states.get(state.previous) {
        Some(before) => *before,
        None => brain.initial_state(state.node)?,
    };
    let mut push = |before: PriorValue<'v>| {
        out.push_back(Ok(PastChange {
            lsn: state.lsn,
            time: state.time,
            actor: state.actor,
            target: state.node,
            before,
        }));
    };
    if before.confidence.to_bits() != state.confidence.to_bits() {
        push(PriorValue::Confidence(before.confidence));
    }
    let derived = Flags::VECTOR.with(Flags::ATTRIBUTES);
    if before.flags.without(derived) != state.flags.without(derived) {
        push(PriorValue::Flags(before.flags));
    }
    if before.lambda.to_bits() != state.lambda.to_bits() {
        push(PriorValue::Lambda(before.lambda));
    }
    if before.attributes != state.attributes {
        let bytes = value_before(view, state.node, before.attributes, initial_attributes)?;
        let json = bytes
            .map(|b| {
                std::str::from_utf8(b).map_err(|e| Error::corrupt("attributes", 0, e.to_string()))
            })
            .transpose()?;
        push(PriorValue::Attributes(json));
    }
    if before.vector != state.vector {
        push(PriorValue::Vector(value_before(
            view,
            state.node,
            before.vector,
            initial_vector,
        )?));
    }
    Ok(())
}

fn value_before<'v>(
    view: &'v View,
    id: NodeId,
    held: ValueRef,
    initial: fn(&'v View, NodeId) -> Result<Option<&'v [u8]>>,
) -> Result<Option<&'v [u8]>> {
    match held {
        ValueRef::None => Ok(None),
        ValueRef::At(span) => view.brain().span(span).map(Some),
        ValueRef::Initial => initial(view, id),
    }
}

fn initial_attributes(view: &View, id: NodeId) -> Result<Option<&[u8]>> {
    let brain = view.brain();
    match id.0.checked_sub(brain.base().nodes()) {
        None => Ok(brain.base().attributes()?.get(id)?.map(str::as_bytes)),
        Some(at) => match brain.delta().events.nodes.get(at as u32) {
            Some(node) if node.attributes.len > 0 => brain.span(node.attributes).map(Some),
            _ => Ok(None),
        },
    }
}

fn initial_vector(view: &View, id: NodeId) -> Result<Option<&[u8]>> {
    let brain = view.brain();
    match id.0.checked_sub(brain.base().nodes()) {
        None if brain.base().record(id)?.flags.has(Flags::VECTOR) => {
            Ok(Some(bytemuck::cast_slice(brain.base().vector(id)?)))
        }
        None => Ok(None),
        Some(at) => match brain.delta().events.nodes.get(at as u32) {
            Some(node) if node.vector.len > 0 => brain.span(node.vector).map(Some),
            _ => Ok(None),
        },
    }
}
