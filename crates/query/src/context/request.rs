//! The request and the answer of a context, and how it is packed.

use std::collections::HashSet;

use super::block::BudgetedText;
use super::counter::{Thirds, TokenCounter};
use crate::answer::AnswerStamp;
use crate::graph::heads::Heads;
use crate::graph::marks::{BeliefMark, BeliefMarks};
use crate::graph::traverse::check_depth;
use crate::graph::why::Why;
use crate::limits::{CONTEXT_CANDIDATES_MAX, CONTEXT_REASONS_MAX, CONTEXT_TOKENS_MAX};
use crate::planner::scope::Sight;
use crate::planner::selection::Selection;
use crate::search::{Hit, Search};
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::View;

/// Builds a text of what a brain knows about a question.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRequest {
    /// The question in words; empty for none.
    pub question: String,
    /// The question as a vector of the brain's space; empty for none.
    pub vector: Vec<f32>,
    /// The events to search. Only scope and forgetting restrict what replaced them and what explains them.
    pub selection: Selection,
    /// Maximum tokens, 1 to `limits::CONTEXT_TOKENS_MAX`; default 2,000.
    pub budget: usize,
    /// Maximum search hits to consider, 1 to `limits::CONTEXT_CANDIDATES_MAX`; default 50.
    pub candidates: usize,
    /// Maximum edges from an event to what explains it, at most `limits::DEPTH_MAX`; default 2, 0 for no explanations.
    /// Considers the nearest `limits::CONTEXT_REASONS_MAX` explanations of an event.
    pub reasons_depth: u32,
}

impl Default for ContextRequest {
    fn default() -> Self {
        Self {
            question: String::new(),
            vector: Vec::new(),
            selection: Selection::default(),
            budget: 2_000,
            candidates: 50,
            reasons_depth: 2,
        }
    }
}

/// An event that was packed or left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackedEvent {
    /// The event.
    pub id: NodeId,
    /// The hit: the event itself, or an event that it replaced; for an explanation, the event itself.
    pub found: NodeId,
    /// The packed event that it explains; none for a hit.
    pub explains: Option<NodeId>,
    /// Its score.
    pub score: f32,
    /// The tokens that it adds, or would have added. The first event's include the heading.
    pub tokens: usize,
    /// Whether it is contested or superseded.
    pub mark: BeliefMark,
}

/// A context.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedContext {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The text; empty if no event was found or none fits.
    pub text: String,
    /// The tokens of the text. They equal the sum over `items` if a longer text never has fewer tokens.
    pub tokens: usize,
    /// The packed events, in order.
    pub items: Vec<PackedEvent>,
    /// The events that did not fit, in packing order: hits, the best first, then explanations of `items`, the best
    /// first. Explanations of these are not searched.
    pub left_out: Vec<PackedEvent>,
}

impl ContextRequest {
    /// Runs the query on a view, with tokens counted by `Thirds`.
    pub fn run(&self, view: &View) -> Result<PackedContext> {
        self.run_with(view, &Thirds)
    }

    /// Runs the query on a view, with tokens counted by `counter`.
    pub fn run_with(&self, view: &View, counter: &dyn TokenCounter) -> Result<PackedContext> {
        self.check()?;
        let search = Search {
            question: self.question.clone(),
            vector: self.vector.clone(),
            selection: self.selection.clone(),
            limit: self.candidates,
            // The packer takes the heads, whether or not the selection contains them.
            include_superseded: true,
            ..Search::default()
        };
        let hits = search.run(view)?.hits;
        let selection = &self.selection;
        let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
        let mut packing = ContextPacker {
            view,
            marks: BeliefMarks::new(view, &sight),
            block: BudgetedText::new(view, self.budget, counter),
            seen: HashSet::new(),
            items: Vec::new(),
            left_out: Vec::new(),
        };
        packing.found(&hits, &sight)?;
        if self.reasons_depth > 0 {
            packing.reasons(self)?;
        }
        let (text, tokens) = packing.block.into_text();
        Ok(PackedContext {
            answered: AnswerStamp::by(view),
            text,
            tokens,
            items: packing.items,
            left_out: packing.left_out,
        })
    }

    fn check(&self) -> Result<()> {
        let check = |what, value: usize, max: usize| {
            if value == 0 {
                return Err(Error::invalid(what, format!("it is 0: give 1 to {max}")));
            }
            Error::check_limit(what, value as u64, max as u64)
        };
        check("the budget of tokens", self.budget, CONTEXT_TOKENS_MAX)?;
        let max = CONTEXT_CANDIDATES_MAX;
        check("the number of candidates", self.candidates, max)?;
        check_depth(self.reasons_depth)
    }
}

/// A context while it is packed.
struct ContextPacker<'v> {
    view: &'v View,
    marks: BeliefMarks<'v>,
    block: BudgetedText<'v>,
    /// Events already packed or left out.
    seen: HashSet<NodeId>,
    items: Vec<PackedEvent>,
    left_out: Vec<PackedEvent>,
}

impl ContextPacker<'_> {
    /// Adds the newest heads of the hits.
    fn found(&mut self, hits: &[Hit], sight: &Sight) -> Result<()> {
        let mut heads = Heads::new(self.view, sight);
        for hit in hits {
            let Some(head) = heads.newest(hit.id)? else {
                continue;
            };
            self.add(PackedEvent {
                id: head,
                found: hit.id,
                explains: None,
                score: hit.score,
                tokens: 0,
                mark: BeliefMark::default(),
            })?;
        }
        Ok(())
    }

    /// Adds explanations of the packed events.
    fn reasons(&mut self, context: &ContextRequest) -> Result<()> {
        let mut reasons = Vec::new();
        for item in &self.items {
            let why = Why {
                event: item.id,
                depth: context.reasons_depth,
                limit: CONTEXT_REASONS_MAX + 1,
                scope: context.selection.scope.clone(),
                include_forgotten: context.selection.include_forgotten,
            };
            for step in why.run(self.view)?.steps.iter().skip(1) {
                if !step.is_stub {
                    reasons.push(PackedEvent {
                        id: step.id,
                        found: step.id,
                        explains: Some(item.id),
                        score: item.score / (1.0 + step.depth as f32),
                        tokens: 0,
                        mark: BeliefMark::default(),
                    });
                }
            }
        }
        reasons.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
        reasons.into_iter().try_for_each(|reason| self.add(reason))
    }

    /// Packs an event or leaves it out. Each event counts once; events without text are skipped.
    fn add(&mut self, item: PackedEvent) -> Result<()> {
        if !self.seen.insert(item.id) {
            return Ok(());
        }
        let node = self.view.node(item.id)?;
        if node.text()?.trim().is_empty() {
            return Ok(());
        }
        let mark = self.marks.of(item.id)?;
        let (tokens, fits) = self.block.add(&node, item.explains, mark)?;
        let list = if fits {
            &mut self.items
        } else {
            &mut self.left_out
        };
        list.push(PackedEvent {
            tokens,
            mark,
            ..item
        });
        Ok(())
    }
}
