//! Marks of beliefs: which events of an answer are superseded, and which belong to a contested belief.
//!
//! A belief is contested if it has several heads (`resolve`). The mark stands on it, on its replacements that lead to
//! several heads, and on every event that replaces such a belief, so that each of the competing heads has it.
//!
//! Results are cached for the events of one answer: shared chains are walked once.

use std::collections::HashMap;

use crate::graph::heads::Heads;
use crate::graph::resolve;
use crate::planner::scope::{Sight, Visibility};
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, View};

/// What an answer says of an event beside its fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BeliefMark {
    /// The event belongs to a belief with several heads.
    pub is_contested: bool,
    /// A shown event replaces it.
    pub is_superseded: bool,
}

/// Marks events of one view, as far as a caller sees their replacements.
pub struct BeliefMarks<'v> {
    view: &'v View,
    sight: &'v Sight,
    heads: Heads<'v>,
    /// Whether an event has several heads.
    disputed: HashMap<NodeId, bool>,
    /// Whether it, or an event that it replaces, has several heads.
    contested: HashMap<NodeId, bool>,
}

impl<'v> BeliefMarks<'v> {
    /// No marks yet.
    pub fn new(view: &'v View, sight: &'v Sight) -> Self {
        Self {
            view,
            sight,
            heads: Heads::new(view, sight),
            disputed: HashMap::new(),
            contested: HashMap::new(),
        }
    }

    /// The mark of an event.
    pub fn of(&mut self, id: NodeId) -> Result<BeliefMark> {
        let newest = self.heads.newest(id)?;
        Ok(BeliefMark {
            is_contested: self.is_contested(id)?,
            is_superseded: newest.is_some_and(|newest| newest != id),
        })
    }

    /// Walks from an event to what it replaces, up to the first event with several heads.
    fn is_contested(&mut self, id: NodeId) -> Result<bool> {
        // The event that led to each one.
        let mut reached = HashMap::from([(id, None)]);
        let mut todo = vec![id];
        while let Some(at) = todo.pop() {
            let known = self.contested.get(&at).copied();
            if known == Some(false) {
                continue;
            }
            if known == Some(true) || self.is_disputed(at)? {
                let mut above = Some(at);
                while let Some(at) = above {
                    self.contested.insert(at, true);
                    above = reached.get(&at).copied().flatten();
                }
                return Ok(true);
            }
            for edge in self.view.edges_of(at, Direction::Outgoing)?.iter() {
                if edge.edge_type == EdgeType::SUPERSEDES
                    && self.sight.of(&self.view.node(edge.other)?)? != Visibility::Outside
                    && !reached.contains_key(&edge.other)
                {
                    reached.insert(edge.other, Some(at));
                    todo.push(edge.other);
                }
            }
        }
        let none = reached.into_keys().map(|id| (id, false));
        self.contested.extend(none);
        Ok(false)
    }

    /// True if an event has several heads. A chain of single replacements has those of its last event.
    fn is_disputed(&mut self, id: NodeId) -> Result<bool> {
        let (mut chain, mut at) = (Vec::new(), id);
        let found = loop {
            if let Some(&known) = self.disputed.get(&at) {
                break known;
            }
            // An event that comes again on its way has this until the way is known.
            self.disputed.insert(at, false);
            chain.push(at);
            let above = resolve::replacements(self.view, self.sight, at)?;
            match above.as_slice() {
                [] => break false,
                [only] => at = only.id,
                _ => break resolve::heads(self.view, self.sight, at)?.len() > 1,
            }
        };
        self.disputed
            .extend(chain.into_iter().map(|id| (id, found)));
        Ok(found)
    }
}
