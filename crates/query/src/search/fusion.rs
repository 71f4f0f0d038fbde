//! Adding what others lend to what events have of their own, and finding the best without looking at all.

use std::collections::{BinaryHeap, HashSet};

use super::request::{Hit, Search};
use crate::graph::heads::Heads;
use crate::planner::scope::Sight;
use crate::planner::selected::PlannedSelection;
use crate::search::base_score::BaseScores;
use crate::search::full_scan;
use crate::search::remaining::RemainingEvents;
use crate::search::spread::{Spread, small};
use amem_format::error::Result;
use amem_format::top::Scored;
use amem_format::types::NodeId;
use amem_format::view::View;

/// What one two steps away lends, of what a neighbour lends.
const SECOND: f32 = 0.5;
/// A bound is a sum in another order than the score that it bounds: this much more covers the rounding.
const ROUNDING: f32 = 1.0 + 1e-5;

/// The last step of a search: gives its hits, the best first.
///
/// Events are taken up by bounds of what they have of their own, the greatest first, each with those that it lends to,
/// its neighbours one and two steps away. One that was not taken up has at most as much as the next, and none of the
/// neighbours that lend to it has more; so a hit that has more than such a one can have is the best of those that are
/// left (after Fagin, Lotem and Naor: Optimal aggregation algorithms, 2003).
///
/// What was taken up waits by a bound of its score, and is looked at closer only when it comes first; most never do.
/// Where that comes to a good part of the brain, bounds of all scores are made in one go, and events are rated by
/// those.
pub(super) struct Fusion<'s, 'v> {
    view: &'v View,
    search: &'v Search,
    own: &'s BaseScores<'v>,
    lenders: Spread<'s, 'v>,
    /// Events that were not taken up.
    rest: RemainingEvents<'s, 'v>,
    /// No wanted event has more of its own; known once one was taken up.
    most: Option<f32>,
    /// Hits that were not given.
    ready: BinaryHeap<QueuedHit>,
    /// Hits that were given.
    given: Vec<u32>,
    /// `rest` is of all events, by bounds of their scores.
    is_of_all: bool,
}

/// Events to follow one after the other before all are looked at, and the share of all that may be as well. The first
/// is small so that a small brain takes either way.
const FOLLOWED: u64 = 64;
const FOLLOWED_ONE_IN: u64 = 32;

/// A hit that was not given. Of equal bounds the highest id comes first, as hits of equal scores are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedHit {
    bound: Scored,
    how: BoundPrecision,
}

/// How a hit that waits was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BoundPrecision {
    /// Not at all: its bound follows from what was taken up. It may be unwanted.
    Unseen,
    /// Its bound follows from those of its neighbours and its session.
    Bounded,
    /// It has its score.
    Exact,
}

impl<'s, 'v> Fusion<'s, 'v> {
    pub(super) fn new(view: &'v View, search: &'v Search, own: &'s BaseScores<'v>) -> Result<Self> {
        let selected = PlannedSelection::new(view, &search.selection, view.nodes())?;
        Ok(Self {
            view,
            search,
            own,
            lenders: Spread::new(view, own, selected)?,
            rest: RemainingEvents::new(own),
            most: None,
            ready: BinaryHeap::new(),
            given: Vec::new(),
            is_of_all: false,
        })
    }

    /// The best hits, superseded ones as their heads.
    pub(super) fn best(mut self, limit: usize) -> Result<Vec<Hit>> {
        let selection = &self.search.selection;
        let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
        self.take(limit, &mut Heads::new(self.view, &sight))
    }

    /// Hits come in their order, so heads are looked up only of those at the top, however many have the score of the
    /// last.
    fn take(&mut self, limit: usize, heads: &mut Heads<'_>) -> Result<Vec<Hit>> {
        let mut told = HashSet::new();
        let mut best: Vec<Hit> = Vec::new();
        while best.len() < limit
            && let Some(hit) = self.next()?
        {
            let head = match self.search.include_superseded {
                true => Some(hit.found),
                false => heads.newest(hit.found)?,
            };
            if let Some(id) = head
                && self.lenders.wants(small(id)?)?
                && !self.is_to_come(id, &hit)?
                && told.insert(id)
            {
                best.push(Hit { id, ..hit });
            }
        }
        Ok(best)
    }

