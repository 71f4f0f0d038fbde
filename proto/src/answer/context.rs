//! Context: what a brain knows about a question, as one text within a token budget.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::ContextRequest;
use amem_query::context::PackedEvent;

use super::event::check_bytes;
use super::question::Evaluate;
use super::ranking::{given, question_vector};
use super::refusal::Result;
use super::selection::{clock, count, selection};
use super::word::{moment, timestamp, type_number};
use crate::v1;
use prost::Message;

impl Evaluate for v1::ContextRequest {
    type Answer = v1::ContextResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let otherwise = ContextRequest::default();
        let clock = clock(self.selection.as_ref())?;
        let packed = ContextRequest {
            vector: question_vector(view, self.vector, &self.text)?,
            question: self.text,
            selection: selection(self.selection)?,
            budget: count(self.budget_tokens, otherwise.budget),
            candidates: (self.candidates > 0).then_some(self.candidates as usize),
            reasons_depth: self.reasons_depth.unwrap_or(otherwise.reasons_depth),
            min_relevance: self.min_relevance.unwrap_or(otherwise.min_relevance),
            clock,
        }
        .run(view)?;
        let mut bytes = packed.text.len();
        let mut encode = |of: &PackedEvent, with_reason: bool| {
            let item = item(view, of, with_reason)?;
            bytes += item.encoded_len();
            check_bytes(bytes).map(|()| item)
        };
        let items = packed.items.iter().map(|item| encode(item, true));
        let items = items.collect::<Result<_>>()?;
        let left_out = packed.left_out.iter().map(|item| encode(item, false));
        let left_out = left_out.collect::<Result<_>>()?;
        Ok(v1::ContextResponse {
            moment: Some(moment(view)),
            text: packed.text,
            tokens: packed.tokens as u32,
            relevance: packed.relevance,
            items,
            left_out,
        })
    }

    fn text_without_vector(&self) -> Option<&str> {
        (self.vector.is_none() && !self.text.is_empty()).then_some(self.text.as_str())
    }

    fn set_vector(&mut self, vector: Vec<f32>) {
        self.vector = given(vector);
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        answer
            .items
            .iter()
            .map(|item| NodeId(item.event_id))
            .collect()
    }
}

fn item(view: &View, item: &PackedEvent, with_reason: bool) -> Result<v1::ContextItem> {
    let node = view.node(item.id)?;
    let author = view.actor(node.author()?)?;
    let reason = if with_reason { node.reason()? } else { None };
    Ok(v1::ContextItem {
        by: author.principal.to_owned(),
        agent: author.agent.to_owned(),
        reason: reason.unwrap_or_default(),
        created_at: Some(timestamp(node.created_at())),
        contested: item.mark.is_contested,
        superseded: item.mark.is_superseded,
        event_id: item.id.0,
        found_id: item.found.0,
        explains_id: item.explains.map(|id| id.0),
        score: item.score,
        tokens: item.tokens as u32,
        excerpt: item.is_excerpt,
        r#type: type_number(node.event_type().0),
        confidence: node.confidence(),
    })
}
