//! Context: what a brain knows about a question, as one text within a token budget.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::ContextRequest;
use amem_query::context::PackedEvent;

use super::question::Evaluate;
use super::ranking::question_vector;
use super::refusal::Result;
use super::selection::{count, selection};
use super::word::moment;
use crate::v1;

impl Evaluate for v1::ContextRequest {
    type Answer = v1::ContextResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let otherwise = ContextRequest::default();
        let packed = ContextRequest {
            vector: question_vector(view, self.vector, &self.text)?,
            question: self.text,
            selection: selection(self.selection)?,
            budget: count(self.budget_tokens, otherwise.budget),
            candidates: count(self.candidates, otherwise.candidates),
            reasons_depth: self.reasons_depth.unwrap_or(otherwise.reasons_depth),
        }
        .run(view)?;
        Ok(v1::ContextResponse {
            moment: Some(moment(view)),
            text: packed.text,
            tokens: packed.tokens as u32,
            items: packed.items.iter().map(item).collect(),
            left_out: packed.left_out.iter().map(item).collect(),
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        answer
            .items
            .iter()
            .map(|item| NodeId(item.event_id))
            .collect()
    }
}

fn item(item: &PackedEvent) -> v1::ContextItem {
    v1::ContextItem {
        event_id: item.id.0,
        found_id: item.found.0,
        explains_id: item.explains.map(|id| id.0),
        score: item.score,
        tokens: item.tokens as u32,
    }
}
