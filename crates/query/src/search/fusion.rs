//! Fusion: adds propagated scores to base scores, and finds the best hits without scoring every event.

use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

use super::arrange::Arrangement;
use super::relevance;
use super::request::{Hit, Relevance, Search};
use crate::planner::scope::Sight;
use crate::planner::selected::PlannedSelection;
use crate::search::base_score::BaseScores;
use crate::search::emphasis::{Emphasis, EmphasisFactors};
use crate::search::full_scan;
use crate::search::near_scan;
use crate::search::remaining::RemainingEvents;
use crate::search::short_question::{DAMPING, ShortQuestions};
use crate::search::spread::{NearScores, Spread, SpreadShares, compact_id};
use crate::text::{ContainedTerms, FoundTerms};
use amem_format::brain::ScopeList;
use amem_format::error::Result;
use amem_format::top::ScoredEvent;
use amem_format::types::NodeId;
use amem_format::view::View;

/// The share of two steps, relative to that of one.
const SECOND_STEP_SHARE: f32 = 0.5;
/// Covers the rounding of a bound, which adds in another order than the score.
const ROUNDING: f32 = 1.0 + 1e-5;

/// The last step of a search: returns the hits, the best first.
///
/// Events are expanded by upper bound of their base scores, the greatest first, each with the events that it spreads
/// to: its neighbours one and two steps away. An event not yet expanded has at most the next base score, and so have
/// the neighbours that spread to it. A hit with a greater score than such an event can have is therefore the best
/// remaining one (Fagin, Lotem and Naor: Optimal aggregation algorithms, 2003).
///
/// Expanded events wait in a queue by bound, and are refined only when they come first; most never are. Once a large
/// part of the brain is expanded, one scan computes bounds of all scores, and events are scored in that order.
pub(super) struct Fusion<'s, 'v> {
    view: &'v View,
    search: &'v Search,
    base_scores: &'s BaseScores<'v>,
    spread: Spread<'s, 'v>,
    /// `None` if questions hand nothing on.
    questions: Option<ShortQuestions<'v>>,
    /// Events not yet expanded.
    remaining: RemainingEvents<'s, 'v>,
    /// The greatest base score of a selected event; known after the first expansion.
    max_base_score: Option<f32>,
    emphasis: Emphasis,
    /// Hits not yet returned.
    queue: BinaryHeap<QueuedHit>,
    /// Hits already returned.
    returned: Vec<u32>,
    /// What `remaining` holds.
    scan: Scan,
}

/// Which events are not yet taken, and by which bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scan {
    /// All, by their base scores.
    Expansion,
    /// Those that may reach a floor, by bounds of their scores: the others are below it.
    Near { floor: f32 },
    /// All, by bounds of their scores.
    Full,
}

/// Events to expand before the full scan: a constant plus a share of all. The constant is small, so that small brains
/// use both ways.
const EXPANDED_MAX: u64 = 64;
const EXPANDED_ONE_IN: u64 = 256;
/// Events of the greatest base scores that are scored to know what a scan looks for, for each wanted hit.
const LOOKED_AT_PER_HIT: usize = 2;
/// So that the last wanted hit is above the floor of a scan, and not at it.
const JUST_BELOW: f32 = 0.999;

/// A hit that waits. Of equal bounds the highest id comes first, as in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedHit {
    bound: ScoredEvent,
    precision: BoundPrecision,
}

/// How precise a waiting hit's bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BoundPrecision {
    /// Derived from the expanded events. The selection may not contain the event.
    Initial,
    /// Derived from the bounds of its neighbours and session.
    Refined,
    /// The score itself.
    Exact,
}

impl<'s, 'v> Fusion<'s, 'v> {
    pub(super) fn new(
        view: &'v View,
        search: &'v Search,
        base_scores: &'s BaseScores<'v>,
        sight: &'v Sight,
        scope: Option<Arc<ScopeList>>,
    ) -> Result<Self> {
        let selected = PlannedSelection::within(view, &search.selection, view.nodes(), scope)?;
        Ok(Self {
            view,
            search,
            base_scores,
            spread: Spread::new(
                view,
                base_scores,
                selected,
                sight,
                search.include_superseded,
            )?,
            questions: match search.question_share {
                0.0 => None,
                _ => Some(ShortQuestions::new(view)?),
            },
            remaining: RemainingEvents::new(base_scores),
            max_base_score: None,
            emphasis: Emphasis::new(view, search)?,
            queue: BinaryHeap::new(),
            returned: Vec::new(),
            scan: Scan::Expansion,
        })
    }

