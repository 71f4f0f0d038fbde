//! The newest heads of many events: the result of `resolve` for each, with shared paths walked once.
//!
//! Whether an event is a head, and which head above it is the newest, does not depend on the start. Both are computed
//! once per event, those of a cycle together (Tarjan's strongly connected components), and cached.
//!
//! Most replaced events have one replacement, a newer one. Such a chain is followed without recursion, and the result
//! is cached at every `MARK_EVERY`th event, so no chain is walked twice.
//!
//! The base caches results for later queries (`base::head_cache`).

use std::collections::HashMap;

use crate::graph::visited::NodeMap;
use crate::limits::EDGES_VISITED_MAX;
use crate::planner::scope::{Sight, Visibility};
use amem_format::base::head_cache::CachedHeads;
use amem_format::error::{Error, Result};
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, GraphReader, View};

/// The result is cached at one event of a chain in this many.
const MARK_EVERY: usize = 64;

pub(crate) struct Heads<'v> {
    view: &'v View,
    web: Option<GraphReader<'v>>,
    sight: &'v Sight,
    /// Results cached by earlier queries with the same visibility.
    cached: Option<CachedHeads<'v>>,
    /// Results by index of the event; `None` where following the chain gave none.
    known: Vec<Option<NewestAbove>>,
    places: NodeMap,
    edges_visited: usize,
}

/// The newest head and the newest shown event among an event and its replacements.
#[derive(Debug, Clone, Copy, Default)]
struct NewestAbove {
    head: Option<NodeId>,
    shown: Option<NodeId>,
}

/// How a chain continues at an event.
enum ChainStep {
    /// This newer event is the only replacement.
    To(NodeId),
    /// No event replaces it.
    Top,
    /// Several events may replace it, or an older one.
    Unclear,
}

/// A stack frame of Tarjan's algorithm: an event whose replacements are being visited.
struct TarjanFrame {
    id: NodeId,
    is_shown: bool,
    replacements: Vec<(NodeId, bool)>,
    next: usize,
    /// The lowest index reached from the event (Tarjan's low link).
    low: usize,
    place: usize,
    /// The result of the replacements visited so far.
    above: NewestAbove,
    is_circular: bool,
}

impl<'v> Heads<'v> {
    pub(crate) fn new(view: &'v View, sight: &'v Sight) -> Self {
        Self {
            view,
            web: None,
            sight,
            cached: view.replacements().filter(|_| sight.is_default()),
            known: Vec::new(),
            places: NodeMap::new(),
            edges_visited: 0,
        }
    }

    /// The newest head of an event; `None` if the event and all its replacements are hidden.
    pub(crate) fn newest(&mut self, event: NodeId) -> Result<Option<NodeId>> {
        if self.known(event).is_none() && self.follow(event)?.is_none() {
            let web = self.web()?;
            let is_shown = self.sight.at(&web, event)? != Visibility::Stub;
            self.walk(event, is_shown)?;
        }
        let above = self.known(event).unwrap_or_default();
        Ok(above.head.or(above.shown))
    }

