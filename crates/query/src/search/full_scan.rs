//! Upper bounds of the scores of all events in one scan.
//!
//! A question of many common words gives most events nearly the same score, so that visiting events by bound would
//! reach all of them through random memory accesses. A sequential scan costs a fraction of that.
//!
//! Promises: no score exceeds its bound. Not here: the selection; bounds ignore it.

use crate::search::base_score::BaseScores;
use crate::search::near_scan::steps;
use crate::search::spread::{DIRECTIONS, SpreadShares};
use amem_format::error::Result;
use amem_format::types::{NodeId, SessionId};
use amem_format::view::{Direction, GraphReader, View};

/// Upper bounds by id: base score plus what neighbours and session spread. Any event before counts as a short question.
pub(super) fn bounds(
    view: &View,
    base_scores: &BaseScores<'_>,
    shares: SpreadShares,
) -> Result<Vec<f32>> {
    let nodes = view.nodes() as usize;
    let mut upper_bounds = vec![0.0; nodes];
    match base_scores.upper_bounds() {
        Some(known) => {
            let len = known.len().min(nodes);
            upper_bounds[..len].copy_from_slice(&known[..len]);
        }
        None => {
            for (id, text) in base_scores.text_scores() {
                if let Some(bound) = upper_bounds.get_mut(id as usize) {
                    *bound = text;
                }
            }
        }
    }
    let mut bounds = upper_bounds.clone();
    if shares.first > 0.0 || shares.question > 0.0 {
        let web = view.graph()?;
        for direction in DIRECTIONS {
            let adjacency = StepAdjacency::of(&web, nodes, direction)?;
            let firsts = adjacency.neighbour_max(&upper_bounds);
            let seconds = adjacency.neighbour_max(&firsts);
            let spread = firsts.iter().zip(&seconds);
            let first_share = match direction {
                Direction::Incoming => shares.first + shares.question,
                Direction::Outgoing => shares.first,
            };
            for (bound, (first, second)) in bounds.iter_mut().zip(spread) {
                *bound += first_share * first + shares.second * second;
            }
        }
    }
    if shares.session != 0.0 {
        for (bound, max) in bounds.iter_mut().zip(best_of_sessions(view, upper_bounds)?) {
            *bound += shares.session * max;
        }
    }
    Ok(bounds)
}

/// Temporal-next edges of all events in one direction.
struct StepAdjacency {
    /// The start of each event's edges, and the end of the last.
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl StepAdjacency {
    fn of(web: &GraphReader<'_>, nodes: usize, direction: Direction) -> Result<Self> {
        let mut starts = Vec::with_capacity(nodes + 1);
        let mut others = Vec::new();
        for id in 0..nodes as u32 {
            starts.push(others.len() as u32);
            steps(web, id, direction, |other| others.push(other))?;
        }
        starts.push(others.len() as u32);
        Ok(Self { starts, others })
    }

    /// For each event, the greatest score of a neighbour.
    fn neighbour_max(&self, of: &[f32]) -> Vec<f32> {
        let ranges = self.starts.windows(2);
        ranges
            .map(|range| {
                let others = &self.others[range[0] as usize..range[1] as usize];
                let score = |&other: &u32| of.get(other as usize).copied().unwrap_or_default();
                others.iter().map(score).fold(0.0, f32::max)
            })
            .collect()
    }
}

/// For each event, the greatest score in its session; its own if it has no session.
fn best_of_sessions(view: &View, mut upper_bounds: Vec<f32>) -> Result<Vec<f32>> {
    for session in view.session_ids(None, false)? {
        let session = session?;
        if session == SessionId(0) {
            continue;
        }
        let members = view.of_session(session)?;
        let score = |id: NodeId| upper_bounds.get(id.0 as usize).copied().unwrap_or_default();
        let max = members.iter().map(score).fold(0.0, f32::max);
        for id in members.iter() {
            if let Some(bound) = upper_bounds.get_mut(id.0 as usize) {
                *bound = max;
            }
        }
    }
    Ok(upper_bounds)
}
