//! What the neighbours and the session of an event lend to its score.
//!
//! Neighbours are told by temporal-next edges, one step and two steps away, each way on its own. Who lends must be
//! wanted, and so must what stands between. What was looked up of an event or a session is kept, so that an event with
//! a million neighbours is read once, not once for each of them.

use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use super::own::Own;
use super::selected::Selected;
use crate::error::{Error, Result};
use crate::text::Scored;
use crate::types::{EdgeType, NodeId, SessionId};
use crate::view::{Direction, View};

/// Both ways along temporal-next edges; what is kept of an event's neighbours is kept by the place of the way.
const WAYS: [Direction; 2] = [Direction::Outgoing, Direction::Incoming];

/// Who lends, and how much.
pub(super) struct Lenders<'s, 'v> {
    view: &'v View,
    own: &'s Own<'v>,
    selected: Selected<'v>,
    /// By id, one more than the place of what is known of an event; 0 if nothing is. Zeros that are not read take no
    /// memory, and a table by hash is several times slower.
    places: Vec<u32>,
    known: Vec<Known>,
    /// Wanted neighbours: each event's stand together.
    steps: Vec<u32>,
    /// By place, the most that a wanted event of a session has; not a number until that is known.
    sessions: Vec<f32>,
    session_places: HashMap<SessionId, u32>,
}

/// What is known of an event.
struct Known {
    id: u32,
    /// None if the event is not wanted.
    session: Option<Place>,
    ways: [Option<Way>; 2],
    is_made: bool,
    is_followed: [bool; 2],
}

/// The session of an event.
#[derive(Clone, Copy)]
enum Place {
    Nobodys,
    At(u32),
}

/// The neighbours of an event, one way.
#[derive(Clone, Copy)]
struct Way {
    from: u32,
    until: u32,
    /// The most that one of them has.
    most: f32,
}

impl Way {
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

impl<'s, 'v> Lenders<'s, 'v> {
    pub(super) fn new(view: &'v View, own: &'s Own<'v>, selected: Selected<'v>) -> Self {
        Self {
            view,
            own,
            selected,
            places: vec![0; view.nodes() as usize],
            known: Vec::new(),
            steps: Vec::new(),
            sessions: Vec::new(),
            session_places: HashMap::new(),
        }
    }

    /// The place of what is known of an event.
    fn place(&mut self, id: u32) -> Result<usize> {
        let place = self.places.get(id as usize).copied().unwrap_or_default();
        if let Some(place) = place.checked_sub(1) {
            return Ok(place as usize);
        }
        // An id past all events, which a damaged file may name, ends here.
        let node = self.view.node(NodeId(id.into()))?;
        let session = match self.selected.admits(&node)? {
            false => None,
            true if node.session() == SessionId(0) => Some(Place::Nobodys),
            true => {
                let next = self.sessions.len() as u32;
                let at = *self.session_places.entry(node.session()).or_insert(next);
                if at == next {
                    self.sessions.push(f32::NAN);
                }
                Some(Place::At(at))
            }
        };
        self.known.push(Known {
            id,
            session,
            ways: [None; 2],
            is_made: false,
            is_followed: [false; 2],
        });
        self.places[id as usize] = self.known.len() as u32;
        Ok(self.known.len() - 1)
    }

    /// True if an event may be found and may lend.
    pub(super) fn wants(&mut self, id: u32) -> Result<bool> {
        let place = self.place(id)?;
        Ok(self.known[place].session.is_some())
    }

    /// Takes note that of the wanted events that were not told before, none has more than this one; gives whether it is
    /// wanted. So the first of a session is its best.
    pub(super) fn tell(&mut self, Scored { score, id }: Scored) -> Result<bool> {
        let place = self.place(id)?;
        if let Some(Place::At(at)) = self.known[place].session {
            let most = &mut self.sessions[at as usize];
            if most.is_nan() {
                *most = score;
            }
        }
        Ok(self.known[place].session.is_some())
    }

    /// The wanted neighbours of an event, one way.
    fn way(&mut self, place: usize, way: usize) -> Result<Way> {
        if let Some(known) = self.known[place].ways[way] {
            return Ok(known);
        }
        let id = NodeId(self.known[place].id.into());
        let from = self.steps.len() as u32;
        let mut most = 0.0f32;
        for tie in self.view.ties(id, WAYS[way])?.iter() {
            let other = small(tie.other)?;
            if tie.edge_type == EdgeType::TEMPORAL_NEXT && self.wants(other)? {
                self.steps.push(other);
                if self.own.upper(other) > most {
                    most = most.max(self.own.sum(other)?);
                }
            }
        }
        let until = self.steps.len() as u32;
        let found = Way { from, until, most };
        self.known[place].ways[way] = Some(found);
        Ok(found)
    }

    /// Calls `f` with a wanted event and its wanted neighbours, one step and two steps away, each event once.
    pub(super) fn around(
        &mut self,
        id: u32,
        mut f: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        self.once(id, &mut f)?;
        for way in 0..WAYS.len() {
            let place = self.place(id)?;
            for at in self.way(place, way)?.steps() {
                let first = self.steps[at];
                self.once(first, &mut f)?;
                let place = self.place(first)?;
                if std::mem::replace(&mut self.known[place].is_followed[way], true) {
                    continue;
                }
                for at in self.way(place, way)?.steps() {
                    self.once(self.steps[at], &mut f)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `f` with an event, unless that was done.
    pub(super) fn once(
        &mut self,
        id: u32,
        f: &mut impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let place = self.place(id)?;
        match std::mem::replace(&mut self.known[place].is_made, true) {
            true => Ok(()),
            false => f(self, id),
        }
    }

    /// What the best wanted events one step away have, those of both ways added, and the best two steps away.
    pub(super) fn near(&mut self, id: u32) -> Result<(f32, f32)> {
        let (mut firsts, mut seconds) = (0.0, 0.0);
        let place = self.place(id)?;
        for way in 0..WAYS.len() {
            let nearest = self.way(place, way)?;
            let mut second = 0.0f32;
            for at in nearest.steps() {
                let place = self.place(self.steps[at])?;
                second = second.max(self.way(place, way)?.most);
            }
            firsts += nearest.most;
            seconds += second;
        }
        Ok((firsts, seconds))
    }

    /// What the best wanted event of the session of a wanted event has; itself, if it is in no session.
    pub(super) fn session(&mut self, id: u32) -> Result<f32> {
        let place = self.place(id)?;
        let Some(Place::At(at)) = self.known[place].session else {
            return self.own.sum(id);
        };
        let known = self.sessions[at as usize];
        if !known.is_nan() {
            return Ok(known);
        }
        // A temporal-next edge led here from another session before any of this one was told.
        let session = self.view.node(NodeId(id.into()))?.session();
        let mut members = BinaryHeap::new();
        for id in self.view.of_session(session)?.iter() {
            let id = small(id)?;
            members.push(Scored {
                score: self.own.upper(id),
                id,
            });
        }
        let mut most = 0.0f32;
        // Those with the greatest bounds first, until no other can have more.
        while let Some(Scored { score, id }) = members.pop()
            && score > most
        {
            let score = self.own.sum(id)?;
            if score > most && self.wants(id)? {
                most = score;
            }
        }
        self.sessions[at as usize] = most;
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