    /// True if a wanted head is itself a hit of the same score, after what it replaces: then that hit is the one shown.
    fn is_to_come(&mut self, head: NodeId, replaced: &Hit) -> Result<bool> {
        if head >= replaced.found {
            return Ok(false);
        }
        let own = self.hit(small(head)?)?;
        Ok(own.score == replaced.score && own.text + own.vector + own.neighbours > 0.0)
    }

    /// The best hit that was not given; of equals, the highest id.
    fn next(&mut self) -> Result<Option<Hit>> {
        loop {
            let others = self.most_of_the_rest();
            if let Some(&first) = self.ready.peek()
                && first.bound.score > others
            {
                self.ready.pop();
                if first.how == BoundPrecision::Exact {
                    self.given.push(first.bound.id);
                    return self.hit(first.bound.id).map(Some);
                }
                self.look_closer(first)?;
                continue;
            }
            match self.rest.pop() {
                Some(next) if self.is_of_all => self.rate(next)?,
                Some(_) if self.are_many() => self.look_at_all()?,
                Some(next) => self.take_up(next)?,
                None => return Ok(None),
            }
        }
    }

    /// No event that was not taken up, and is no neighbour of one that was, has a greater score.
    fn most_of_the_rest(&mut self) -> f32 {
        let Some(next) = self.rest.most() else {
            return f32::NEG_INFINITY;
        };
        if self.is_of_all {
            return next;
        }
        let session = self.most.unwrap_or(next);
        self.bound(next, (2.0 * next, 2.0 * next), session)
    }

    /// No score that is made of no more than these is greater.
    fn bound(&self, own: f32, (firsts, seconds): (f32, f32), session: f32) -> f32 {
        let lent = self.search.neighbour_share * (firsts + SECOND * seconds);
        (own + lent + self.search.session_share * session) * ROUNDING
    }

    /// True if following one event after the other has come to so many that looking at all takes less.
    fn are_many(&self) -> bool {
        let few = FOLLOWED + self.view.nodes() / FOLLOWED_ONE_IN;
        self.lenders.known() as u64 > few
    }

    /// Goes on with bounds of all scores.
    fn look_at_all(&mut self) -> Result<()> {
        let share = self.search.neighbour_share;
        let neighbours = (share, share * SECOND);
        let session = self.search.session_share;
        let mut bounds = full_scan::bounds(self.view, self.own, neighbours, session)?;
        for &id in &self.given {
            bounds[id as usize] = 0.0;
        }
        bounds.iter_mut().for_each(|bound| *bound *= ROUNDING);
        self.rest = RemainingEvents::of(bounds);
        self.ready.clear();
        self.is_of_all = true;
        Ok(())
    }

    /// Has an event wait by its score, if it is a hit.
    fn rate(&mut self, Scored { id, .. }: Scored) -> Result<()> {
        if self.lenders.wants(id)? {
            let hit = self.hit(id)?;
            if hit.text + hit.vector + hit.neighbours > 0.0 {
                self.wait(hit.score, id, BoundPrecision::Exact);
            }
        }
        Ok(())
    }

    fn take_up(&mut self, next: Scored) -> Result<()> {
        if !self.lenders.tell(next)? {
            return Ok(());
        }
        self.most.get_or_insert(next.score);
        let mut made = Vec::new();
        let mut make = |_: &mut Spread<'s, 'v>, id: u32| {
            made.push(id);
            Ok(())
        };
        match self.search.neighbour_share {
            0.0 => self.lenders.once(next.id, &mut make)?,
            _ => {
                let rest = &self.rest;
                self.lenders.expect(|after| rest.coming(after))?;
                self.lenders.around(next, make)?;
            }
        }
        for id in made {
            let score = self.unseen_bound(id);
            self.wait(score, id, BoundPrecision::Unseen);
        }
        Ok(())
    }