    /// The best hits, superseded events as their heads, and those that tie with the last. Hits come in order, so heads
    /// are looked up only for those at the top, however many share the last score.
    pub(super) fn best(&mut self, limit: usize) -> Result<Vec<Hit>> {
        let mut seen = HashSet::new();
        let mut best = Arrangement::new(self.view, self.search, limit);
        while best.may_take_more()
            && let Some(hit) = self.next(best.floor())?
            && best.takes(hit.score)
        {
            let head = if self.search.include_superseded {
                Some(hit.found)
            } else {
                self.spread.newest_head(hit.found)?
            };
            if let Some(id) = head
                && self.spread.admits(compact_id(id)?)?
                && !self.is_to_come(id, &hit)?
                && seen.insert(id)
            {
                best.push(Hit { id, ..hit })?;
            }
        }
        Ok(best.into_hits())
    }

    /// Sets the relevance of hits, for `found` of the question's terms.
    pub(super) fn add_relevance(
        &mut self,
        hits: &mut [Hit],
        found: &mut FoundTerms<'_>,
    ) -> Result<()> {
        let (mut beside, mut erased) = (Vec::new(), HashSet::new());
        for (at, hit) in hits.iter().enumerate() {
            beside.push((compact_id(hit.id)?, at));
            let own = compact_id(hit.found)?;
            for id in self.spread.beside(own)?.into_iter().chain([own]) {
                beside.push((id, at));
            }
        }
        // The index keeps the terms of an erased text until the next checkpoint.
        for (id, _) in &beside {
            if self.view.node(NodeId((*id).into()))?.is_erased() {
                erased.insert(*id);
            }
        }
        beside.retain(|(id, _)| !erased.contains(id));
        beside.sort_unstable();
        let ids: Vec<u32> = beside.iter().map(|&(id, _)| id).collect();
        let mut terms = vec![(ContainedTerms::default(), ContainedTerms::default()); hits.len()];
        for ((id, at), contained) in beside.into_iter().zip(found.contained(&ids)?) {
            let (own, near) = &mut terms[at];
            if [hits[at].id, hits[at].found].contains(&NodeId(id.into())) {
                own.add(contained);
            }
            near.add(contained);
        }
        let script = relevance::of_script(&self.search.question);
        for (hit, terms) in hits.iter_mut().zip(terms) {
            let meaning = self.base_scores.meaning(compact_id(hit.found)?)?;
            let is_named = self.emphasis.names(&self.view.node(hit.found)?)?;
            let length = match erased.contains(&compact_id(hit.found)?) {
                true => 0,
                false => found.length_of(compact_id(hit.found)?),
            };
            hit.relevance = Relevance {
                is_weak: hit.text == 0.0,
                ..relevance::of(found, terms, length, is_named, script, meaning)
            };
        }
        Ok(())
    }

    /// True if a selected head is itself a hit of the same score that comes later: that hit is returned instead.
    fn is_to_come(&mut self, head: NodeId, replaced: &Hit) -> Result<bool> {
        if head >= replaced.found {
            return Ok(false);
        }
        let own = self.hit(compact_id(head)?)?;
        Ok(own.score == replaced.score && own.text + own.vector + own.neighbours > 0.0)
    }

    /// The best hit not yet returned, if it may reach the floor; of equals, the highest id.
    fn next(&mut self, floor: f32) -> Result<Option<Hit>> {
        loop {
            let others = self.remaining_upper_bound();
            let queued = self.queue.peek().map(|first| first.bound.score);
            if others < floor && queued.is_none_or(|queued| queued < floor) {
                return Ok(None);
            }
            if let Some(&first) = self.queue.peek()
                && first.bound.score > others
            {
                self.queue.pop();
                if first.precision == BoundPrecision::Exact {
                    self.returned.push(first.bound.id);
                    return self.hit(first.bound.id).map(Some);
                }
                self.refine(first)?;
                continue;
            }
            match (self.scan, self.remaining.pop()) {
                (Scan::Expansion, Some(next)) if !self.should_scan() => self.expand(next)?,
                (Scan::Expansion, Some(_)) => self.start_scan()?,
                (Scan::Near { .. } | Scan::Full, Some(next)) => self.queue_exact(next)?,
                (Scan::Near { .. }, None) => self.start_full_scan()?,
                (Scan::Expansion | Scan::Full, None) => return Ok(None),
            }
        }
    }

