//! Traverse, Path, Why and Impact: questions that follow edges.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::planner::Sight;
use amem_query::{Follow, Impact, ShortestPath, Traverse, Why};

use super::event::EventEncoder;
use super::question::{Evaluate, ids};
use super::refusal::Result;
use super::selection::{count, depth, follow, scope};
use super::word::{edge_types, moment};
use crate::limits::{ANSWER_EVENTS, PATH_DEPTH, REASONS_DEPTH, TRAVERSE_DEPTH};
use crate::v1;

impl Evaluate for v1::TraverseRequest {
    type Answer = v1::TraverseResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let scope = scope(self.scope);
        let sight = Sight::new(&scope, self.include_forgotten)?;
        let tree = Traverse {
            start: NodeId(self.event_id),
            types: edge_types(&self.types)?,
            follow: follow(self.follow, Follow::Outgoing)?,
            depth: depth(self.depth, TRAVERSE_DEPTH),
            limit: count(self.limit, ANSWER_EVENTS),
            scope,
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        Ok(v1::TraverseResponse {
            moment: Some(moment(view)),
            steps: EventEncoder::new(view).steps(&tree.steps, &sight)?,
            truncated: tree.is_cut,
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.steps.iter().flat_map(|step| &step.event))
    }
}

impl Evaluate for v1::PathRequest {
    type Answer = v1::PathResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let scope = scope(self.scope);
        let sight = Sight::new(&scope, self.include_forgotten)?;
        let route = ShortestPath {
            from: NodeId(self.from_id),
            to: NodeId(self.to_id),
            types: edge_types(&self.types)?,
            follow: follow(self.follow, Follow::Both)?,
            depth: depth(self.depth, PATH_DEPTH),
            scope,
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        Ok(v1::PathResponse {
            moment: Some(moment(view)),
            steps: EventEncoder::new(view).steps(&route.steps, &sight)?,
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.steps.iter().flat_map(|step| &step.event))
    }
}

impl Evaluate for v1::WhyRequest {
    type Answer = v1::WhyResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let scope = scope(self.scope);
        let sight = Sight::new(&scope, self.include_forgotten)?;
        let tree = Why {
            event: NodeId(self.event_id),
            depth: depth(self.depth, REASONS_DEPTH),
            limit: count(self.limit, ANSWER_EVENTS),
            scope,
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        Ok(v1::WhyResponse {
            moment: Some(moment(view)),
            steps: EventEncoder::new(view).steps(&tree.steps, &sight)?,
            truncated: tree.is_cut,
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.steps.iter().flat_map(|step| &step.event))
    }
}

impl Evaluate for v1::ImpactRequest {
    type Answer = v1::ImpactResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let scope = scope(self.scope);
        let sight = Sight::new(&scope, self.include_forgotten)?;
        let tree = Impact {
            event: NodeId(self.event_id),
            include_parts: self.include_parts,
            depth: depth(self.depth, REASONS_DEPTH),
            limit: count(self.limit, ANSWER_EVENTS),
            scope,
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        Ok(v1::ImpactResponse {
            moment: Some(moment(view)),
            steps: EventEncoder::new(view).steps(&tree.steps, &sight)?,
            truncated: tree.is_cut,
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.steps.iter().flat_map(|step| &step.event))
    }
}