    fn wait(&mut self, score: f32, id: u32, how: BoundPrecision) {
        self.ready.push(QueuedHit {
            bound: Scored { score, id },
            how,
        });
    }

    /// A bound by what was taken up until now.
    fn unseen_bound(&mut self, id: u32) -> f32 {
        let next = self.rest.most().unwrap_or_default();
        let near = self.lenders.near_told(id, next);
        self.bound(self.own.upper(id), near, self.most.unwrap_or(next))
    }

    /// Puts a hit back with a lower bound or with its score, if it is one.
    fn look_closer(&mut self, QueuedHit { bound, how }: QueuedHit) -> Result<()> {
        let id = bound.id;
        if how == BoundPrecision::Bounded {
            return self.rate(bound);
        }
        let unseen = self.unseen_bound(id);
        if unseen < bound.score {
            self.wait(unseen, id, BoundPrecision::Unseen);
        } else if self.lenders.wants(id)? {
            let next = self.rest.most().unwrap_or_default();
            let near = match self.search.neighbour_share {
                0.0 => (0.0, 0.0),
                _ => self.lenders.near_upper(id)?,
            };
            let session = self.lenders.session_upper(id, next)?;
            let score = self.bound(self.own.upper(id), near, session);
            self.wait(score, id, BoundPrecision::Bounded);
        }
        Ok(())
    }

    /// The hit that a wanted event is.
    fn hit(&mut self, id: u32) -> Result<Hit> {
        let (text, vector) = self.own.parts(id)?;
        let neighbours = match self.search.neighbour_share {
            0.0 => 0.0,
            share => {
                let (first, second) = self.lenders.near(id)?;
                share * (first + SECOND * second)
            }
        };
        let session = match self.search.session_share {
            0.0 => 0.0,
            share => share * self.lenders.session(id)?,
        };
        let found = NodeId(id.into());
        Ok(Hit {
            id: found,
            found,
            score: text + vector + neighbours + session,
            text,
            vector,
            neighbours,
            session,
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use amem_format::base::settings::Settings;
    use amem_format::base_builder::build::Build;
    use amem_format::base_builder::new_identity;
    use amem_format::journal::op::{NewNode, Op};
    use amem_format::types::{EventType, Micros, SessionId};

    #[test]
    fn of_many_equals_heads_are_looked_up_only_of_those_that_are_shown() {
        let now = Micros(1_800_000_000_000_000);
        let identity = new_identity(Uuid::from_u128(1), Uuid::from_u128(2), Uuid::nil(), now);
        let mut build = Build::new(&identity, 0, &Settings::default()).unwrap();
        for id in 0..500 {
            let event = NewNode {
                id: NodeId(id),
                event_type: EventType::FACT,
                session: SessionId(0),
                created_at: now,
                event_time: None,
                confidence: 1.0,
                lambda: 0.0,
                text: "deploy",
                attributes: "",
                vector: &[],
                carried: None,
            };
            build.push(&Op::Event(event)).unwrap();
        }
        let view = build.finish().unwrap();
        let search = Search::default();
        let own = BaseScores::new(&view, "deploy", &[], (1.0, 0.0)).unwrap();
        let sight = Sight::new(&search.selection.scope, false).unwrap();
        let mut heads = Heads::new(&view, &sight);
        let mut fusion = Fusion::new(&view, &search, &own).unwrap();
        let found = fusion.take(10, &mut heads).unwrap();
        let ids: Vec<u64> = found.iter().map(|hit| hit.id.0).collect();
        assert_eq!(ids, Vec::from_iter((490..500).rev()));
        assert_eq!(heads.count(), 10);
    }
}