    /// An upper bound of the score of every event that is neither expanded nor reached.
    fn remaining_upper_bound(&mut self) -> f32 {
        let next = self.remaining.upper_bound();
        let next = match (self.scan, next) {
            (Scan::Near { floor }, next) => return next.unwrap_or(floor).max(floor),
            (Scan::Expansion | Scan::Full, None) => return f32::NEG_INFINITY,
            (Scan::Full, Some(next)) => return next,
            (Scan::Expansion, Some(next)) => next,
        };
        let session = self.max_base_score.unwrap_or(next);
        let near = NearScores {
            firsts: 2.0 * next,
            seconds: 2.0 * next,
            before: next,
        };
        self.bound(next, near, session)
    }

    /// An upper bound of a score with these parts, for any speaker and time.
    fn bound(&self, own: f32, near: NearScores, session: f32) -> f32 {
        let spread = self.search.neighbour_share * (near.firsts + SECOND_STEP_SHARE * near.seconds)
            + self.search.question_share * near.before;
        (own + spread + self.search.session_share * session) * ROUNDING * self.emphasis.max()
    }

    fn factors(&mut self, id: u32) -> Result<EmphasisFactors> {
        if self.emphasis.is_none() {
            return Ok(EmphasisFactors::NONE);
        }
        self.emphasis.of(&self.view.node(NodeId(id.into()))?)
    }

    /// True if expansion reached so many events that a scan is cheaper.
    fn should_scan(&self) -> bool {
        let few = EXPANDED_MAX + self.view.nodes() / EXPANDED_ONE_IN;
        self.spread.entry_count() as u64 > few
    }

    fn shares(&self) -> SpreadShares {
        let share = self.search.neighbour_share;
        SpreadShares {
            first: share,
            second: share * SECOND_STEP_SHARE,
            question: self.search.question_share,
            session: self.search.session_share,
        }
    }

    /// Switches to bounds of the scores that may be among the best, or else of all.
    fn start_scan(&mut self) -> Result<()> {
        let floor = self.likely_floor()?;
        let Some(max) = self.max_base_score.filter(|_| floor > 0.0) else {
            return self.start_full_scan();
        };
        let factor = ROUNDING * self.emphasis.max();
        let shares = self.shares();
        let found = near_scan::reaching(
            self.view,
            self.base_scores,
            self.questions.as_ref(),
            shares,
            (max, floor / factor),
        )?;
        let Some(mut found) = found else {
            return self.start_full_scan();
        };
        found.retain(|event| !self.returned.contains(&event.id));
        found.iter_mut().for_each(|event| event.score *= factor);
        self.remaining = RemainingEvents::of(found);
        self.queue.clear();
        self.scan = Scan::Near { floor };
        Ok(())
    }

    /// The score that the last of the wanted hits has at least, if none of the best is left out of the answer: the
    /// events with the greatest base scores are looked at. 0 if they are too few.
    fn likely_floor(&mut self) -> Result<f32> {
        let limit = self.search.limit;
        let taken = self.remaining.taken(LOOKED_AT_PER_HIT * limit);
        let mut ids: Vec<u32> = taken.iter().map(|event| event.id).collect();
        ids.extend(&self.returned);
        ids.sort_unstable();
        ids.dedup();
        let mut scores = Vec::with_capacity(ids.len());
        for id in ids {
            if self.spread.admits(id)? {
                scores.push(self.hit(id)?.score);
            }
        }
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        let last = scores.get(limit - 1).copied().unwrap_or_default();
        Ok(last * (1.0 - self.search.tie_margin) * JUST_BELOW)
    }

