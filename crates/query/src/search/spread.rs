//! What the neighbours and the session of an event lend to its score, and bounds of it.
//!
//! Neighbours are told by temporal-next edges, one step and two steps away, each way on its own. Who lends must be
//! wanted, and so must what stands between; bounds ask nobody whether he is. What was looked up of an event or a
//! session is kept, so that an event with a million neighbours is read once, not once for each of them.

use std::collections::HashMap;
use std::ops::Range;

use crate::graph::visited::NodeMap;
use crate::planner::selected::PlannedSelection;
use crate::search::base_score::BaseScores;
use crate::search::paged_vec::PagedVec;
use amem_format::error::{Error, Result};
use amem_format::top::Scored;
use amem_format::types::{EdgeType, NodeId, SessionId};
use amem_format::view::{Direction, View, Web};

/// Both ways along temporal-next edges; what is kept of an event's neighbours is kept by the place of the way.
pub(super) const WAYS: [Direction; 2] = [Direction::Outgoing, Direction::Incoming];

/// Neighbours of an event that are expected: of more, the first are no better than others.
const STEPS_EXPECTED: usize = 8;

/// Who lends, and how much.
pub(super) struct Spread<'s, 'v> {
    view: &'v View,
    web: Web<'v>,
    own: &'s BaseScores<'v>,
    selected: PlannedSelection<'v>,
    places: NodeMap,
    /// By the places of their events.
    known: PagedVec<EventEntry>,
    /// Neighbours: each event's stand together.
    steps: Vec<u32>,
    sessions: Vec<SessionBest>,
    session_places: HashMap<SessionId, u32>,
}

/// What is known of an event: a line of memory, as a question may come to know every event of a brain.
struct EventEntry {
    id: u32,
    /// A `Standing`, or that it is not known.
    standing: u32,
    ways: [AdjacencyRange; 2],
    /// What it has of its own, not a number until it was told.
    sum: f32,
    /// The most that those which were told lend from one step away, either way, and from two.
    told: [NeighbourMax; 2],
    is_made: bool,
    is_followed: [bool; 2],
}

const _: () = assert!(size_of::<EventEntry>() == 64);

/// The most that an event which was told lends; not a number if none was.
type NeighbourMax = [f32; 2];

/// Whether an event is wanted, and its session.
#[derive(Clone, Copy, PartialEq)]
enum Membership {
    Unwanted,
    Nobodys,
    At(u32),
}

impl Membership {
    /// What stands for one that is not known: no place of a session is as great, as there are fewer sessions than
    /// events.
    const UNKNOWN: u32 = u32::MAX;

    fn packed(self) -> u32 {
        match self {
            Self::Unwanted => u32::MAX - 1,
            Self::Nobodys => u32::MAX - 2,
            Self::At(at) => at,
        }
    }

    fn unpacked(packed: u32) -> Option<Self> {
        match packed {
            Self::UNKNOWN => None,
            packed if packed == Self::Unwanted.packed() => Some(Self::Unwanted),
            packed if packed == Self::Nobodys.packed() => Some(Self::Nobodys),
            at => Some(Self::At(at)),
        }
    }
}

/// The best wanted event of a session. Not numbers until they are known.
struct SessionBest {
    /// A bound of what it has.
    upper: f32,
    /// What it has.
    most: f32,
}

/// The neighbours of an event, one way.
#[derive(Clone, Copy)]
struct AdjacencyRange {
    from: u32,
    until: u32,
    /// None of them has more.
    upper: f32,
    /// The most that a wanted one has; not a number until it is known.
    most: f32,
}

impl AdjacencyRange {
    const UNKNOWN: Self = Self {
        from: u32::MAX,
        until: u32::MAX,
        upper: 0.0,
        most: f32::NAN,
    };

    fn is_known(self) -> bool {
        self.from != Self::UNKNOWN.from
    }

    fn steps(self) -> Range<usize> {
        self.from as usize..self.until as usize
    }
}

/// An id as the tables here hold it. Cut to that, the id of no event would be that of another.
pub(super) fn small(id: NodeId) -> Result<u32> {
    u32::try_from(id.0).map_err(|_| {
        let why = format!("event {id} is named, past all that a brain can have");
        Error::corrupt("event ids", 0, why)
    })
}

impl<'s, 'v> Spread<'s, 'v> {
    pub(super) fn new(
        view: &'v View,
        own: &'s BaseScores<'v>,
        selected: PlannedSelection<'v>,
    ) -> Result<Self> {
        Ok(Self {
            view,
            web: view.web()?,
            own,
            selected,
            places: NodeMap::new(),
            known: PagedVec::new(),
            steps: Vec::new(),
            sessions: Vec::new(),
            session_places: HashMap::new(),
        })
    }

    /// Of how many events something is known.
    pub(super) fn known(&self) -> usize {
        self.known.len()
    }

