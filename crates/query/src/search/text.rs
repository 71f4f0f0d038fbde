//! Text search: the events whose texts answer a question best, by BM25 (`crate::text`).

use crate::answer::{AnswerStamp, check_limit};
use crate::limits::QUERY_BYTES_MAX;
use crate::planner::selected::PlannedSelection;
use crate::planner::selection::Selection;
use crate::text::{TextQuery, Texts};
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
}

impl Default for TextSearch {
    fn default() -> Self {
        Self {
            question: String::new(),
            selection: Selection::default(),
            limit: 10,
        }
    }
}

/// The best hits.
#[derive(Debug, Clone, PartialEq)]
pub struct TextHits {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// Events with their scores, the greatest first; of equals, the highest id.
    pub hits: Vec<(NodeId, f32)>,
}

impl TextSearch {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<TextHits> {
        check_limit(self.limit)?;
        let question = parse(&self.question)?;
        let scope = self.selection.scope.events(view)?;
        let mut selected = PlannedSelection::new(view, &self.selection, view.nodes())?;
        let mut failed = None;
        let hits = Texts::of(view, scope)?.search(&question, self.limit, |id| {
            match admits(view, &mut selected, id) {
                Ok(is_wanted) => !is_wanted,
                Err(error) => {
                    failed.get_or_insert(error);
                    true
                }
            }
        })?;
        match failed {
            Some(error) => Err(error),
            None => Ok(TextHits {
                answered: AnswerStamp::by(view),
                hits: hits
                    .into_iter()
                    .map(|(id, score)| (NodeId(id.into()), score))
                    .collect(),
            }),
        }
    }
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
