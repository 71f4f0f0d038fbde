//! Score propagation: what an event's neighbours and session add to its score, and bounds of it.
//!
//! Neighbours are found along temporal-next edges, one and two steps away, separately in each direction. An event
//! spreads its score only if the selection contains it and the event between; bounds ignore the selection. The state of
//! each event and session is cached, so an event with a million neighbours is read once.

use std::collections::HashMap;
use std::ops::Range;

use crate::graph::heads::Heads;
use crate::graph::visited::NodeMap;
use crate::planner::scope::{Sight, Visibility};
use crate::planner::selected::PlannedSelection;
use crate::search::base_score::BaseScores;
use crate::search::paged_vec::PagedVec;
use crate::search::short_question::ShortQuestions;
use amem_format::error::{Error, Result};
use amem_format::top::ScoredEvent;
use amem_format::types::{EdgeType, NodeId, SessionId};
use amem_format::view::{Direction, GraphReader, Node, View};

/// The directions along temporal-next edges. Adjacency is stored by index into this array.
pub(super) const DIRECTIONS: [Direction; 2] = [Direction::Outgoing, Direction::Incoming];
/// The directions of the events after and before.
const AFTER: usize = 0;
const BEFORE: usize = 1;

/// The base scores of events near one, or bounds of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NearScores {
    /// Of the best one step away, summed over both directions.
    pub(super) firsts: f32,
    /// The same two steps away.
    pub(super) seconds: f32,
    /// Of the best short question just before.
    pub(super) before: f32,
}

/// The shares of their base scores that events lend.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpreadShares {
    /// One step away, and two.
    pub(super) first: f32,
    pub(super) second: f32,
    /// A short question just before.
    pub(super) question: f32,
    /// The best of the session.
    pub(super) session: f32,
}

/// Maximum neighbours of an event to prefetch.
const PREFETCHED_MAX: usize = 8;

/// Events before, and events after a hit whose words count for its relevance.
const BESIDE_MAX: usize = 8;

/// The state of score propagation.
pub(super) struct Spread<'s, 'v> {
    view: &'v View,
    web: GraphReader<'v>,
    base_scores: &'s BaseScores<'v>,
    selected: PlannedSelection<'v>,
    sight: &'v Sight,
    heads: Heads<'v>,
    /// Superseded events stand for themselves, not for their heads.
    include_superseded: bool,
    entry_index: NodeMap,
    /// By index from `entry_index`.
    entries: PagedVec<EventEntry>,
    /// The neighbours of each event, contiguous.
    neighbours: Vec<u32>,
    sessions: Vec<SessionBest>,
    session_index: HashMap<SessionId, u32>,
}

/// What is known about an event: one cache line, as a query may visit every event.
struct EventEntry {
    id: u32,
    /// A packed `Membership`, or `UNKNOWN`.
    membership: u32,
    adjacency: [AdjacencyRange; 2],
    /// NaN until computed.
    base_score: f32,
    /// The greatest base scores seen among neighbours one and two steps away, per direction.
    seen: [NeighbourMax; 2],
    is_visited: bool,
    is_expanded: [bool; 2],
}

const _: () = assert!(size_of::<EventEntry>() == 64);

/// The greatest base score seen, per direction; NaN if none.
type NeighbourMax = [f32; 2];

/// Whether the selection contains an event, and its session.
#[derive(Clone, Copy, PartialEq)]
enum Membership {
    Unwanted,
    NoSession,
    Session(u32),
}

impl Membership {
    /// Marks an unknown membership: session indexes are smaller, as there are fewer sessions than events.
    const UNKNOWN: u32 = u32::MAX;

    fn packed(self) -> u32 {
        match self {
            Self::Unwanted => u32::MAX - 1,
            Self::NoSession => u32::MAX - 2,
            Self::Session(at) => at,
        }
    }

    fn unpacked(packed: u32) -> Option<Self> {
        match packed {
            Self::UNKNOWN => None,
            packed if packed == Self::Unwanted.packed() => Some(Self::Unwanted),
            packed if packed == Self::NoSession.packed() => Some(Self::NoSession),
            at => Some(Self::Session(at)),
        }
    }
}

