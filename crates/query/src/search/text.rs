//! Text search: the events whose texts answer a question best, by BM25 (`crate::text`).

use super::relevance;
use crate::answer::{AnswerStamp, check_limit, check_share};
use crate::limits::QUERY_BYTES_MAX;
use crate::planner::selected::PlannedSelection;
use crate::planner::selection::Selection;
use crate::text::{FoundTerms, TextQuery, Texts};
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::View;

/// Finds events by the words of a question; one word is enough.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSearch {
    /// The question, at most `limits::QUERY_BYTES_MAX` bytes. Its stop words
    /// count only if it has no other words.
    pub question: String,
    /// The events to search.
    pub selection: Selection,
    /// Maximum hits, 1 to `limits::PAGE_MAX`; default 10.
    pub limit: usize,
    /// Leaves out the hits of less relevance among the best `limit`, 0 to 1; default 0.
    pub min_relevance: f32,
}

impl Default for TextSearch {
    fn default() -> Self {
        Self {
            question: String::new(),
            selection: Selection::default(),
            limit: 10,
            min_relevance: 0.0,
        }
    }
}

/// The best hits.
#[derive(Debug, Clone, PartialEq)]
pub struct TextHits {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The greatest score first; of equals, the highest id.
    pub hits: Vec<TextHit>,
}

/// An event that contains a term of the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextHit {
    /// The event.
    pub id: NodeId,
    /// Its BM25 score.
    pub score: f32,
    /// How well its own words answer the question, 0 to 1 (`search::Relevance`).
    pub relevance: f32,
}

impl TextSearch {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<TextHits> {
        check_limit(self.limit)?;
        check_share("min_relevance", self.min_relevance)?;
        let question = parse(&self.question)?;
        let scope = self.selection.scope.events(view)?;
        let mut selected =
            PlannedSelection::within(view, &self.selection, view.nodes(), scope.clone())?;
        let mut failed = None;
        let mut terms = Texts::of(view, scope)?.find(&question)?;
        let hits = terms.search(self.limit, |id| match admits(view, &mut selected, id) {
            Ok(is_wanted) => !is_wanted,
            Err(error) => {
                failed.get_or_insert(error);
                true
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let script = relevance::of_script(&self.question);
        let mut hits = rated(&mut terms, hits, script)?;
        hits.retain(|hit| hit.relevance >= self.min_relevance);
        Ok(TextHits {
            answered: AnswerStamp::by(view),
            hits,
        })
    }
}

/// Adds the relevance of hits.
fn rated(terms: &mut FoundTerms<'_>, hits: Vec<(u32, f32)>, script: f32) -> Result<Vec<TextHit>> {
    let mut ids: Vec<u32> = hits.iter().map(|hit| hit.0).collect();
    ids.sort_unstable();
    let contained = terms.contained(&ids)?;
    let rated = hits.into_iter().map(|(id, score)| {
        let at = ids.partition_point(|&other| other < id);
        let own = contained[at];
        TextHit {
            id: NodeId(id.into()),
            score,
            relevance: relevance::of(terms, (own, own), terms.length_of(id), false, script, 0.0)
                .value,
        }
    });
    Ok(rated.collect())
}

fn admits(view: &View, selected: &mut PlannedSelection<'_>, id: u32) -> Result<bool> {
    let node = view.node(NodeId(id.into()))?;
    // The index keeps the terms of an erased text until the next checkpoint.
    Ok(!node.is_erased() && selected.admits(&node)?)
}

/// Parses the terms of a question and checks its length.
pub(crate) fn parse(question: &str) -> Result<TextQuery> {
    let bytes = question.len() as u64;
    Error::check_limit("the bytes of the question", bytes, QUERY_BYTES_MAX as u64)?;
    Ok(TextQuery::new(question))
}