    /// Switches to bounds of all scores.
    fn start_full_scan(&mut self) -> Result<()> {
        let mut bounds = full_scan::bounds(self.view, self.base_scores, self.shares())?;
        for &id in &self.returned {
            bounds[id as usize] = 0.0;
        }
        let factor = ROUNDING * self.emphasis.max();
        bounds.iter_mut().for_each(|bound| *bound *= factor);
        self.remaining = RemainingEvents::by_bounds(bounds);
        self.queue.clear();
        self.scan = Scan::Full;
        Ok(())
    }

    /// Queues an event with its score, if it is a hit.
    fn queue_exact(&mut self, ScoredEvent { id, .. }: ScoredEvent) -> Result<()> {
        if self.spread.admits(id)? {
            let hit = self.hit(id)?;
            if hit.text + hit.vector + hit.neighbours > 0.0 {
                self.push(hit.score, id, BoundPrecision::Exact);
            }
        }
        Ok(())
    }

    /// True if events lend to those beside them.
    fn spreads(&self) -> bool {
        self.search.neighbour_share > 0.0 || self.questions.is_some()
    }

    fn expand(&mut self, next: ScoredEvent) -> Result<()> {
        if !self.spread.observe(next)? {
            return Ok(());
        }
        self.max_base_score.get_or_insert(next.score);
        let mut reached = Vec::new();
        let mut reach = |_: &mut Spread<'s, 'v>, id: u32| {
            reached.push(id);
            Ok(())
        };
        match self.spreads() {
            false => self.spread.visit_once(next.id, &mut reach)?,
            true => {
                let remaining = &self.remaining;
                self.spread.prefetch(|after| remaining.peek_ahead(after))?;
                self.spread.expand(next, reach)?;
            }
        }
        for id in reached {
            let score = self.initial_bound(id);
            self.push(score, id, BoundPrecision::Initial);
        }
        Ok(())
    }

    fn push(&mut self, score: f32, id: u32, precision: BoundPrecision) {
        self.queue.push(QueuedHit {
            bound: ScoredEvent { score, id },
            precision,
        });
    }

    /// A bound from the events expanded so far.
    fn initial_bound(&mut self, id: u32) -> f32 {
        let next = self.remaining.upper_bound().unwrap_or_default();
        let near = self.spread.near_seen_bound(id, next);
        self.bound(
            self.base_scores.upper_bound(id),
            near,
            self.max_base_score.unwrap_or(next),
        )
    }

    /// Queues a hit again with a lower bound or its score, if it is one.
    fn refine(&mut self, QueuedHit { bound, precision }: QueuedHit) -> Result<()> {
        let id = bound.id;
        if precision == BoundPrecision::Refined {
            return self.queue_exact(bound);
        }
        let initial = self.initial_bound(id);
        if initial < bound.score {
            self.push(initial, id, BoundPrecision::Initial);
        } else if self.spread.admits(id)? {
            let next = self.remaining.upper_bound().unwrap_or_default();
            let near = match self.spreads() {
                false => NearScores::default(),
                true => self.spread.near_upper_bound(id)?,
            };
            let session = self.spread.session_upper_bound(id, next)?;
            let score = self.bound(self.base_scores.upper_bound(id), near, session);
            let factors = self.factors(id)?;
            let factor = factors.speaker * factors.time * factors.recency;
            let score = score / self.emphasis.max() * factor * ROUNDING;
            self.push(score, id, BoundPrecision::Refined);
        }
        Ok(())
    }

