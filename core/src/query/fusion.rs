//! Adding what others lend to what events have of their own, and finding the best without looking at all.

use std::collections::{BinaryHeap, HashSet};

use super::heads::Heads;
use super::lenders::{Lenders, small};
use super::own::Own;
use super::rest::Rest;
use super::scope::Sight;
use super::search::{Hit, Search};
use super::selected::Selected;
use crate::error::Result;
use crate::text::Scored;
use crate::types::NodeId;
use crate::view::View;

/// What one two steps away lends, of what a neighbour lends.
const SECOND: f32 = 0.5;
/// A bound is a sum in another order than the score that it bounds: this much more covers the rounding.
const ROUNDING: f32 = 1.0 + 1e-5;

/// The last step of a search: gives its hits, the best first.
///
/// Events are taken up by what they have of their own, the greatest first, each with its neighbours one and two steps
/// away. One that was not taken up has at most as much as the next, and none of the neighbours that lend to it has more;
/// so a hit that has more than such a one can have is the best of those that are left (after Fagin, Lotem and Naor:
/// Optimal aggregation algorithms, 2003).
pub(super) struct Fusion<'s, 'v> {
    view: &'v View,
    search: &'v Search,
    own: &'s Own<'v>,
    lenders: Lenders<'s, 'v>,
    /// Events that were not taken up.
    rest: Rest<'s, 'v>,
    /// The most that a wanted event has of its own, once one was taken up.
    most: Option<f32>,
    /// Hits that were not given.
    ready: BinaryHeap<Scored>,
}

impl<'s, 'v> Fusion<'s, 'v> {
    pub(super) fn new(view: &'v View, search: &'v Search, own: &'s Own<'v>) -> Result<Self> {
        let selected = Selected::new(view, &search.selection, view.nodes())?;
        Ok(Self {
            view,
            search,
            own,
            lenders: Lenders::new(view, own, selected),
            rest: Rest::new(own),
            most: None,
            ready: BinaryHeap::new(),
        })
    }

    /// The best hits, superseded ones as their heads.
    pub(super) fn best(mut self, limit: usize) -> Result<Vec<Hit>> {
        let selection = &self.search.selection;
        let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
        self.take(limit, &mut Heads::new(self.view, &sight))
    }

    /// Hits come in their order, so heads are looked up only of those at the top, however many have the score of the last.
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
            if let Some(&best) = self.ready.peek()
                && best.score > others
            {
                self.ready.pop();
                return self.hit(best.id).map(Some);
            }
            match self.rest.pop()? {
                Some(next) => self.take_up(next)?,
                None => return Ok(None),
            }
        }
    }

    fn hit(&mut self, id: u32) -> Result<Hit> {
        hit(self.search, self.own, &mut self.lenders, id)
    }

    /// No event that was not taken up, and is no neighbour of one that was, has a greater score.
    fn most_of_the_rest(&mut self) -> f32 {
        let Some(next) = self.rest.most() else {
            return f32::NEG_INFINITY;
        };
        let lent = 2.0 * self.search.neighbour_share * (1.0 + SECOND);
        let session = self.search.session_share * self.most.unwrap_or(next);
        (next * (1.0 + lent) + session) * ROUNDING
    }

    fn take_up(&mut self, next: Scored) -> Result<()> {
        if !self.lenders.tell(next)? {
            return Ok(());
        }
        self.most.get_or_insert(next.score);
        let (search, own, ready) = (self.search, self.own, &mut self.ready);
        let mut make = |lenders: &mut Lenders<'s, 'v>, id: u32| {
            let score = hit(search, own, lenders, id)?.score;
            ready.push(Scored { score, id });
            Ok(())
        };
        match search.neighbour_share {
            0.0 => self.lenders.once(next.id, &mut make),
            _ => self.lenders.around(next.id, make),
        }
    }
}

/// The hit that a wanted event is.
fn hit(search: &Search, own: &Own<'_>, lenders: &mut Lenders<'_, '_>, id: u32) -> Result<Hit> {
    let (text, vector) = own.parts(id)?;
    let neighbours = match search.neighbour_share {
        0.0 => 0.0,
        share => {
            let (first, second) = lenders.near(id)?;
            share * (first + SECOND * second)
        }
    };
    let session = match search.session_share {
        0.0 => 0.0,
        share => share * lenders.session(id)?,
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::base::settings::Settings;
    use crate::fold::build::Build;
    use crate::fold::new_identity;
    use crate::journal::op::{NewNode, Op};
    use crate::types::{EventType, Micros, SessionId};

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
        let own = Own::new(&view, "deploy", &[], (1.0, 0.0)).unwrap();
        let sight = Sight::new(&search.selection.scope, false).unwrap();
        let mut heads = Heads::new(&view, &sight);
        let mut fusion = Fusion::new(&view, &search, &own).unwrap();
        let found = fusion.take(10, &mut heads).unwrap();
        let ids: Vec<u64> = found.iter().map(|hit| hit.id.0).collect();
        assert_eq!(ids, Vec::from_iter((490..500).rev()));
        assert_eq!(heads.count(), 10);
    }
}
