//! Adding what neighbours lend to what events have of their own, and finding the best without looking at all.

use std::collections::{BinaryHeap, HashMap};

use super::search::{Hit, Own};
use super::selected::Selected;
use crate::error::Result;
use crate::text::{Scored, Top};
use crate::types::{EdgeType, NodeId};
use crate::view::{Direction, View};

/// The last step of a search.
pub(super) struct Fusion<'s, 'v> {
    view: &'v View,
    own: &'s Own,
    selected: Selected<'v>,
    share: f32,
    /// Whether an event is wanted, of those looked at.
    known: HashMap<u32, bool>,
}

/// A bound is a sum in another order than the score that it bounds: this much more covers the rounding.
const ROUNDING: f32 = 1.0 + 1e-5;

impl<'s, 'v> Fusion<'s, 'v> {
    pub(super) fn new(view: &'v View, own: &'s Own, selected: Selected<'v>, share: f32) -> Self {
        Self {
            view,
            own,
            selected,
            share,
            known: HashMap::new(),
        }
    }

    /// The best hits.
    ///
    /// Events are taken up by what they have of their own, the greatest first, each with its neighbours. One
    /// that was not taken up has at most as much as the next, and neither of the neighbours that lend to it
    /// has more; so when that is not enough for a place, the rest has none (after Fagin, Lotem and Naor:
    /// Optimal aggregation algorithms, 2003).
    pub(super) fn best(mut self, limit: usize) -> Result<Vec<Hit>> {
        let mut heap = BinaryHeap::from(self.own.all());
        let mut top = Top::new(limit);
        let mut hits = HashMap::new();
        while let Some(Scored { score, id }) = heap.pop() {
            let most = score * (1.0 + 2.0 * self.share) * ROUNDING;
            if most < top.threshold() {
                break;
            }
            if !self.wants(id)? {
                continue;
            }
            let mut ids = vec![id];
            if self.share > 0.0 {
                ids.extend(self.neighbours(id, Direction::Outgoing)?);
                ids.extend(self.neighbours(id, Direction::Incoming)?);
            }
            for id in ids {
                if !hits.contains_key(&id) && self.wants(id)? {
                    let hit = self.hit(id)?;
                    hits.insert(id, hit);
                    top.push(Scored {
                        score: hit.score,
                        id,
                    });
                }
            }
        }
        let best = top
            .into_sorted()
            .filter_map(|(id, _)| hits.get(&id).copied());
        Ok(best.collect())
    }

    fn wants(&mut self, id: u32) -> Result<bool> {
        if let Some(&is_wanted) = self.known.get(&id) {
            return Ok(is_wanted);
        }
        let is_wanted = self.selected.admits_id(NodeId(id.into()))?;
        self.known.insert(id, is_wanted);
        Ok(is_wanted)
    }

    fn neighbours(&self, id: u32, direction: Direction) -> Result<Vec<u32>> {
        let ties = self.view.ties(NodeId(id.into()), direction)?;
        let next = ties
            .iter()
            .filter(|tie| tie.edge_type == EdgeType::TEMPORAL_NEXT);
        Ok(next.map(|tie| tie.other.0 as u32).collect())
    }

    /// The most that a wanted neighbour in one direction has of its own.
    fn lends(&mut self, id: u32, direction: Direction) -> Result<f32> {
        let mut most = 0.0;
        for id in self.neighbours(id, direction)? {
            let (text, vector) = self.own.parts(id);
            if text + vector > most && self.wants(id)? {
                most = text + vector;
            }
        }
        Ok(most)
    }

    fn hit(&mut self, id: u32) -> Result<Hit> {
        let (text, vector) = self.own.parts(id);
        let neighbours = if self.share > 0.0 {
            self.share
                * (self.lends(id, Direction::Outgoing)? + self.lends(id, Direction::Incoming)?)
        } else {
            0.0
        };
        Ok(Hit {
            id: NodeId(id.into()),
            score: text + vector + neighbours,
            text,
            vector,
            neighbours,
        })
    }
}
