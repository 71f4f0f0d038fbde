//! Ranked questions: similar, text, search.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::embed::Embedder;
use amem_query::graph::BeliefMarks;
use amem_query::planner::Sight;
use amem_query::search::Hit;
use amem_query::{Search, Similar, SimilarityTarget, TextSearch};

use super::event::EventEncoder;
use super::question::{Evaluate, ids};
use super::refusal::{Refusal, Result};
use super::selection::{self, count, selection};
use super::word::moment;
use crate::limits::HITS;
use crate::v1;
use crate::v1::similar_request::Like as Asked;

impl Evaluate for v1::SimilarRequest {
    type Answer = v1::SimilarResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let similar = Similar {
            like: like(view, self.like)?,
            selection: selection(self.selection)?,
            limit: count(self.limit, HITS),
            min_similarity: self.min_similarity,
            min_relevance: self.min_relevance,
            approximate: self.approximate,
        };
        let found = similar.run(view)?;
        let relevance = similar.relevance(view, &found)?;
        let mut encoder = EventEncoder::new(view);
        let hits = found.hits.iter().zip(relevance);
        let hits = hits.map(|(&(id, similarity), relevance)| {
            Ok(v1::SimilarHit {
                event: Some(encoder.whole(id)?),
                similarity,
                relevance,
            })
        });
        Ok(v1::SimilarResponse {
            exact: found.is_exact,
            hits: hits.collect::<Result<_>>()?,
            moment: Some(moment(view)),
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.hits.iter().flat_map(|hit| &hit.event))
    }
}

/// What vectors are compared with.
pub(super) fn like(view: &View, asked: Option<Asked>) -> Result<SimilarityTarget> {
    match asked {
        Some(Asked::Vector(vector)) => {
            Ok(SimilarityTarget::Vector(selection::vector(view, vector)?))
        }
        Some(Asked::EventId(id)) => Ok(SimilarityTarget::Event(NodeId(id))),
        None => {
            let why = "say a vector, or the event whose vector is meant";
            Err(Refusal::invalid("like", why))
        }
    }
}

impl Evaluate for v1::TextRequest {
    type Answer = v1::TextResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let found = TextSearch {
            question: self.text,
            selection: selection(self.selection)?,
            limit: count(self.limit, HITS),
            min_relevance: self.min_relevance,
        }
        .run(view)?;
        let mut encoder = EventEncoder::new(view);
        let hits = found.hits.iter().map(|hit| {
            Ok(v1::TextHit {
                event: Some(encoder.whole(hit.id)?),
                score: hit.score,
                relevance: hit.relevance,
            })
        });
        Ok(v1::TextResponse {
            hits: hits.collect::<Result<_>>()?,
            moment: Some(moment(view)),
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.hits.iter().flat_map(|hit| &hit.event))
    }
}

impl Evaluate for v1::SearchRequest {
    type Answer = v1::SearchResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let otherwise = Search::default();
        let clock = selection::clock(self.selection.as_ref())?;
        let selection = selection(self.selection)?;
        let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
        let found = Search {
            vector: question_vector(view, self.vector, &self.text)?,
            question: self.text,
            selection,
            limit: count(self.limit, HITS),
            text_weight: self.text_weight,
            vector_weight: self.vector_weight,
            neighbour_share: self.neighbour_share.unwrap_or(otherwise.neighbour_share),
            session_share: self.session_share.unwrap_or(otherwise.session_share),
            question_share: self.question_share.unwrap_or(otherwise.question_share),
            speaker_boost: self.speaker_boost.unwrap_or(otherwise.speaker_boost),
            time_boost: self.time_boost.unwrap_or(otherwise.time_boost),
            recency_half_life: self.recency_half_life_days.unwrap_or_default(),
            tie_margin: self.tie_margin.unwrap_or(otherwise.tie_margin),
            min_relevance: self.min_relevance,
            centred: self.centre_vector.unwrap_or(otherwise.centred),
            clock,
            include_superseded: self.include_superseded,
            include_duplicates: self.include_duplicates,
        }
        .run(view)?;
        let mut encoder = EventEncoder::new(view);
        let mut marks = BeliefMarks::new(view, &sight);
        let hits = found.hits.iter().map(|hit| {
            let mark = marks.of(hit.id)?;
            Ok(v1::SearchHit {
                contested: mark.is_contested,
                superseded: mark.is_superseded,
                event: Some(encoder.whole(hit.id)?),
                score: hit.score,
                text_score: hit.text,
                vector_score: hit.vector,
                neighbour_score: hit.neighbours,
                session_score: hit.session,
                speaker_factor: hit.speaker,
                time_factor: hit.time,
                recency_factor: hit.recency,
                relevance: Some(relevance(hit)),
                equal_texts: hit.equal_texts,
                newer_value_id: hit.newer_value.map(|id| id.0),
                found_id: hit.found.0,
            })
        });
        Ok(v1::SearchResponse {
            hits: hits.collect::<Result<_>>()?,
            moment: Some(moment(view)),
        })
    }

    fn text_without_vector(&self) -> Option<&str> {
        (self.vector.is_none() && !self.text.is_empty()).then_some(self.text.as_str())
    }

    fn set_vector(&mut self, vector: Vec<f32>) {
        self.vector = given(vector);
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.hits.iter().flat_map(|hit| &hit.event))
    }
}

fn relevance(hit: &Hit) -> v1::Relevance {
    let relevance = &hit.relevance;
    v1::Relevance {
        value: relevance.value,
        covered: relevance.covered,
        known: relevance.known,
        named: relevance.is_named,
        meaning: relevance.meaning,
        weak: relevance.is_weak,
    }
}

/// A vector as a request has it; none if it is empty.
pub(super) fn given(values: Vec<f32>) -> Option<v1::Vector> {
    (!values.is_empty()).then(|| v1::Vector {
        values,
        ..v1::Vector::default()
    })
}

/// The question's vector: from the request, or computed from the text if the brain uses the built-in embedder; else
/// empty.
pub(super) fn question_vector(
    view: &View,
    given: Option<v1::Vector>,
    text: &str,
) -> Result<Vec<f32>> {
    if let Some(vector) = given {
        return selection::vector(view, vector);
    }
    let embedder = Embedder::builtin();
    // A question past its limit is refused by the query; no time is spent on it here.
    let is_long = text.len() > amem_query::limits::QUERY_BYTES_MAX;
    if is_long || view.identity().space != embedder.space() || !view.settings()?.embed {
        return Ok(Vec::new());
    }
    Ok(embedder.embed(text).unwrap_or_default())
}
