//! Upper bounds of the scores that reach a floor: of the events of high base scores, and of those near them.
//!
//! An event whose own base score and those of all its neighbours are low cannot reach the floor, whatever its session.
//! So the high ones alone are looked at; each hands its base score on, one step and two.
//!
//! Promises: an event that is not returned has a score below the floor; no score exceeds its bound.
//! Not here: the selection; bounds ignore it.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::search::base_score::BaseScores;
use crate::search::short_question::ShortQuestions;
use crate::search::spread::{DIRECTIONS, SpreadShares, compact_id};
use amem_format::error::Result;
use amem_format::top::ScoredEvent;
use amem_format::types::{EdgeType, NodeId, SessionId};
use amem_format::view::{Direction, GraphReader, View};

/// With more events of high base scores than this part of all, a scan of all is cheaper.
const HIGH_ONE_IN: usize = 4;
/// With more events than this the best of each session is looked up, so that fewer remain.
const SESSIONS_FROM: usize = 1_024;
/// Events of a brain for which a thread keeps its table, of 4 bytes each.
const KEPT_EVENTS_MAX: usize = 256 << 10;
/// Edges of an event whose neighbours are read one by one.
const FEW_EDGES: usize = 32;

/// The best base scores near an event, by direction: one step away, and two.
#[derive(Debug, Clone, Copy, Default)]
struct NearBest {
    firsts: [f32; 2],
    seconds: [f32; 2],
    /// Of short questions just before.
    question: f32,
}

/// What `NearBest` knows of one step, looked up; `None` if the event has many edges, or some since the last checkpoint.
fn one_step(
    web: &GraphReader<'_>,
    base_scores: &BaseScores<'_>,
    questions: Option<&ShortQuestions<'_>>,
    id: u32,
) -> Option<([f32; 2], f32)> {
    let (mut firsts, mut question) = ([0.0f32; 2], 0.0f32);
    for (at, direction) in DIRECTIONS.into_iter().enumerate() {
        for first in few_steps(web, id, direction)? {
            let score = base_scores.upper_bound(first);
            firsts[at] = firsts[at].max(score);
            if at == BEFORE && questions.is_some_and(|questions| questions.may_contain(first)) {
                question = question.max(score);
            }
        }
    }
    Some((firsts, question))
}

/// The same of two steps.
fn two_steps(web: &GraphReader<'_>, base_scores: &BaseScores<'_>, id: u32) -> Option<[f32; 2]> {
    let mut seconds = [0.0f32; 2];
    for (at, direction) in DIRECTIONS.into_iter().enumerate() {
        for first in few_steps(web, id, direction)? {
            for second in few_steps(web, first, direction)? {
                seconds[at] = seconds[at].max(base_scores.upper_bound(second));
            }
        }
    }
    Some(seconds)
}

/// Has the edges of the events that come loaded: each is elsewhere in memory.
fn expect(web: &GraphReader<'_>, direction: Direction, coming: impl Fn(usize) -> Option<u32>) {
    let node = |ahead: usize| coming(ahead).map(|id| NodeId(id.into()));
    if let Some(id) = node(12) {
        web.expect(id, direction);
    }
    if let Some(id) = node(6) {
        web.expect_edges(id, direction);
    }
}

/// As `steps`, of an event with few edges.
fn few_steps(
    web: &GraphReader<'_>,
    id: u32,
    direction: Direction,
) -> Option<impl Iterator<Item = u32>> {
    let (ends, types) = web.plain(NodeId(id.into()), direction)?;
    let edges = (ends.len() <= FEW_EDGES).then(|| ends.iter().zip(types))?;
    let is_step = |edge_type: u8| EdgeType(edge_type) == EdgeType::TEMPORAL_NEXT;
    Some(edges.filter_map(move |(&other, &edge_type)| is_step(edge_type).then_some(other)))
}

/// Events two steps away lend half as much: they are looked at from a greater score on.
const TWO_STEPS: f32 = 1.5;
/// Covers the rounding of what is written in a byte.
const ROUNDING: f32 = 1.0 + 1e-5;
/// The direction of the events before.
const BEFORE: usize = 1;

/// The events that may reach the floor, with bounds of their scores, in no order; `None` if a scan of all events is
/// cheaper. `max` is the greatest base score of a selected event.
pub(super) fn reaching(
    view: &View,
    base_scores: &BaseScores<'_>,
    questions: Option<&ShortQuestions<'_>>,
    shares: SpreadShares,
    (max, floor): (f32, f32),
) -> Result<Option<Vec<ScoredEvent>>> {
    let near = 2.0 * (shares.first + TWO_STEPS * shares.second) + shares.question;
    // An event below this stays below the floor if its neighbours are below it as well, and those two steps away below
    // `TWO_STEPS` of it.
    let low = (floor - shares.session * max) / (1.0 + near);
    let nodes = view.nodes() as usize;
    if low <= 0.0 {
        return Ok(None);
    }
    let Some(high) = base_scores.reaching(low, nodes / HIGH_ONE_IN) else {
        return Ok(None);
    };
    let web = view.graph()?;
    let mut lent = LentScores::new(nodes, max);
    let lends = near > 0.0;
    if lends {
        lent.spread(&web, &high, low)?;
    }
    let sessions = shares.session * max;
    let bound = |id: u32, near: NearBest| {
        let sum = |best: [f32; 2]| best[0] + best[1];
        let lent = shares.first * sum(near.firsts)
            + shares.second * sum(near.seconds)
            + shares.question * near.question;
        base_scores.upper_bound(id) + lent + sessions
    };
    let mut found = Vec::new();
    let alone = |event: &&ScoredEvent| lent.best[event.id as usize] == [0; 4];
    let alone = high.iter().filter(alone).map(|event| event.id);
    let looked: Vec<u32> = lent.touched.iter().copied().chain(alone).collect();
    for (at, &id) in looked.iter().enumerate() {
        for direction in DIRECTIONS.into_iter().filter(|_| lends) {
            expect(&web, direction, |ahead| looked.get(at + ahead).copied());
        }
        let mut near = lent.of(id, low);
        let mut score = bound(id, near);
        // What is not known to be high is looked up, as far as needed.
        if score >= floor
            && lends
            && let Some(known) = one_step(&web, base_scores, questions, id)
        {
            (near.firsts, near.question) = known;
            score = bound(id, near);
        }
        if score >= floor
            && lends
            && let Some(known) = two_steps(&web, base_scores, id)
        {
            near.seconds = known;
            score = bound(id, near);
        }
        if score >= floor {
            found.push(ScoredEvent { score, id });
        }
    }
    if shares.session > 0.0 && found.len() > SESSIONS_FROM {
        refine(view, &high, (shares.session, low), sessions, &mut found)?;
        found.retain(|event| event.score >= floor);
    }
    Ok(Some(found))
}