/// The best selected event of a session. NaN until known.
struct SessionBest {
    /// An upper bound of its base score.
    upper_bound: f32,
    /// Its base score.
    max: f32,
}

/// The neighbours of an event in one direction.
#[derive(Clone, Copy)]
struct AdjacencyRange {
    from: u32,
    until: u32,
    /// An upper bound of their base scores.
    upper_bound: f32,
    /// The greatest base score of a selected one; NaN until known.
    max: f32,
}

impl AdjacencyRange {
    const UNKNOWN: Self = Self {
        from: u32::MAX,
        until: u32::MAX,
        upper_bound: 0.0,
        max: f32::NAN,
    };

    fn is_known(self) -> bool {
        self.from != Self::UNKNOWN.from
    }

    fn neighbours(self) -> Range<usize> {
        self.from as usize..self.until as usize
    }
}

/// An id in 32 bits. Truncated, the id of a missing event would be that of another.
pub(super) fn compact_id(id: NodeId) -> Result<u32> {
    u32::try_from(id.0).map_err(|_| {
        let why = format!("the event id {id} is larger than any that a brain can have");
        Error::corrupt("event ids", 0, why)
    })
}

impl<'s, 'v> Spread<'s, 'v> {
    pub(super) fn new(
        view: &'v View,
        base_scores: &'s BaseScores<'v>,
        selected: PlannedSelection<'v>,
        sight: &'v Sight,
        include_superseded: bool,
    ) -> Result<Self> {
        Ok(Self {
            view,
            web: view.graph()?,
            base_scores,
            selected,
            sight,
            heads: Heads::new(view, sight),
            include_superseded,
            entry_index: NodeMap::new(),
            entries: PagedVec::new(),
            neighbours: Vec::new(),
            sessions: Vec::new(),
            session_index: HashMap::new(),
        })
    }

    /// The number of events with an entry.
    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// The index of an event's entry.
    fn entry(&mut self, id: u32) -> usize {
        let next = self.entries.len() as u32;
        if let Some(at_entry) = self.entry_index.put(NodeId(id.into()), next) {
            return at_entry as usize;
        }
        self.entries.push(EventEntry {
            id,
            membership: Membership::UNKNOWN,
            adjacency: [AdjacencyRange::UNKNOWN; 2],
            base_score: f32::NAN,
            seen: [[f32::NAN; 2]; 2],
            is_visited: false,
            is_expanded: [false; 2],
        });
        next as usize
    }

    fn membership(&mut self, at_entry: usize) -> Result<Membership> {
        if let Some(membership) = Membership::unpacked(self.entries[at_entry].membership) {
            return Ok(membership);
        }
        // A damaged file may name an id beyond the brain; this reports it.
        let node = self.view.node(NodeId(self.entries[at_entry].id.into()))?;
        let membership = if !self.selected.admits(&node)? && !self.has_selected_head(&node)? {
            Membership::Unwanted
        } else if node.session() == SessionId(0) {
            Membership::NoSession
        } else {
            let next = self.sessions.len() as u32;
            let at = *self.session_index.entry(node.session()).or_insert(next);
            if at == next {
                self.sessions.push(SessionBest {
                    upper_bound: f32::NAN,
                    max: f32::NAN,
                });
            }
            Membership::Session(at)
        };
        self.entries[at_entry].membership = membership.packed();
        Ok(membership)
    }

    /// True if the selection contains the newest head of a superseded event, which is then found by its old words: what
    /// replaced a fact is a correction, and the confidence of the fact is 0.
    fn has_selected_head(&mut self, node: &Node<'_>) -> Result<bool> {
        if self.include_superseded
            || !self.is_superseded(node.id())?
            || self.sight.of(node)? != Visibility::Shown
        {
            return Ok(false);
        }
        match self.heads.newest(node.id())? {
            Some(head) if head != node.id() => self.selected.admits_id(head),
            _ => Ok(false),
        }
    }

