//! Conflicts: contradictions and contested beliefs.
//!
//! Contradictions come first, by (source, target), then contested beliefs, by id. A belief is contested if several
//! events replaced it and no later event replaced all of those (`resolve`). Of a chain, only events that were replaced
//! twice themselves are listed.
//!
//! Both are read from an index: a page costs in proportion to the contradicts edges and corrections that it passes.

use std::collections::BTreeSet;
use std::iter::Peekable;

use serde_json::json;

use crate::answer::{AnswerStamp, check_limit};
use crate::graph::resolve::{self, ChainEvent};
use crate::planner::cursor::PageCursor;
use crate::planner::listing::check_moment;
use crate::planner::scope::{Scope, Sight, Visibility};
use amem_format::base::history::PriorValue;
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Lists conflicts. Events that are forgotten or out of scope have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListConflicts {
    /// Conflicts per page, 1 to `limits::PAGE_MAX`; default 50.
    pub limit: usize,
    /// The token of the previous page; none for the first.
    pub cursor: Option<String>,
    /// User, agent and run; both sides must match.
    pub scope: Scope,
    /// Include conflicts of forgotten events.
    pub include_forgotten: bool,
}

impl Default for ListConflicts {
    fn default() -> Self {
        Self {
            limit: 50,
            cursor: None,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

/// A conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// Two events contradict each other.
    Contradiction {
        /// Where the edge starts.
        source: NodeId,
        /// Where it ends.
        target: NodeId,
    },
    /// An event has several heads.
    Contested {
        /// The event.
        belief: NodeId,
        /// Its heads, the newest first; at most `limits::PAGE_MAX`.
        heads: Vec<NodeId>,
    },
}

/// One page of conflicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictPage {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The conflicts, in order.
    pub conflicts: Vec<Conflict>,
    /// The token of the next page; none at the end. Conflicts that arise meanwhile appear if their position is still to
    /// come.
    pub next: Option<String>,
}

/// A position in the list: kind of conflict, first event, second event.
type ConflictPosition = (u64, u64, u64);
const CONTRADICTION: u64 = 0;
const CONTESTED: u64 = 1;

impl ListConflicts {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<ConflictPage> {
        check_limit(self.limit)?;
        let canonical = json!(["conflicts", self.scope.canonical(), self.include_forgotten]);
        let query = PageCursor::hash(canonical.to_string().as_bytes());
        let decode = |token: &String| PageCursor::decode(token, view.instance(), query);
        let cursor = self.cursor.as_ref().map(decode).transpose()?;
        if let Some(cursor) = &cursor {
            check_moment(cursor, view)?;
        }
        let after: Option<ConflictPosition> = cursor.map(|c| (c.keys[0], c.keys[1], c.id.0));
        let mut page = ConflictPageBuilder {
            view,
            sight: Sight::new(&self.scope, self.include_forgotten)?,
            limit: self.limit,
            conflicts: Vec::new(),
            last: None,
        };
        page.add_contradictions(after)?;
        page.add_contested(after)?;
        let next = page.last.map(|(kind, first, second)| {
            PageCursor {
                instance: view.instance(),
                lsn: cursor.map_or(view.moment().0, |c| c.lsn),
                query,
                keys: [kind, first],
                id: NodeId(second),
            }
            .encode()
        });
        Ok(ConflictPage {
            answered: AnswerStamp::by(view),
            next: next.filter(|_| page.conflicts.len() == self.limit),
            conflicts: page.conflicts,
        })
    }
}

struct ConflictPageBuilder<'v> {
    view: &'v View,
    sight: Sight,
    limit: usize,
    conflicts: Vec<Conflict>,
    last: Option<ConflictPosition>,
}

