//! Pipelines: decodes sources and stages, encodes rows.

use amem_format::NodeId;
use amem_format::view::{Direction, View};
use amem_query::pipeline::{
    PipelineRow, PipelineStage, RankBy, RankWeights, RowSource, TraverseStage,
};
use amem_query::{Axis, Follow, Pattern, Pipeline, Search, Similar, TextSearch};

use super::event::EventEncoder;
use super::listing::order;
use super::question::{Evaluate, ids};
use super::ranking::{like, question_vector};
use super::refusal::{Refusal, Result};
use super::selection::{axis, count, depth, follow, scope, selection};
use super::word::{edge_types, micros, moment, type_number};
use crate::limits::{HITS, PAGE_ROWS};
use crate::v1;
use crate::v1::pipeline_source::Source as Asked;
use crate::v1::pipeline_stage::Stage as Done;

impl Evaluate for v1::PipelineRequest {
    type Answer = v1::PipelineResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let sources = self.sources.into_iter().map(|from| source(view, from));
        let stages = self.stages.into_iter().map(stage);
        let flow = Pipeline {
            sources: sources.collect::<Result<_>>()?,
            stages: stages.collect::<Result<_>>()?,
            scope: scope(self.scope),
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        let mut encoder = EventEncoder::new(view);
        let mut tell = |rows: &[PipelineRow]| {
            let rows = rows.iter().map(|told| row(&mut encoder, told));
            rows.collect::<Result<Vec<_>>>()
        };
        Ok(v1::PipelineResponse {
            moment: Some(moment(view)),
            rows: tell(&flow.rows)?,
            origins: tell(&flow.origins)?,
            truncated: flow.is_cut,
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.rows.iter().flat_map(|row| &row.event))
    }
}

fn source(view: &View, message: v1::PipelineSource) -> Result<RowSource> {
    Ok(match message.source {
        Some(Asked::Events(m)) => RowSource::Events(m.event_ids.into_iter().map(NodeId).collect()),
        Some(Asked::Search(m)) => RowSource::Search(Search {
            vector: question_vector(view, m.vector, &m.text)?,
            question: m.text,
            selection: selection(m.selection)?,
            limit: count(m.limit, HITS),
            // Rows have values, and come in their order.
            tie_margin: 0.0,
            ..Search::default()
        }),
        Some(Asked::Text(m)) => RowSource::Text(TextSearch {
            question: m.text,
            selection: selection(m.selection)?,
            limit: count(m.limit, HITS),
            ..TextSearch::default()
        }),
        Some(Asked::Similar(m)) => RowSource::Similar(Similar {
            like: like(
                view,
                m.like.map(|like| match like {
                    v1::similar_source::Like::Vector(vector) => {
                        v1::similar_request::Like::Vector(vector)
                    }
                    v1::similar_source::Like::EventId(id) => v1::similar_request::Like::EventId(id),
                }),
            )?,
            selection: selection(m.selection)?,
            limit: count(m.limit, HITS),
            min_similarity: m.min_similarity,
            ..Similar::default()
        }),
        Some(Asked::Pattern(m)) => RowSource::Pattern(Pattern {
            order: order(m.order, axis(m.axis, Axis::Recorded)?)?,
            selection: selection(m.selection)?,
            limit: count(m.limit, PAGE_ROWS),
            cursor: None,
        }),
        None => {
            let why = "one is empty: say events, search, text, similar or pattern";
            return Err(Refusal::invalid("sources", why));
        }
    })
}

fn stage(message: v1::PipelineStage) -> Result<PipelineStage> {
    Ok(match message.stage {
        Some(Done::Traverse(m)) => {
            let otherwise = TraverseStage::default();
            PipelineStage::Traverse(TraverseStage {
                types: edge_types(&m.types)?,
                follow: follow(m.follow, Follow::Outgoing)?,
                depth: depth(m.depth, otherwise.depth),
                limit: count(m.limit, otherwise.limit),
            })
        }
        Some(Done::Resolve(_)) => PipelineStage::Resolve,
        Some(Done::Filter(m)) => PipelineStage::Filter(Box::new(selection(Some(m))?)),
        Some(Done::Rank(m)) => PipelineStage::Rank(rank(m)?),
        Some(Done::Limit(m)) => PipelineStage::Limit(m.count as usize),
        None => {
            let why = "one is empty: say traverse, resolve, filter, rank or limit";
            return Err(Refusal::invalid("stages", why));
        }
    })
}

fn rank(message: v1::RankStage) -> Result<RankBy> {
    let others = [
        message.confidence_weight,
        message.strength_weight,
        message.recency_weight,
        message.nearness_weight,
    ];
    let [confidence, strength, recency, nearness] = others.map(Option::unwrap_or_default);
    let is_weighted = others.iter().any(Option::is_some);
    let otherwise = RankBy::default();
    let strength_at = message.strength_at.map(|time| micros("strength_at", time));
    Ok(RankBy {
        weights: RankWeights {
            found: message.found_weight.unwrap_or(if is_weighted {
                0.0
            } else {
                otherwise.weights.found
            }),
            confidence,
            strength,
            recency,
            nearness,
        },
        half_life_days: message.half_life_days.unwrap_or(otherwise.half_life_days),
        axis: axis(message.axis, otherwise.axis)?,
        strength_at: strength_at.transpose()?,
    })
}

fn row(encoder: &mut EventEncoder<'_>, row: &PipelineRow) -> Result<v1::PipelineRow> {
    Ok(v1::PipelineRow {
        event: Some(encoder.whole_or_stub(row.id, row.is_stub)?),
        stage: row.stage as u32,
        depth: row.depth,
        found: row.found,
        score: row.score,
        found_score: row.parts.found,
        confidence_score: row.parts.confidence,
        strength_score: row.parts.strength,
        recency_score: row.parts.recency,
        nearness_score: row.parts.nearness,
        from: row.from.map(|from| from as u32),
        r#type: row.via.map_or(0, |(edge_type, _)| type_number(edge_type.0)),
        incoming: matches!(row.via, Some((_, Direction::Incoming))),
    })
}
