//! The order in which a context takes events, and where it ends.
//!
//! An event's value is its score divided by the fifth root of what its line costs: one that costs 32 times as much has
//! to score twice as high. Among the first `BATCH` hits the event of the greatest value comes first, then
//! among the next; explanations of packed hits join them by their own value. The order knows nothing of the budget,
//! and the text ends with the first event that does not fit whole. So a greater budget shows all that a smaller one
//! does.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use super::block::BudgetedText;
use super::counter::quarter_tokens;
use super::excerpt::EXCERPT_BYTES;
use super::request::{ContextRequest, PackedEvent};
use crate::graph::heads::Heads;
use crate::graph::marks::{BeliefMark, BeliefMarks};
use crate::graph::why::Why;
use crate::limits::CONTEXT_REASONS_MAX;
use crate::planner::scope::Sight;
use crate::search::Hit;
use amem_format::error::Result;
use amem_format::types::NodeId;
use amem_format::view::View;

/// Hits that are compared by value. More of them would let short lines of low scores pass better ones.
pub(super) const BATCH: usize = 200;
/// How much the cost of a line counts: 0 would pack by score alone, 1 by score per token. On development halves of two
/// sets of conversations, 0.2 is best for long texts among those that take nothing from short ones.
const COST_POWER: f32 = 0.2;
/// Tokens of a line without its text, about.
const LINE_TOKENS: usize = 8;

/// An event that waits to be packed.
struct Candidate {
    event: PackedEvent,
    value: f32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.value.total_cmp(&other.value);
        by_value.then(self.event.id.cmp(&other.event.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// A context while it is packed.
pub(super) struct ContextPacker<'v> {
    view: &'v View,
    request: &'v ContextRequest,
    heads: Heads<'v>,
    marks: BeliefMarks<'v>,
    pub(super) block: BudgetedText<'v>,
    waiting: BinaryHeap<Candidate>,
    /// Events that have been a hit, and events that were packed or left out.
    found: HashSet<NodeId>,
    seen: HashSet<NodeId>,
    pub(super) items: Vec<PackedEvent>,
    pub(super) left_out: Vec<PackedEvent>,
}

impl<'v> ContextPacker<'v> {
    pub(super) fn new(view: &'v View, sight: &'v Sight, request: &'v ContextRequest) -> Self {
        let ContextRequest {
            question,
            clock,
            budget,
            ..
        } = request;
        Self {
            view,
            request,
            heads: Heads::new(view, sight),
            marks: BeliefMarks::new(view, sight),
            block: BudgetedText::new(view, clock, question, *budget),
            waiting: BinaryHeap::new(),
            found: HashSet::new(),
            seen: HashSet::new(),
            items: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Packs the newest heads of the hits, the best first, and what explains them. `is_all` if a greater budget would
    /// consider no further hits: explanations that wait for better ones then follow.
    pub(super) fn pack(&mut self, hits: &[Hit], is_all: bool) -> Result<()> {
        for batch in hits.chunks(BATCH) {
            let mut hits = 0;
            for hit in batch {
                let Some(head) = self.heads.newest(hit.id)? else {
                    continue;
                };
                if self.found.insert(head) {
                    hits += self.wait(head, hit.id, None, hit.score)?;
                }
            }
            // Explanations that are worth less than every hit of the batch may be worth more than the next ones.
            while hits > 0
                && let Some(candidate) = self.waiting.pop()
            {
                hits -= usize::from(candidate.event.explains.is_none());
                self.take(candidate.event)?;
            }
        }
        while (is_all || self.block.is_full())
            && let Some(candidate) = self.waiting.pop()
        {
            self.take(candidate.event)?;
        }
        Ok(())
    }

    /// Makes an event wait; returns 1, or 0 if it has no text.
    fn wait(
        &mut self,
        id: NodeId,
        found: NodeId,
        explains: Option<NodeId>,
        score: f32,
    ) -> Result<usize> {
        let node = self.view.node(id)?;
        let text = node.text()?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(0);
        }
        let mut end = text.len().min(EXCERPT_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let tokens = LINE_TOKENS + quarter_tokens(&text[..end]).div_ceil(4);
        self.waiting.push(Candidate {
            value: score / (tokens as f32).powf(COST_POWER),
            event: PackedEvent {
                id,
                found,
                explains,
                score,
                tokens,
                mark: BeliefMark::default(),
                is_excerpt: false,
            },
        });
        Ok(1)
    }

    /// Packs an event, or leaves it out. Each event counts once.
    fn take(&mut self, event: PackedEvent) -> Result<()> {
        if !self.seen.insert(event.id) {
            return Ok(());
        }
        let mark = self.marks.of(event.id)?;
        let node = self.view.node(event.id)?;
        let Some(added) = self.block.add(&node, event.explains, mark)? else {
            self.left_out.push(PackedEvent { mark, ..event });
            return Ok(());
        };
        self.items.push(PackedEvent {
            tokens: added.tokens,
            is_excerpt: added.is_excerpt,
            mark,
            ..event
        });
        if event.explains.is_none() && self.request.reasons_depth > 0 && !self.block.is_full() {
            self.explain(&event)?;
        }
        Ok(())
    }

    /// Makes the nearest explanations of a packed hit wait.
    fn explain(&mut self, event: &PackedEvent) -> Result<()> {
        let why = Why {
            event: event.id,
            depth: self.request.reasons_depth,
            limit: CONTEXT_REASONS_MAX + 1,
            scope: self.request.selection.scope.clone(),
            include_forgotten: self.request.selection.include_forgotten,
        };
        for step in why.run(self.view)?.steps.iter().skip(1) {
            if !step.is_stub {
                let score = event.score / (1.0 + step.depth as f32);
                self.wait(step.id, step.id, Some(event.id), score)?;
            }
        }
        Ok(())
    }
}