    /// The number of cached results.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.known.iter().flatten().count()
    }

    fn known(&self, id: NodeId) -> Option<NewestAbove> {
        let place = self.places.get(id);
        let known = place.and_then(|place| self.known.get(place as usize).copied().flatten());
        known.or_else(|| {
            let (head, shown) = self.cached?.get(id)?;
            Some(NewestAbove { head, shown })
        })
    }

    fn keep(&mut self, id: NodeId, above: Option<NewestAbove>) {
        match self.places.put(id, self.known.len() as u32) {
            None => self.known.push(above),
            Some(place) => self.known[place as usize] = above,
        }
    }

    /// Follows a chain while each event has one newer replacement. Returns the result at its end, and caches it, if the
    /// chain ends in a head.
    ///
    /// That head is above the whole chain, and no event of the chain is in a cycle: so whether other events of the
    /// chain are shown changes no result.
    fn follow(&mut self, event: NodeId) -> Result<Option<NewestAbove>> {
        let web = self.web()?;
        let (mut at, mut steps) = (event, 0usize);
        let mut marks = Vec::new();
        let above = loop {
            if let Some(place) = self.places.get(at) {
                break self.known[place as usize].filter(|above| above.head.is_some());
            }
            match self.step(&web, at)? {
                ChainStep::To(next) => {
                    if steps.is_multiple_of(MARK_EVERY) {
                        marks.push(at);
                    }
                    (at, steps) = (next, steps + 1);
                }
                ChainStep::Top if self.sight.at(&web, at)? == Visibility::Shown => {
                    marks.push(at);
                    let found = Some(at);
                    break Some(NewestAbove {
                        head: found,
                        shown: found,
                    });
                }
                ChainStep::Top | ChainStep::Unclear => break None,
            }
        };
        for id in marks {
            self.keep(id, above);
        }
        Ok(above)
    }

    #[inline]
    fn step(&mut self, web: &GraphReader<'_>, id: NodeId) -> Result<ChainStep> {
        let Some((others, types)) = web.plain(id, Direction::Incoming) else {
            return Ok(ChainStep::Unclear);
        };
        self.count_edges(others.len())?;
        let mut step = ChainStep::Top;
        for (&other, &edge_type) in others.iter().zip(types) {
            if EdgeType(edge_type) != EdgeType::SUPERSEDES {
                continue;
            }
            let other = NodeId(other.into());
            let is_first = matches!(step, ChainStep::Top);
            if !is_first || other <= id || self.sight.is_outside(web, other)? {
                return Ok(ChainStep::Unclear);
            }
            step = ChainStep::To(other);
        }
        Ok(step)
    }

    fn count_edges(&mut self, ties: usize) -> Result<()> {
        self.edges_visited += ties;
        let what = "the number of edges that a query visits";
        Error::check_limit(what, self.edges_visited as u64, EDGES_VISITED_MAX as u64)
    }

    fn web(&mut self) -> Result<GraphReader<'v>> {
        match self.web {
            Some(web) => Ok(web),
            None => Ok(*self.web.insert(self.view.graph()?)),
        }
    }

    fn walk(&mut self, event: NodeId, is_shown: bool) -> Result<()> {
        // Indexes of events without a result; the stack of events whose cycles are unfinished.
        let mut places = HashMap::from([(event, 0)]);
        let mut visited = 1;
        let mut circle: Vec<(NodeId, bool)> = vec![(event, is_shown)];
        let mut way = vec![self.open(event, is_shown, 0)?];
        while let Some(top) = way.last_mut() {
            if let Some(&(id, is_shown)) = top.replacements.get(top.next) {
                top.next += 1;
                if let Some(known) = self.known(id) {
                    top.above.join(known);
                } else if let Some(&place) = places.get(&id) {
                    top.low = top.low.min(place);
                    top.is_circular = true;
                } else if let Some(above) = self.follow(id)? {
                    top.above.join(above);
                } else {
                    places.insert(id, visited);
                    circle.push((id, is_shown));
                    let open = self.open(id, is_shown, visited)?;
                    way.push(open);
                    visited += 1;
                }
                continue;
            }
            let Some(mut done) = way.pop() else { break };
            if done.low < done.place {
                // Part of a cycle that began earlier: its result belongs to the whole cycle.
                if let Some(below) = way.last_mut() {
                    below.low = below.low.min(done.low);
                    below.above.join(done.above);
                    below.is_circular = true;
                }
                continue;
            }
            if !done.is_circular && done.is_shown && done.above.shown.is_none() {
                done.above.head = Some(done.id);
            }
            let first = circle.iter().rposition(|(id, _)| *id == done.id);
            let members = circle.split_off(first.unwrap_or_default());
            let shown = members.iter().filter(|(_, is_shown)| *is_shown);
            let newest = shown.map(|(id, _)| *id).max();
            done.above.shown = done.above.shown.max(newest);
            for (id, _) in members {
                self.keep(id, Some(done.above));
                if let Some(cached) = self.cached {
                    cached.set(id, done.above.head, done.above.shown);
                }
            }
            if let Some(below) = way.last_mut() {
                below.above.join(done.above);
            }
        }
        Ok(())
    }

    fn open(&mut self, id: NodeId, is_shown: bool, place: usize) -> Result<TarjanFrame> {
        let web = self.web()?;
        let mut replacements = Vec::new();
        for tie in web.edges_of(id, Direction::Incoming)?.iter() {
            self.count_edges(1)?;
            if tie.edge_type != EdgeType::SUPERSEDES {
                continue;
            }
            match self.sight.at(&web, tie.other)? {
                Visibility::Shown => replacements.push((tie.other, true)),
                Visibility::Stub => replacements.push((tie.other, false)),
                Visibility::Outside => {}
            }
        }
        Ok(TarjanFrame {
            id,
            is_shown,
            replacements,
            next: 0,
            low: place,
            place,
            above: NewestAbove::default(),
            is_circular: false,
        })
    }
}

impl NewestAbove {
    fn join(&mut self, other: Self) {
        self.head = self.head.max(other.head);
        self.shown = self.shown.max(other.shown);
    }
}