    fn is_superseded(&self, id: NodeId) -> Result<bool> {
        let supersedes = EdgeType::SUPERSEDES;
        if let Some((_, types)) = self.web.plain(id, Direction::Incoming) {
            return Ok(types.contains(&supersedes.0));
        }
        let edges = self.web.edges_of(id, Direction::Incoming)?;
        Ok(edges.iter().any(|edge| edge.edge_type == supersedes))
    }

    /// The newest head of an event; `None` if the event and all its replacements are hidden.
    pub(super) fn newest_head(&mut self, id: NodeId) -> Result<Option<NodeId>> {
        self.heads.newest(id)
    }

    /// The number of events whose heads are cached.
    #[cfg(test)]
    pub(super) fn head_count(&self) -> usize {
        self.heads.count()
    }

    /// True if the selection contains an event, or the head of a superseded one.
    pub(super) fn admits(&mut self, id: u32) -> Result<bool> {
        let at_entry = self.entry(id);
        Ok(self.membership(at_entry)? != Membership::Unwanted)
    }

    fn base_score(&mut self, id: u32) -> Result<f32> {
        let at_entry = self.entry(id);
        let entry = &mut self.entries[at_entry];
        if entry.base_score.is_nan() {
            entry.base_score = self.base_scores.sum(id)?;
        }
        Ok(entry.base_score)
    }

    /// Records that no selected event still unseen has a higher base score; returns whether the event is selected.
    pub(super) fn observe(&mut self, ScoredEvent { score, id }: ScoredEvent) -> Result<bool> {
        let at_entry = self.entry(id);
        let membership = self.membership(at_entry)?;
        if let Membership::Session(at) = membership {
            let session = &mut self.sessions[at as usize];
            if session.upper_bound.is_nan() {
                session.upper_bound = score;
            }
        }
        Ok(membership != Membership::Unwanted)
    }

    /// The neighbours of an event in one direction.
    fn adjacency(&mut self, at_entry: usize, direction: usize) -> Result<AdjacencyRange> {
        let entry = self.entries[at_entry].adjacency[direction];
        if entry.is_known() {
            return Ok(entry);
        }
        let id = NodeId(self.entries[at_entry].id.into());
        let (from, mut upper_bound) = (self.neighbours.len(), 0.0f32);
        let (base_scores, neighbours) = (self.base_scores, &mut self.neighbours);
        let mut step = |other: u32| {
            neighbours.push(other);
            upper_bound = upper_bound.max(base_scores.upper_bound(other));
        };
        match self.web.plain(id, DIRECTIONS[direction]) {
            Some((others, types)) => {
                for (&other, &edge_type) in others.iter().zip(types) {
                    if EdgeType(edge_type) == EdgeType::TEMPORAL_NEXT {
                        step(other);
                    }
                }
            }
            None => {
                for tie in self.web.edges_of(id, DIRECTIONS[direction])?.iter() {
                    if tie.edge_type == EdgeType::TEMPORAL_NEXT {
                        step(compact_id(tie.other)?);
                    }
                }
            }
        }
        let found = AdjacencyRange {
            from: from as u32,
            until: self.neighbours.len() as u32,
            upper_bound,
            max: f32::NAN,
        };
        self.entries[at_entry].adjacency[direction] = found;
        Ok(found)
    }

    /// The greatest base score of a selected neighbour in one direction.
    fn neighbour_max(&mut self, at_entry: usize, direction: usize) -> Result<f32> {
        let mut found = self.adjacency(at_entry, direction)?;
        if found.max.is_nan() {
            found.max = 0.0;
            for at in found.neighbours() {
                let id = self.neighbours[at];
                if self.base_scores.upper_bound(id) > found.max && self.admits(id)? {
                    found.max = found.max.max(self.base_score(id)?);
                }
            }
            self.entries[at_entry].adjacency[direction] = found;
        }
        Ok(found.max)
    }

