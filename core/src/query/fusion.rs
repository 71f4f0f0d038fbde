//! Adding what others lend to what events have of their own, and finding the best without looking at all.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use super::heads::Heads;
use super::lenders::Lenders;
use super::own::Own;
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
    own: &'s Own,
    lenders: Lenders<'s, 'v>,
    /// Events that were not taken up.
    rest: BinaryHeap<Scored>,
    /// The most that a wanted event has of its own, once one was taken up.
    most: Option<f32>,
    /// Hits that were made and not given.
    ready: BinaryHeap<Ready>,
}

/// Hits by score; of equals, by id.
struct Ready(Hit);

impl Ready {
    fn scored(&self) -> Scored {
        let (score, id) = (self.0.score, self.0.found.0 as u32);
        Scored { score, id }
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.scored() == other.scored()
    }
}

impl Eq for Ready {}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        self.scored().cmp(&other.scored())
    }
}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'s, 'v> Fusion<'s, 'v> {
    pub(super) fn new(view: &'v View, search: &'v Search, own: &'s Own) -> Result<Self> {
        let selected = Selected::new(view, &search.selection, view.nodes())?;
        Ok(Self {
            view,
            search,
            own,
            lenders: Lenders::new(view, own, selected),
            rest: BinaryHeap::from(own.all()),
            most: None,
            ready: BinaryHeap::new(),
        })
    }

    /// The best hits, superseded ones as their heads.
    ///
    /// Hits come by score, so only those near the top are resolved. Of equals, heads have another order than what they
    /// replace: all that have the score of the last are looked at.
    pub(super) fn best(mut self, limit: usize) -> Result<Vec<Hit>> {
        let selection = &self.search.selection;
        let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
        let mut heads = Heads::new(self.view, &sight);
        let mut told = HashSet::new();
        let mut best: Vec<Hit> = Vec::new();
        let mut least = f32::NEG_INFINITY;
        while let Some(hit) = self.next(least)? {
            let head = match self.search.include_superseded {
                true => Some(hit.found),
                false => heads.newest(hit.found)?,
            };
            if let Some(id) = head
                && self.lenders.wants(id.0 as u32)?
                && told.insert(id)
            {
                best.push(Hit { id, ..hit });
                if best.len() == limit {
                    least = hit.score;
                }
            }
        }
        best.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
        best.truncate(limit);
        Ok(best)
    }

    /// The best hit that was not given; of equals, the highest id. None if it has less than `least`.
    fn next(&mut self, least: f32) -> Result<Option<Hit>> {
        loop {
            let others = self.most_of_the_rest();
            let ready = self.ready.peek().map(|best| best.0.score);
            if others < least && ready.is_none_or(|score| score < least) {
                return Ok(None);
            }
            if ready.is_some_and(|score| score > others) {
                return Ok(self.ready.pop().map(|best| best.0));
            }
            match self.rest.pop() {
                Some(next) => self.take_up(next)?,
                None => return Ok(None),
            }
        }
    }

    /// No event that was not taken up, and is no neighbour of one that was, has a greater score.
    fn most_of_the_rest(&self) -> f32 {
        let Some(next) = self.rest.peek() else {
            return f32::NEG_INFINITY;
        };
        let lent = 2.0 * self.search.neighbour_share * (1.0 + SECOND);
        let session = self.search.session_share * self.most.unwrap_or(next.score);
        (next.score * (1.0 + lent) + session) * ROUNDING
    }

    fn take_up(&mut self, next: Scored) -> Result<()> {
        if !self.lenders.tell(next)? {
            return Ok(());
        }
        self.most.get_or_insert(next.score);
        let (search, own, ready) = (self.search, self.own, &mut self.ready);
        let mut make = |lenders: &mut Lenders<'s, 'v>, id: u32| {
            ready.push(Ready(hit(search, own, lenders, id)?));
            Ok(())
        };
        match search.neighbour_share {
            0.0 => self.lenders.once(next.id, &mut make),
            _ => self.lenders.around(next.id, make),
        }
    }
}

/// The hit that a wanted event is.
fn hit(search: &Search, own: &Own, lenders: &mut Lenders<'_, '_>, id: u32) -> Result<Hit> {
    let (text, vector) = own.parts(id);
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