    /// The place of what is known of an event.
    fn place(&mut self, id: u32) -> usize {
        let next = self.known.len() as u32;
        if let Some(place) = self.places.put(NodeId(id.into()), next) {
            return place as usize;
        }
        self.known.push(EventEntry {
            id,
            standing: Membership::UNKNOWN,
            ways: [AdjacencyRange::UNKNOWN; 2],
            sum: f32::NAN,
            told: [[f32::NAN; 2]; 2],
            is_made: false,
            is_followed: [false; 2],
        });
        next as usize
    }

    fn standing(&mut self, place: usize) -> Result<Membership> {
        if let Some(standing) = Membership::unpacked(self.known[place].standing) {
            return Ok(standing);
        }
        // An id past all events, which a damaged file may name, ends here.
        let node = self.view.node(NodeId(self.known[place].id.into()))?;
        let standing = match self.selected.admits(&node)? {
            false => Membership::Unwanted,
            true if node.session() == SessionId(0) => Membership::Nobodys,
            true => {
                let next = self.sessions.len() as u32;
                let at = *self.session_places.entry(node.session()).or_insert(next);
                if at == next {
                    self.sessions.push(SessionBest {
                        upper: f32::NAN,
                        most: f32::NAN,
                    });
                }
                Membership::At(at)
            }
        };
        self.known[place].standing = standing.packed();
        Ok(standing)
    }

    /// True if an event may be found and may lend.
    pub(super) fn wants(&mut self, id: u32) -> Result<bool> {
        let place = self.place(id);
        Ok(self.standing(place)? != Membership::Unwanted)
    }

    /// What an event has of its own.
    fn sum(&mut self, id: u32) -> Result<f32> {
        let place = self.place(id);
        let known = &mut self.known[place];
        if known.sum.is_nan() {
            known.sum = self.own.sum(id)?;
        }
        Ok(known.sum)
    }

    /// Takes note that none of the wanted events that were not told before has more than this one may have; gives
    /// whether it is wanted.
    pub(super) fn tell(&mut self, Scored { score, id }: Scored) -> Result<bool> {
        let place = self.place(id);
        let standing = self.standing(place)?;
        if let Membership::At(at) = standing {
            let session = &mut self.sessions[at as usize];
            if session.upper.is_nan() {
                session.upper = score;
            }
        }
        Ok(standing != Membership::Unwanted)
    }

    /// The neighbours of an event, one way.
    fn way(&mut self, place: usize, way: usize) -> Result<AdjacencyRange> {
        let known = self.known[place].ways[way];
        if known.is_known() {
            return Ok(known);
        }
        let id = NodeId(self.known[place].id.into());
        let (from, mut upper) = (self.steps.len(), 0.0f32);
        let (own, steps) = (self.own, &mut self.steps);
        let mut step = |other: u32| {
            steps.push(other);
            upper = upper.max(own.upper(other));
        };
        match self.web.plain(id, WAYS[way]) {
            Some((others, types)) => {
                for (&other, &edge_type) in others.iter().zip(types) {
                    if EdgeType(edge_type) == EdgeType::TEMPORAL_NEXT {
                        step(other);
                    }
                }
            }
            None => {
                for tie in self.web.ties(id, WAYS[way])?.iter() {
                    if tie.edge_type == EdgeType::TEMPORAL_NEXT {
                        step(small(tie.other)?);
                    }
                }
            }
        }
        let found = AdjacencyRange {
            from: from as u32,
            until: self.steps.len() as u32,
            upper,
            most: f32::NAN,
        };
        self.known[place].ways[way] = found;
        Ok(found)
    }

    /// The most that a wanted neighbour has, one way.
    fn most(&mut self, place: usize, way: usize) -> Result<f32> {
        let mut found = self.way(place, way)?;
        if found.most.is_nan() {
            found.most = 0.0;
            for at in found.steps() {
                let id = self.steps[at];
                if self.own.upper(id) > found.most && self.wants(id)? {
                    found.most = found.most.max(self.sum(id)?);
                }
            }
            self.known[place].ways[way] = found;
        }
        Ok(found.most)
    }