    /// The score of a selected event.
    fn hit(&mut self, id: u32) -> Result<Hit> {
        let (mut text, mut vector) = self.base_scores.parts(id)?;
        if let Some(questions) = &self.questions
            && questions.contains(id)?
        {
            text *= DAMPING;
            vector *= DAMPING;
        }
        let neighbours = match self.spreads() {
            false => 0.0,
            true => {
                let near = self.spread.near(id, self.questions.as_ref())?;
                self.search.neighbour_share * (near.firsts + SECOND_STEP_SHARE * near.seconds)
                    + self.search.question_share * near.before
            }
        };
        let session = match self.search.session_share {
            0.0 => 0.0,
            share => share * self.spread.session(id)?,
        };
        let found = NodeId(id.into());
        let factors = self.factors(id)?;
        let sum = text + vector + neighbours + session;
        Ok(Hit {
            id: found,
            found,
            score: sum * factors.speaker * factors.time * factors.recency,
            speaker: factors.speaker,
            time: factors.time,
            recency: factors.recency,
            relevance: Relevance::default(),
            equal_texts: 1,
            newer_value: None,
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
    use crate::search::base_score::SearchedEvents;
    use crate::search::text;
    use crate::text::Texts;
    use amem_format::base::settings::Settings;
    use amem_format::base_builder::build::Build;
    use amem_format::base_builder::new_identity;
    use amem_format::journal::op::{NewNode, Op};
    use amem_format::types::{EdgeType, EventType, Micros, SessionId};

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
        let search = Search {
            include_duplicates: true,
            tie_margin: 0.0,
            ..Search::default()
        };
        let terms = text::parse("deploy").unwrap();
        let mut terms = Texts::of(&view, None).unwrap().find(&terms).unwrap();
        let own = BaseScores::new(
            &view,
            SearchedEvents::default(),
            &mut terms,
            &Search::default(),
            (1.0, 0.0),
        )
        .unwrap();
        let sight = Sight::new(&search.selection.scope, false).unwrap();
        let mut fusion = Fusion::new(&view, &search, &own, &sight, None).unwrap();
        let found = fusion.best(10).unwrap();
        let ids: Vec<u64> = found.iter().take(10).map(|hit| hit.id.0).collect();
        assert_eq!(ids, Vec::from_iter((490..500).rev()));
        assert_eq!(fusion.spread.head_count(), found.len());
        assert!(found.len() < 50, "{}", found.len());
    }

    /// Events of few words in sessions of 40, each but the first of a session after the one before; some are questions.
    fn conversations(count: u64) -> View {
        let now = Micros(1_800_000_000_000_000);
        let identity = new_identity(Uuid::from_u128(1), Uuid::from_u128(2), Uuid::nil(), now);
        let mut build = Build::new(&identity, 0, &Settings::default()).unwrap();
        let words: Vec<String> = (0..60).map(|at| format!("word{at}x")).collect();
        for id in 0..count {
            let mut text: Vec<&str> = (0..1 + id % 5)
                .map(|at| &*words[(id * id + 7 * at * id + at) as usize % (10 + 10 * at as usize)])
                .collect();
            text.extend((id % 9 == 0).then_some("now?"));
            let event = NewNode {
                id: NodeId(id),
                event_type: EventType::FACT,
                session: SessionId(1 + id as u32 / 40),
                created_at: now,
                event_time: None,
                confidence: 1.0,
                lambda: 0.0,
                text: &text.join(" "),
                attributes: "",
                vector: &[],
                carried: None,
            };
            build.push(&Op::Event(event)).unwrap();
            if id % 40 > 0 {
                let edge = Op::Link {
                    source: NodeId(id - 1),
                    target: NodeId(id),
                    edge_type: EdgeType::TEMPORAL_NEXT,
                    weight: 1.0,
                    created_at: now,
                };
                build.push(&edge).unwrap();
            }
        }
        build.finish().unwrap()
    }

    #[test]
    fn a_scan_of_the_near_events_finds_what_a_scan_of_all_finds() {
        let view = conversations(4_000);
        let mut scans = 0;
        for (margin, question_share) in [(0.03, 0.25), (0.0, 0.25), (0.03, 0.0)] {
            let search = Search {
                include_duplicates: true,
                tie_margin: margin,
                question_share,
                ..Search::default()
            };
            for question in ["word3x word14x", "word1x", "word7x word22x word39x word41x"] {
                let words = text::parse(question).unwrap();
                let mut terms = Texts::of(&view, None).unwrap().find(&words).unwrap();
                let own = BaseScores::new(
                    &view,
                    SearchedEvents::default(),
                    &mut terms,
                    &Search::default(),
                    (1.0, 0.0),
                )
                .unwrap();
                let sight = Sight::new(&search.selection.scope, false).unwrap();
                let mut near = Fusion::new(&view, &search, &own, &sight, None).unwrap();
                let found = near.best(10).unwrap();
                scans += u32::from(matches!(near.scan, Scan::Near { .. }));
                let mut full = Fusion::new(&view, &search, &own, &sight, None).unwrap();
                full.start_full_scan().unwrap();
                assert_eq!(found, full.best(10).unwrap(), "{question}");
            }
        }
        // A word that a third of the events have is searched in all.
        assert!(scans >= 5, "{scans}");
    }
}
