//! All events by strength, the strongest first.
//!
//! The base stores its own order. When the walk begins, it sorts the events of the delta and those whose confidence the
//! delta changed; that costs in proportion to the delta.
//! Not here: after a decay run in the delta, in an `as_of` view, and at another time than the last run's, all strengths
//! differ from the base's. Then no stored order applies, and the listing computes them.

use crate::planner::order::Rank;
use amem_format::error::Result;
use amem_format::types::{Lsn, NodeId};
use amem_format::view::View;

/// A walk over the events of a view by (strength, id), descending, hidden events included.
#[derive(Debug)]
pub(crate) struct StrengthOrder<'v> {
    view: &'v View,
    /// The base's events that remain.
    base: &'v [u32],
    /// Events that the delta changed or added, the next one last.
    changed: Vec<Rank>,
}

/// True if the base's order holds for events that the delta did not change.
pub(crate) fn is_ordered(view: &View) -> bool {
    let is_decayed = || {
        let run = view.decay_run();
        run.is_some_and(|run| run.lsn > view.identity().base_lsn)
    };
    !view.is_of_moment() && !is_decayed()
}

impl<'v> StrengthOrder<'v> {
    /// Walks the events of a view for which `is_ordered` holds; only those after `after`, if given.
    pub(crate) fn new(view: &'v View, after: Option<Rank>) -> Result<Self> {
        let mut base = view.brain().base().strengths()?;
        if let Some(after) = after {
            let (mut from, mut to) = (0, base.len());
            while from < to {
                let middle = from + (to - from) / 2;
                // The strength at the checkpoint, which ignores the delta.
                let id = NodeId(base[middle].into());
                let strength = view.brain().base().record(id)?.decay_score;
                if Rank::of_strength(strength, id) >= after {
                    from = middle + 1
                } else {
                    to = middle
                }
            }
            base = &base[from..];
        }
        let mut changed = Vec::new();
        for id in changed_events(view) {
            let rank = Rank::of_strength(view.node(id)?.strength(), id);
            if after.is_none_or(|after| rank < after) {
                changed.push(rank);
            }
        }
        changed.sort_unstable();
        Ok(Self {
            view,
            base,
            changed,
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Rank>> {
        while let Some((&id, rest)) = self.base.split_first() {
            let id = NodeId(id.into());
            if is_changed(self.view, id) {
                self.base = rest;
                continue;
            }
            let rank = Rank::of_strength(self.view.node(id)?.strength(), id);
            if self.changed.last().is_some_and(|changed| *changed > rank) {
                break;
            }
            self.base = rest;
            return Ok(Some(rank));
        }
        Ok(self.changed.pop())
    }
}

/// True if the delta changed the strength of a base event.
fn is_changed(view: &View, id: NodeId) -> bool {
    let events = &view.brain().delta().events;
    let state = events
        .base_slot(id)
        .and_then(|slot| events.state(slot, view.lsn()));
    state.is_some_and(|state| state.confidence_lsn > Lsn(0))
}

/// The events of the delta, and the base events whose strength it changed.
fn changed_events(view: &View) -> impl Iterator<Item = NodeId> {
    let first = view.brain().base().nodes();
    let states = &view.brain().delta().events.states;
    let len = states.partition_point(states.len(), |state| state.lsn <= view.lsn());
    let mut changed: Vec<NodeId> = (0..len)
        .filter_map(|at| states.get(at))
        .filter(|state| state.node.0 < first && state.confidence_lsn > Lsn(0))
        .map(|state| state.node)
        .collect();
    changed.sort_unstable();
    changed.dedup();
    changed.into_iter().chain((first..view.nodes()).map(NodeId))
}
