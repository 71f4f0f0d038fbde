//! Supersedes chains: a belief's effective confidence, its head, whether an edge closes a cycle.
//!
//! A supersedes edge of weight w leaves its target (1 − w) of the confidence that the target was created with. Of
//! several successors the one that leaves least counts; a forgotten one does not count.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use amem_format::base::history::PriorValue;
use amem_format::journal::frame::Kind;
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, Lsn, NodeId};
use amem_query::Resolve;

use crate::error::{Error, Result};

/// All changes of one mutation to supersedes edges: the effect of each depends on the others.
#[derive(Debug, Default)]
pub(crate) struct SupersedesChanges {
    /// Supersedes edges by target, then source, and their weights; `None`: retracted.
    edges: BTreeMap<NodeId, BTreeMap<NodeId, Option<f32>>>,
    /// The targets of those that are not retracted, by source.
    replaced: HashMap<NodeId, Vec<NodeId>>,
    /// Events that are hidden or shown by the mutation.
    hidden: BTreeMap<NodeId, bool>,
}

impl SupersedesChanges {
    /// Only hides or shows an event.
    pub(crate) fn hiding(id: NodeId, on: bool) -> Self {
        Self {
            hidden: BTreeMap::from([(id, on)]),
            ..Self::default()
        }
    }

    /// Only hides events.
    pub(crate) fn hiding_all(ids: &BTreeSet<NodeId>) -> Self {
        Self {
            hidden: ids.iter().map(|id| (*id, true)).collect(),
            ..Self::default()
        }
    }

    /// Sets a supersedes edge, or retracts it (no weight).
    pub(crate) fn set(&mut self, source: NodeId, target: NodeId, weight: Option<f32>) {
        let of = self.edges.entry(target).or_default();
        if of.insert(source, weight).is_none() && weight.is_some() {
            self.replaced.entry(source).or_default().push(target);
        }
    }

    /// Events whose confidence may change.
    pub(crate) fn targets(&self) -> impl Iterator<Item = NodeId> {
        self.edges.keys().copied()
    }
}

/// The confidence that an event was created with.
pub(crate) fn own_confidence(view: &View, id: NodeId) -> Result<f32> {
    let brain = view.brain();
    if id.0 < brain.base().nodes() {
        for change in brain.base().history()?.of(id) {
            let change = change?;
            if let PriorValue::Confidence(value) = change.before
                && change.target == id
            {
                return Ok(value);
            }
        }
        return Ok(brain.base().record(id)?.confidence);
    }
    let at = (id.0 - brain.base().nodes()) as u32;
    let node = brain.delta().events.nodes.get(at);
    let node = node.ok_or(amem_format::Error::UnknownEvent {
        id,
        count: view.nodes(),
    })?;
    Ok(node.confidence)
}

/// An event's effective confidence once a mutation is done.
pub(crate) fn effective_confidence(
    view: &View,
    id: NodeId,
    pending: &SupersedesChanges,
) -> Result<f32> {
    let own = own_confidence(view, id)?;
    let mut left = 1.0f32;
    let counts = |source: NodeId| -> Result<bool> {
        Ok(match pending.hidden.get(&source) {
            Some(is_hidden) => !is_hidden,
            None => !view.node(source)?.is_forgotten(),
        })
    };
    let changed = pending.edges.get(&id);
    for tie in view.edges_of(id, Direction::Incoming)?.iter() {
        let is_changed = changed.is_some_and(|of| of.contains_key(&tie.other));
        if tie.edge_type == EdgeType::SUPERSEDES && !is_changed && counts(tie.other)? {
            left = left.min(1.0 - view.edge(id, Direction::Incoming, &tie)?.weight);
        }
    }
    for (&source, weight) in changed.into_iter().flatten() {
        if let Some(weight) = weight
            && (source.0 >= view.nodes() || counts(source)?)
        {
            left = left.min(1.0 - weight);
        }
    }
    Ok(own * left)
}

/// The newest visible event that replaces an event and that nothing visible replaces.
pub(crate) fn newest_head(view: &View, id: NodeId) -> Result<NodeId> {
    let query = Resolve {
        event: id,
        limit: 1,
        ..Resolve::default()
    };
    Ok(query.run(view)?.head)
}

/// Refuses an edge by which `source` would come to replace itself.
pub(crate) fn refuse_cycle(
    view: &View,
    pending: &SupersedesChanges,
    source: NodeId,
    target: NodeId,
) -> Result<()> {
    let mut depth = HashMap::from([(target, 1usize)]);
    let mut queue = VecDeque::from([target]);
    while let Some(node) = queue.pop_front() {
        let through = depth[&node];
        if node == source {
            return Err(Error::Cycle {
                source_id: source,
                target,
                through,
            });
        }
        let ties = view.edges_of(node, Direction::Outgoing)?;
        let ties = ties.iter().filter(|t| t.edge_type == EdgeType::SUPERSEDES);
        let new = pending.replaced.get(&node).into_iter().flatten().copied();
        for next in ties.map(|tie| tie.other).chain(new) {
            if let Entry::Vacant(place) = depth.entry(next) {
                place.insert(through + 1);
                queue.push_back(next);
            }
        }
    }
    Ok(())
}

/// The newest commit that is not a touch: `expected_lsn` is compared with it. Readers cause touches, which change
/// nothing that a writer could have read.
pub(crate) fn newest_change(view: &View) -> Result<Lsn> {
    let log = &view.brain().delta().log;
    let newest = (0..view.delta_commits())
        .rev()
        .filter_map(|at| log.get(at))
        .find(|entry| entry.commit.kind != Kind::Touch);
    if let Some(entry) = newest {
        return Ok(entry.commit.lsn);
    }
    let kept = view.brain().base().commits()?;
    for at in (0..kept.len()).rev() {
        let header = kept.at(at)?.header;
        if header.kind != Kind::Touch {
            return Ok(header.lsn);
        }
    }
    // Earlier commits are no longer listed: the last of them may have been anything.
    Ok(view.commits_held_after()?)
}