    /// Has loaded what `around` will read of the events that come, each thing in time for the next that it leads to: a
    /// step read at once is a line from memory that is waited for.
    pub(super) fn expect(&mut self, coming: impl Fn(usize) -> Option<u32>) -> Result<()> {
        let named = |after: usize| coming(after).map(|id| NodeId(id.into()));
        for way in WAYS {
            if let Some(id) = named(12) {
                self.web.expect(id, way);
            }
            if let Some(id) = named(8) {
                self.web.expect_edges(id, way);
            }
        }
        if let Some(id) = named(6) {
            self.web.expect_event(id);
        }
        for (after, is_expected) in [(4, false), (0, true)] {
            let Some(id) = coming(after) else { continue };
            let place = self.place(id);
            for (way, direction) in WAYS.into_iter().enumerate() {
                for at in self.way(place, way)?.steps().take(STEPS_EXPECTED) {
                    let first = NodeId(self.steps[at].into());
                    match is_expected {
                        false => self.web.expect(first, direction),
                        true => self.web.expect_edges(first, direction),
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `f` with an event that was told and those that it lends to, one step and two steps away, each event once.
    pub(super) fn around(
        &mut self,
        Scored { score, id }: Scored,
        mut f: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let origin = self.place(id);
        for way in 0..WAYS.len() {
            for at in self.way(origin, way)?.steps() {
                let first = self.lend(at, score, 0, way);
                self.once(first, &mut f)?;
                let place = self.place(first);
                // Whoever was told before lends more to all who are next.
                if std::mem::replace(&mut self.known[place].is_followed[way], true) {
                    continue;
                }
                for at in self.way(place, way)?.steps() {
                    let second = self.lend(at, score, 1, way);
                    self.once(second, &mut f)?;
                }
            }
        }
        self.once(id, &mut f)
    }

    /// Takes note that the event of a step is lent this from so many steps more than one; gives the event.
    fn lend(&mut self, at: usize, score: f32, more: usize, way: usize) -> u32 {
        let id = self.steps[at];
        let place = self.place(id);
        let told = &mut self.known[place].told[more][way];
        if told.is_nan() {
            *told = score;
        }
        id
    }

    /// Calls `f` with an event, unless that was done.
    pub(super) fn once(
        &mut self,
        id: u32,
        f: &mut impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let place = self.place(id);
        match std::mem::replace(&mut self.known[place].is_made, true) {
            true => Ok(()),
            false => f(self, id),
        }
    }

    /// As `near`, at most, if no event has more than `next` that was not told; only what was told is looked at.
    pub(super) fn near_told(&mut self, id: u32, next: f32) -> (f32, f32) {
        let place = self.place(id);
        let or_next = |told: f32| if told.is_nan() { next } else { told };
        let most = |told: NeighbourMax| told.map(or_next).iter().sum();
        let [firsts, seconds] = self.known[place].told;
        (most(firsts), most(seconds))
    }

    /// As `near`, at most; no vector is looked at.
    pub(super) fn near_upper(&mut self, id: u32) -> Result<(f32, f32)> {
        let (mut firsts, mut seconds) = (0.0, 0.0);
        let place = self.place(id);
        for way in 0..WAYS.len() {
            let nearest = self.way(place, way)?;
            let mut second = 0.0f32;
            for at in nearest.steps() {
                let place = self.place(self.steps[at]);
                second = second.max(self.way(place, way)?.upper);
            }
            firsts += nearest.upper;
            seconds += second;
        }
        Ok((firsts, seconds))
    }

    /// What the best wanted events one step away have, those of both ways added, and the best two steps away.
    pub(super) fn near(&mut self, id: u32) -> Result<(f32, f32)> {
        let (mut firsts, mut seconds) = (0.0, 0.0);
        let place = self.place(id);
        for way in 0..WAYS.len() {
            firsts += self.most(place, way)?;
            let mut second = 0.0f32;
            for at in self.way(place, way)?.steps() {
                let id = self.steps[at];
                let place = self.place(id);
                if self.way(place, way)?.upper > second && self.wants(id)? {
                    second = second.max(self.most(place, way)?);
                }
            }
            seconds += second;
        }
        Ok((firsts, seconds))
    }

    /// As `session`, at most, if no event has more than `next` that was not told.
    pub(super) fn session_upper(&mut self, id: u32, next: f32) -> Result<f32> {
        let place = self.place(id);
        let Membership::At(at) = self.standing(place)? else {
            return Ok(self.own.upper(id));
        };
        let SessionBest { upper, most } = self.sessions[at as usize];
        let known = if most.is_nan() { upper } else { most };
        Ok(if known.is_nan() { next } else { known })
    }

    /// What the best wanted event of the session of a wanted event has; itself, if it is in no session.
    pub(super) fn session(&mut self, id: u32) -> Result<f32> {
        let place = self.place(id);
        let Membership::At(at) = self.standing(place)? else {
            return self.sum(id);
        };
        let known = self.sessions[at as usize].most;
        if !known.is_nan() {
            return Ok(known);
        }
        let session = self.view.node(NodeId(id.into()))?.session();
        let mut members = Vec::new();
        for id in self.view.of_session(session)?.iter() {
            let id = small(id)?;
            members.push((self.own.upper(id), id));
        }
        // The one with the greatest bound first: after that few others can have more.
        // In a damaged base a session may list no event, not even this one.
        if let Some(greatest) =
            (0..members.len()).max_by(|&a, &b| members[a].0.total_cmp(&members[b].0))
        {
            members.swap(0, greatest);
        }
        let mut most = 0.0f32;
        for (upper, id) in members {
            if upper > most && self.wants(id)? {
                most = most.max(self.sum(id)?);
            }
        }
        self.sessions[at as usize].most = most;
        Ok(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_past_all_events_is_damage_and_not_another_event() {
        assert_eq!(small(NodeId(5)).unwrap(), 5);
        assert_eq!(small(NodeId(u32::MAX.into())).unwrap(), u32::MAX);
        for id in [1 << 32, (1 << 32) + 5, u64::MAX] {
            let error = small(NodeId(id)).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            assert!(error.to_string().contains(&id.to_string()), "{error}");
        }
    }
}
