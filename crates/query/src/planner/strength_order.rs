//! All events by strength, the strongest first.
//!
//! The base has its own order. Events of the delta, and those whose confidence the delta changed, are sorted
//! when the walk begins, which costs in proportion to the delta.
//! Not here: after a decay run in the delta, in an `as_of` view and at another time than the last run's, every
//! strength is another than the base's; then there is no order to walk, and the listing computes all.

use crate::planner::order::Rank;
use amem_format::error::Result;
use amem_format::types::{Lsn, NodeId};
use amem_format::view::View;

/// A walk over the events of a view by (strength, id) descending, hidden ones too.
#[derive(Debug)]
pub(crate) struct StrengthOrder<'v> {
    view: &'v View,
    /// The base's events that the walk has not come to.
    base: &'v [u32],
    /// What the delta changed or added, the next last.
    changed: Vec<Rank>,
}

/// True if the base's order still holds for what the delta did not change.
pub(crate) fn is_ordered(view: &View) -> bool {
    let is_decayed = || {
        let run = view.decay_run();
        run.is_some_and(|run| run.lsn > view.identity().base_lsn)
    };
    !view.is_as_of() && !is_decayed()
}

impl<'v> StrengthOrder<'v> {
    /// The events of a view for which `is_ordered` holds; those past `after`, if that is given.
    pub(crate) fn new(view: &'v View, after: Option<Rank>) -> Result<Self> {
        let mut base = view.brain().base().strengths()?;
        if let Some(after) = after {
            let (mut from, mut to) = (0, base.len());
            while from < to {
                let middle = from + (to - from) / 2;
                // As it was when the order was made, whatever the delta says.
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

    /// The next event and its strength.
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

/// True if the strength of a base event is another than the base says.
fn is_changed(view: &View, id: NodeId) -> bool {
    let events = &view.brain().delta().events;
    let state = events
        .base_slot(id)
        .and_then(|slot| events.state(slot, view.lsn()));
    state.is_some_and(|state| state.confidence_lsn > Lsn(0))
}

/// Events of the delta, and base events whose strength it changed.
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
