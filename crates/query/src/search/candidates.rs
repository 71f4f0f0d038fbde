//! The few events that a selective filter may admit, from the index of values.
//!
//! A search looks at events by their scores, and asks of each whether the selection contains it. Where the index
//! proposes few events, only these are scored: what the others say changes statistics alone.
//!
//! Promises: each event that the selection contains is among them, and each that is found as its newest head. Scores
//! are parts of the greatest among them.

use std::collections::HashSet;
use std::sync::Arc;

use super::request::Search;
use crate::planner::subject::{NodeSubject, Strength};
use crate::planner::values::ValueIds;
use amem_format::brain::ScopeList;
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, View};

/// More events than these are not gathered.
const CANDIDATES_MAX: u64 = 10_000;
/// So many may be proposed for each that is gathered.
const PROPOSED_PER_CANDIDATE: u64 = 4;
/// They are gathered if they are at most this part of the searched events.
const CANDIDATES_SHARE: u64 = 8;

impl Search {
    /// The events that may be found; `None` if they are not few, or if the scores of others reach them.
    pub(super) fn candidates(
        &self,
        view: &View,
        scope: Option<&ScopeList>,
    ) -> Result<Option<Arc<ScopeList>>> {
        let shares = [
            self.neighbour_share,
            self.session_share,
            self.question_share,
        ];
        let Some(filter) = &self.selection.filter else {
            return Ok(None);
        };
        let searched = scope.map_or(view.nodes(), |scope| scope.ids.len() as u64);
        let most = CANDIDATES_MAX.min(searched / CANDIDATES_SHARE);
        let proposed = match shares {
            [0.0, 0.0, 0.0] => ValueIds::new(view, filter)?,
            _ => None,
        };
        // The index proposes more where the journal changed events: what is few is counted by the filter itself, so
        // that an answer does not depend on what is folded.
        let Some(mut proposed) = proposed.filter(|ids| ids.len() <= PROPOSED_PER_CANDIDATE * most)
        else {
            return Ok(None);
        };
        let strength = Strength::new(view, self.selection.strength_at)?;
        let is_searched = |id: u32| scope.is_none_or(|scope| scope.contains(NodeId(id.into())));
        let (mut ids, mut from) = (Vec::new(), 0);
        while let Some(id) = proposed.first_from(from)? {
            from = id + 1;
            let node = view.node(NodeId(id.into()))?;
            if is_searched(id) && filter.matches(&NodeSubject::new(&node, &strength))? {
                ids.push(id);
            }
        }
        if ids.len() as u64 > most {
            return Ok(None);
        }
        if !self.include_superseded {
            append_superseded(view, &mut ids)?;
            ids.retain(|&id| is_searched(id));
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(Some(Arc::new(ScopeList::of(ids))))
    }
}

/// Appends what the events supersede, and what that does.
fn append_superseded(view: &View, ids: &mut Vec<u32>) -> Result<()> {
    let (mut at, mut known) = (0, ids.iter().copied().collect::<HashSet<u32>>());
    while at < ids.len() {
        let edges = view.edges_of(NodeId(ids[at].into()), Direction::Outgoing)?;
        let older = edges
            .iter()
            .filter(|edge| edge.edge_type == EdgeType::SUPERSEDES);
        // Ids fit 32 bits (`NODES_MAX`).
        let older = older.map(|edge| edge.other.0 as u32);
        ids.extend(older.filter(|id| known.insert(*id)));
        at += 1;
    }
    Ok(())
}