impl ConflictPageBuilder<'_> {
    fn is_full(&self) -> bool {
        self.conflicts.len() == self.limit
    }

    fn add_contradictions(&mut self, after: Option<ConflictPosition>) -> Result<()> {
        let after = match after {
            Some((CONTRADICTION, source, target)) => Some((source, target)),
            Some(_) => return Ok(()),
            None => None,
        };
        for (source, target) in contradictions(self.view, after)? {
            if self.is_full() {
                return Ok(());
            }
            let is_there = self
                .view
                .find_edge(source, target, EdgeType::CONTRADICTS)?
                .is_some();
            if is_there && self.shows(source)? && self.shows(target)? {
                self.conflicts
                    .push(Conflict::Contradiction { source, target });
                self.last = Some((CONTRADICTION, source.0, target.0));
            }
        }
        Ok(())
    }

    fn add_contested(&mut self, after: Option<ConflictPosition>) -> Result<()> {
        let after = match after {
            Some((CONTESTED, belief, _)) => Some(belief),
            _ => None,
        };
        for belief in replaced(self.view, after)? {
            if self.is_full() {
                return Ok(());
            }
            if belief.0 >= self.view.nodes() || !self.shows(belief)? {
                continue;
            }
            let replacements: Vec<ChainEvent> =
                resolve::replacements(self.view, &self.sight, belief)?;
            if replacements.len() < 2 {
                continue;
            }
            let mut heads = resolve::heads(self.view, &self.sight, belief)?;
            if heads.len() > 1 {
                heads.truncate(crate::limits::PAGE_MAX);
                self.conflicts.push(Conflict::Contested { belief, heads });
                self.last = Some((CONTESTED, belief.0, 0));
            }
        }
        Ok(())
    }

    fn shows(&self, id: NodeId) -> Result<bool> {
        Ok(self.sight.of(&self.view.node(id)?)? == Visibility::Shown)
    }
}

/// (source, target) of every current or retracted contradicts edge, ascending, after a position.
fn contradictions(
    view: &View,
    after: Option<(u64, u64)>,
) -> Result<impl Iterator<Item = (NodeId, NodeId)>> {
    let nodes = view.nodes();
    let stored = view.brain().base().conflicts()?.contradicts;
    let wide = |pair: &[u32; 2]| (u64::from(pair[0]), u64::from(pair[1]));
    let from = after.map_or(0, |after| {
        stored.partition_point(|pair| wide(pair) <= after)
    });
    let mut newer = BTreeSet::new();
    let edges = &view.brain().delta().edges;
    for slot in edges
        .contradicts
        .iter()
        .filter_map(|&at| edges.slots.get(at))
    {
        newer.insert((slot.source.0, slot.target.0));
    }
    for (source, target) in retracted(view, EdgeType::CONTRADICTS)? {
        newer.insert((source.0, target.0));
    }
    let newer = newer
        .into_iter()
        .filter(move |pair| after.is_none_or(|after| *pair > after));
    let merged = MergedIter {
        older: stored[from..].iter().map(wide).peekable(),
        newer: newer.peekable(),
    };
    let is_in = move |&(source, target): &(u64, u64)| source < nodes && target < nodes;
    Ok(merged
        .filter(is_in)
        .map(|(source, target)| (NodeId(source), NodeId(target))))
}

/// Events that were replaced twice, and candidates from the delta, ascending, after one.
fn replaced(view: &View, after: Option<u64>) -> Result<impl Iterator<Item = NodeId>> {
    let stored = view.brain().base().conflicts()?.supersedes;
    let from = after.map_or(0, |after| {
        stored.partition_point(|&[target, _]| u64::from(target) <= after)
    });
    let mut newer = BTreeSet::new();
    let edges = &view.brain().delta().edges;
    for slot in edges
        .supersedes
        .iter()
        .filter_map(|&at| edges.slots.get(at))
    {
        newer.insert(slot.target.0);
    }
    for (_, target) in retracted(view, EdgeType::SUPERSEDES)? {
        newer.insert(target.0);
    }
    let newer = newer
        .into_iter()
        .filter(move |id| after.is_none_or(|after| *id > after));
    // A target with two edges in a row; one is enough of a target with three.
    let twice = stored[from..]
        .chunk_by(|a, b| a[0] == b[0])
        .filter(|run| run.len() > 1);
    let merged = MergedIter {
        older: twice.map(|run| u64::from(run[0][0])).peekable(),
        newer: newer.peekable(),
    };
    Ok(merged.map(NodeId))
}

/// (source, target) of edges that the base no longer has but had at the moment asked about.
fn retracted(view: &View, wanted: EdgeType) -> Result<Vec<(NodeId, NodeId)>> {
    let mut found = Vec::new();
    if view.before_base() {
        for change in view.brain().base().history()?.iter() {
            let change = change?;
            if let PriorValue::Edge {
                target, edge_type, ..
            } = change.before
                && edge_type == wanted
            {
                found.push((change.target, target));
            }
        }
    }
    Ok(found)
}

/// The union of two ascending lists.
struct MergedIter<A: Iterator, B: Iterator> {
    older: Peekable<A>,
    newer: Peekable<B>,
}

impl<T: Ord, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for MergedIter<A, B> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match (self.older.peek(), self.newer.peek()) {
            (Some(older), Some(newer)) if older == newer => {
                self.newer.next();
                self.older.next()
            }
            (Some(older), Some(newer)) if newer < older => self.newer.next(),
            (Some(_), _) => self.older.next(),
            (None, _) => self.newer.next(),
        }
    }
}
