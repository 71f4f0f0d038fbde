//! What is known of a question, as a text.

use amem_format::view::View;
use amem_query::Context;
use amem_query::context::Item;

use super::ranking::question_vector;
use super::refusal::Result;
use super::selection::{count, selection};
use super::word::moment;
use crate::v1;

pub(super) fn context(view: &View, request: v1::ContextRequest) -> Result<v1::ContextResponse> {
    let otherwise = Context::default();
    let packed = Context {
        vector: question_vector(view, request.vector, &request.text)?,
        question: request.text,
        selection: selection(request.selection)?,
        budget: count(request.budget_tokens, otherwise.budget),
        candidates: count(request.candidates, otherwise.candidates),
        reasons_depth: request.reasons_depth.unwrap_or(otherwise.reasons_depth),
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

fn item(item: &Item) -> v1::ContextItem {
    v1::ContextItem {
        event_id: item.id.0,
        found_id: item.found.0,
        explains_id: item.explains.map(|id| id.0),
        score: item.score,
        tokens: item.tokens as u32,
    }
}