    /// Prefetches what `expand` will read of the events ahead, each item before the next that depends on it: an
    /// unprefetched step waits for memory.
    pub(super) fn prefetch(&mut self, coming: impl Fn(usize) -> Option<u32>) -> Result<()> {
        let node_ahead = |after: usize| coming(after).map(|id| NodeId(id.into()));
        for direction in DIRECTIONS {
            if let Some(id) = node_ahead(12) {
                self.web.expect(id, direction);
            }
            if let Some(id) = node_ahead(8) {
                self.web.expect_edges(id, direction);
            }
        }
        if let Some(id) = node_ahead(6) {
            self.web.expect_event(id);
        }
        for (after, is_expected) in [(4, false), (0, true)] {
            let Some(id) = coming(after) else { continue };
            let at_entry = self.entry(id);
            for (index, direction) in DIRECTIONS.into_iter().enumerate() {
                for at in self
                    .adjacency(at_entry, index)?
                    .neighbours()
                    .take(PREFETCHED_MAX)
                {
                    let first = NodeId(self.neighbours[at].into());
                    if is_expected {
                        self.web.expect_edges(first, direction)
                    } else {
                        self.web.expect(first, direction)
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `f` with a seen event and the events that it spreads to, one and two steps away; once per event.
    pub(super) fn expand(
        &mut self,
        ScoredEvent { score, id }: ScoredEvent,
        mut f: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let origin = self.entry(id);
        for direction in 0..DIRECTIONS.len() {
            for at in self.adjacency(origin, direction)?.neighbours() {
                let first = self.propagate(at, score, 0, direction);
                self.visit_once(first, &mut f)?;
                let at_entry = self.entry(first);
                // An earlier event spreads at least as much to the same neighbours.
                if std::mem::replace(&mut self.entries[at_entry].is_expanded[direction], true) {
                    continue;
                }
                for at in self.adjacency(at_entry, direction)?.neighbours() {
                    let second = self.propagate(at, score, 1, direction);
                    self.visit_once(second, &mut f)?;
                }
            }
        }
        self.visit_once(id, &mut f)
    }

    /// Records the score that an event receives from one step away or, if `second` is 1, from two; returns the event.
    fn propagate(&mut self, at: usize, score: f32, second: usize, direction: usize) -> u32 {
        let id = self.neighbours[at];
        let at_entry = self.entry(id);
        let seen = &mut self.entries[at_entry].seen[second][direction];
        if seen.is_nan() {
            *seen = score;
        }
        id
    }

    /// Calls `f` with an event unless it was visited.
    pub(super) fn visit_once(
        &mut self,
        id: u32,
        f: &mut impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let at_entry = self.entry(id);
        if std::mem::replace(&mut self.entries[at_entry].is_visited, true) {
            Ok(())
        } else {
            f(self, id)
        }
    }

    /// An upper bound of `near` if no unseen event has a base score above `next`. Reads no graph.
    pub(super) fn near_seen_bound(&mut self, id: u32, next: f32) -> NearScores {
        let at_entry = self.entry(id);
        let or_next = |seen: f32| if seen.is_nan() { next } else { seen };
        let max = |seen: NeighbourMax| seen.map(or_next).iter().sum();
        let [firsts, seconds] = self.entries[at_entry].seen;
        NearScores {
            firsts: max(firsts),
            seconds: max(seconds),
            // Recorded by the direction in which the other event found this one.
            before: or_next(firsts[AFTER]),
        }
    }

    /// An upper bound of `near` that reads no vector.
    pub(super) fn near_upper_bound(&mut self, id: u32) -> Result<NearScores> {
        let mut near = NearScores::default();
        let at_entry = self.entry(id);
        for direction in 0..DIRECTIONS.len() {
            let nearest = self.adjacency(at_entry, direction)?;
            let mut second = 0.0f32;
            for at in nearest.neighbours() {
                let at_entry = self.entry(self.neighbours[at]);
                second = second.max(self.adjacency(at_entry, direction)?.upper_bound);
            }
            near.firsts += nearest.upper_bound;
            near.seconds += second;
            if direction == BEFORE {
                near.before = nearest.upper_bound;
            }
        }
        Ok(near)
    }

    /// The base scores of the best selected events near an event.
    pub(super) fn near(
        &mut self,
        id: u32,
        questions: Option<&ShortQuestions<'_>>,
    ) -> Result<NearScores> {
        let mut near = NearScores::default();
        let at_entry = self.entry(id);
        for direction in 0..DIRECTIONS.len() {
            near.firsts += self.neighbour_max(at_entry, direction)?;
            if direction == BEFORE
                && let Some(questions) = questions
            {
                near.before = self.best_question(at_entry, questions)?;
            }
            let mut second = 0.0f32;
            for at in self.adjacency(at_entry, direction)?.neighbours() {
                let id = self.neighbours[at];
                let at_entry = self.entry(id);
                if self.adjacency(at_entry, direction)?.upper_bound > second && self.admits(id)? {
                    second = second.max(self.neighbour_max(at_entry, direction)?);
                }
            }
            near.seconds += second;
        }
        Ok(near)
    }

    /// The selected events one step before and after an event, `BESIDE_MAX` at most each way.
    pub(super) fn beside(&mut self, id: u32) -> Result<Vec<u32>> {
        let mut beside = Vec::new();
        let at_entry = self.entry(id);
        for direction in 0..DIRECTIONS.len() {
            for at in self
                .adjacency(at_entry, direction)?
                .neighbours()
                .take(BESIDE_MAX)
            {
                let id = self.neighbours[at];
                if self.admits(id)? {
                    beside.push(id);
                }
            }
        }
        Ok(beside)
    }

    /// The greatest base score of a selected short question just before an event.
    fn best_question(&mut self, at_entry: usize, questions: &ShortQuestions<'_>) -> Result<f32> {
        let mut best = 0.0f32;
        for at in self.adjacency(at_entry, BEFORE)?.neighbours() {
            let id = self.neighbours[at];
            if self.base_scores.upper_bound(id) > best
                && questions.contains(id)?
                && self.admits(id)?
            {
                best = best.max(self.base_score(id)?);
            }
        }
        Ok(best)
    }

    /// An upper bound of `session` if no unseen event has a base score above `next`.
    pub(super) fn session_upper_bound(&mut self, id: u32, next: f32) -> Result<f32> {
        let at_entry = self.entry(id);
        let Membership::Session(at) = self.membership(at_entry)? else {
            return Ok(self.base_scores.upper_bound(id));
        };
        let SessionBest { upper_bound, max } = self.sessions[at as usize];
        let entry = if max.is_nan() { upper_bound } else { max };
        Ok(if entry.is_nan() { next } else { entry })
    }

    /// The base score of the best selected event of the event's session; its own if it has no session.
    pub(super) fn session(&mut self, id: u32) -> Result<f32> {
        let at_entry = self.entry(id);
        let Membership::Session(at) = self.membership(at_entry)? else {
            return self.base_score(id);
        };
        let entry = self.sessions[at as usize].max;
        if !entry.is_nan() {
            return Ok(entry);
        }
        let session = self.view.node(NodeId(id.into()))?.session();
        let mut members = Vec::new();
        for id in self.view.of_session(session)?.iter() {
            let id = compact_id(id)?;
            members.push((self.base_scores.upper_bound(id), id));
        }
        // The greatest bound first: few others can exceed its score. In a damaged base a session may list no event, not
        // even this one.
        if let Some(greatest) =
            (0..members.len()).max_by(|&a, &b| members[a].0.total_cmp(&members[b].0))
        {
            members.swap(0, greatest);
        }
        let mut max = 0.0f32;
        for (upper_bound, id) in members {
            if upper_bound > max && self.admits(id)? {
                max = max.max(self.base_score(id)?);
            }
        }
        self.sessions[at as usize].max = max;
        Ok(max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_past_all_events_is_damage_and_not_another_event() {
        assert_eq!(compact_id(NodeId(5)).unwrap(), 5);
        assert_eq!(compact_id(NodeId(u32::MAX.into())).unwrap(), u32::MAX);
        for id in [1 << 32, (1 << 32) + 5, u64::MAX] {
            let error = compact_id(NodeId(id)).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            assert!(error.to_string().contains(&id.to_string()), "{error}");
        }
    }
}
