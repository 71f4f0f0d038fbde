//! Questions that follow edges.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::{Follow, Impact, Path, Traverse, Why};

use super::event::Teller;
use super::refusal::Result;
use super::selection::{count, depth, follow, scope};
use super::word::{edge_types, moment};
use crate::limits::{ANSWER_EVENTS, PATH_DEPTH, REASONS_DEPTH, TRAVERSE_DEPTH};
use crate::v1;

pub(super) fn traverse(view: &View, request: v1::TraverseRequest) -> Result<v1::TraverseResponse> {
    let tree = Traverse {
        start: NodeId(request.event_id),
        types: edge_types(&request.types)?,
        follow: follow(request.follow, Follow::Outgoing)?,
        depth: depth(request.depth, TRAVERSE_DEPTH),
        limit: count(request.limit, ANSWER_EVENTS),
        scope: scope(request.scope),
        include_forgotten: request.include_forgotten,
    }
    .run(view)?;
    Ok(v1::TraverseResponse {
        moment: Some(moment(view)),
        steps: Teller::new(view).steps(&tree.steps)?,
        truncated: tree.is_cut,
    })
}

pub(super) fn path(view: &View, request: v1::PathRequest) -> Result<v1::PathResponse> {
    let route = Path {
        from: NodeId(request.from_id),
        to: NodeId(request.to_id),
        types: edge_types(&request.types)?,
        follow: follow(request.follow, Follow::Both)?,
        depth: depth(request.depth, PATH_DEPTH),
        scope: scope(request.scope),
        include_forgotten: request.include_forgotten,
    }
    .run(view)?;
    Ok(v1::PathResponse {
        moment: Some(moment(view)),
        steps: Teller::new(view).steps(&route.steps)?,
    })
}

pub(super) fn why(view: &View, request: v1::WhyRequest) -> Result<v1::WhyResponse> {
    let tree = Why {
        event: NodeId(request.event_id),
        depth: depth(request.depth, REASONS_DEPTH),
        limit: count(request.limit, ANSWER_EVENTS),
        scope: scope(request.scope),
        include_forgotten: request.include_forgotten,
    }
    .run(view)?;
    Ok(v1::WhyResponse {
        moment: Some(moment(view)),
        steps: Teller::new(view).steps(&tree.steps)?,
        truncated: tree.is_cut,
    })
}

pub(super) fn impact(view: &View, request: v1::ImpactRequest) -> Result<v1::ImpactResponse> {
    let tree = Impact {
        event: NodeId(request.event_id),
        include_parts: request.include_parts,
        depth: depth(request.depth, REASONS_DEPTH),
        limit: count(request.limit, ANSWER_EVENTS),
        scope: scope(request.scope),
        include_forgotten: request.include_forgotten,
    }
    .run(view)?;
    Ok(v1::ImpactResponse {
        moment: Some(moment(view)),
        steps: Teller::new(view).steps(&tree.steps)?,
        truncated: tree.is_cut,
    })
}
