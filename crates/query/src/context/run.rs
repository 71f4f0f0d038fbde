//! Running a context: a search, whose hits are packed.

use super::packer::{BATCH, ContextPacker};
use super::request::{ContextRequest, PackedContext};
use crate::answer::{AnswerStamp, check_share};
use crate::graph::traverse::check_depth;
use crate::limits::{CONTEXT_CANDIDATES_MAX, CONTEXT_TOKENS_MAX};
use crate::planner::scope::Sight;
use crate::search::Search;
use amem_format::error::{Error, Result};
use amem_format::view::View;

/// The greatest budget for which `BATCH` hits are enough: twenty tokens for each.
const SMALL_BUDGET: usize = 20 * BATCH;

/// The hits of which one has to be relevant: more of them let in noise, fewer leave out answers.
const RELEVANT_AMONG: usize = 20;

impl ContextRequest {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<PackedContext> {
        self.check()?;
        let candidates = self.candidates.unwrap_or(match self.budget {
            ..=SMALL_BUDGET => BATCH,
            _ => CONTEXT_CANDIDATES_MAX,
        });
        let search = Search {
            question: self.question.clone(),
            vector: self.vector.clone(),
            selection: self.selection.clone(),
            limit: candidates,
            clock: self.clock.clone(),
            // The packer takes the heads, whether or not the selection contains them.
            include_superseded: true,
            // The packer has its own order.
            tie_margin: 0.0,
            ..Search::default()
        };
        let mut hits = search.run(view)?.hits;
        let first = hits.iter().take(RELEVANT_AMONG);
        let relevance = first.map(|hit| hit.relevance.value).fold(0.0, f32::max);
        if relevance < self.min_relevance {
            hits.clear();
        }
        let is_all = self.candidates.is_some()
            || candidates == CONTEXT_CANDIDATES_MAX
            || hits.len() < candidates;
        let selection = &self.selection;
        let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
        let mut packer = ContextPacker::new(view, &sight, self);
        packer.pack(&hits, is_all)?;
        let (text, tokens) = packer.block.into_text();
        Ok(PackedContext {
            answered: AnswerStamp::by(view),
            text,
            tokens,
            relevance,
            items: packer.items,
            left_out: packer.left_out,
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
        if let Some(candidates) = self.candidates {
            check(
                "the number of candidates",
                candidates,
                CONTEXT_CANDIDATES_MAX,
            )?;
        }
        check_share("min_relevance", self.min_relevance)?;
        check_depth(self.reasons_depth)
    }
}