/// Replaces the greatest base score of all sessions, of which bounds have a share, by that of the event's own session.
fn refine(
    view: &View,
    high: &[ScoredEvent],
    (share, low): (f32, f32),
    sessions: f32,
    found: &mut [ScoredEvent],
) -> Result<()> {
    let session = |id: u32| view.node(NodeId(id.into())).map(|node| node.session());
    let mut best: HashMap<SessionId, f32> = HashMap::new();
    for event in high {
        let of_session = best.entry(session(event.id)?).or_insert(low);
        *of_session = of_session.max(event.score);
    }
    for event in found {
        let own = session(event.id)?;
        let best = match own {
            // It lends to itself.
            SessionId(0) => event.score,
            _ => best.get(&own).copied().unwrap_or(low),
        };
        event.score = (event.score - sessions) + (share * best).min(sessions);
    }
    Ok(())
}

/// What events of high base scores lend to those near them: by direction one step away, and two. A byte stands for
/// a score, rounded up: a brain of a million events has to be cheap to write down.
struct LentScores {
    max: f32,
    best: Vec<[u8; 4]>,
    touched: Vec<u32>,
}

thread_local! {
    /// The table of the last scan of this thread, all zeros: the pages of a new one would take longer than the scan.
    static KEPT: RefCell<Vec<[u8; 4]>> = const { RefCell::new(Vec::new()) };
}

impl Drop for LentScores {
    fn drop(&mut self) {
        let mut best = std::mem::take(&mut self.best);
        if best.len() > KEPT_EVENTS_MAX {
            return;
        }
        for id in &self.touched {
            best[*id as usize] = [0; 4];
        }
        KEPT.replace(best);
    }
}

impl LentScores {
    fn new(nodes: usize, max: f32) -> Self {
        let mut best = KEPT.take();
        best.resize(nodes, [0; 4]);
        Self {
            max,
            best,
            touched: Vec::new(),
        }
    }

    fn byte(&self, score: f32) -> u8 {
        // Saturates. 1 and more: 0 is for what was not touched.
        ((score / self.max * 254.0).ceil() as u8).max(1)
    }

    fn score(&self, byte: u8) -> f32 {
        f32::from(byte) / 254.0 * self.max * ROUNDING
    }

    fn of(&self, id: u32, low: f32) -> NearBest {
        let scores = self.best[id as usize].map(|byte| self.score(byte).max(low));
        let [after, before, two_after, two_before] = scores;
        let [two_after, two_before] = [two_after, two_before].map(|s| s.max(TWO_STEPS * low));
        NearBest {
            firsts: [after, before],
            seconds: [two_after, two_before],
            question: before,
        }
    }

    fn lend(&mut self, id: u32, at: usize, byte: u8) {
        if let Some(best) = self.best.get_mut(id as usize) {
            if *best == [0; 4] {
                self.touched.push(id);
            }
            best[at] = best[at].max(byte);
        }
    }

    fn spread(&mut self, web: &GraphReader<'_>, high: &[ScoredEvent], low: f32) -> Result<()> {
        // An event is found from the other one in the opposite direction.
        for (way, back) in [(0, 1), (1, 0)] {
            let direction = DIRECTIONS[way];
            for (at, event) in high.iter().enumerate() {
                expect(web, direction, |ahead| {
                    high.get(at + ahead).map(|event| event.id)
                });
                let byte = self.byte(event.score);
                steps(web, event.id, direction, |other| {
                    self.lend(other, back, byte)
                })?;
            }
        }
        let once = self.touched.clone();
        let high = self.byte(TWO_STEPS * low);
        for (way, back) in [(0, 1), (1, 0)] {
            for &id in &once {
                let byte = self.best[id as usize][back];
                if byte >= high {
                    let direction = DIRECTIONS[way];
                    steps(web, id, direction, |other| self.lend(other, 2 + back, byte))?;
                }
            }
        }
        Ok(())
    }
}

/// Calls `f` with the events that an event has temporal-next edges to or from.
pub(super) fn steps(
    web: &GraphReader<'_>,
    id: u32,
    direction: Direction,
    mut f: impl FnMut(u32),
) -> Result<()> {
    let id = NodeId(id.into());
    match web.plain(id, direction) {
        Some((ends, types)) => {
            for (&other, &edge_type) in ends.iter().zip(types) {
                if EdgeType(edge_type) == EdgeType::TEMPORAL_NEXT {
                    f(other);
                }
            }
        }
        None => {
            for tie in web.edges_of(id, direction)?.iter() {
                if tie.edge_type == EdgeType::TEMPORAL_NEXT {
                    f(compact_id(tie.other)?);
                }
            }
        }
    }
    Ok(())
}
