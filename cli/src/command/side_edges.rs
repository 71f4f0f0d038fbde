//! What a tree of reasons leaves out: a step stands once in it, though more than one way may lead there; and what has
//! replaced a step since.
//!
//! Not here: which steps there are (`why`, `impact`).

use std::collections::{HashMap, HashSet};

use amem_client::v1;
use amem_format::EdgeType;
use serde::Serialize;

use crate::brain::opened::OpenBrain;
use crate::failure::Failure;
use crate::json::step::StepJson;
use crate::output::context::Context;

/// Steps up to which the ties among them are looked up: each may have many edges besides.
const STEPS_MAX: usize = 500;

/// A tie between two steps that the tree does not draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct SideEdge {
    /// The step under which it belongs.
    pub(crate) from: u64,
    /// The step that stands elsewhere in the tree.
    pub(crate) to: u64,
    #[serde(rename = "type")]
    pub(crate) edge_type: EdgeType,
}

/// What is known of steps besides the tree.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SideEdges {
    /// SideEdges that the tree does not draw.
    pub(crate) more: Vec<SideEdge>,
    /// What has replaced a step, by its id.
    pub(crate) replaced_by: HashMap<u64, u64>,
}

/// Looks them up; `is_backwards` if the walk went against the edges. Empty for very many steps, and where their edges
/// are more than one answer holds: the tree is right without them.
pub(crate) fn look_up(
    cx: &mut Context,
    opened: &OpenBrain,
    moment: Option<&v1::Moment>,
    steps: &[StepJson],
    types: &[EdgeType],
    is_backwards: bool,
) -> Result<SideEdges, Failure> {
    if steps.len() > STEPS_MAX {
        return Ok(SideEdges::default());
    }
    let whole = steps.iter().filter(|step| !step.stub).map(|step| step.id);
    let request = v1::GetEventsRequest {
        event_ids: whole.collect(),
        as_of: moment.map(at),
        include_edges: true,
        include_forgotten: true,
        touch: Some(false),
        ..Default::default()
    };
    let events = match opened.ask(cx, request) {
        Ok(answer) => answer.events,
        Err(failure) if ["answer_edges", "message_size"].contains(&failure.code) => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let edges: Vec<&v1::Edge> = events.iter().flat_map(|event| &event.edges).collect();
    Ok(SideEdges {
        more: undrawn(steps, &edges, types, is_backwards),
        replaced_by: replaced(steps, &edges),
    })
}

/// The moment that answered: what was written since is not part of that answer.
fn at(moment: &v1::Moment) -> v1::AsOf {
    v1::AsOf {
        moment: Some(v1::as_of::Moment::Lsn(moment.as_of_lsn)),
    }
}

/// Edges of these types between steps that are not the way to any of them.
fn undrawn(
    steps: &[StepJson],
    edges: &[&v1::Edge],
    types: &[EdgeType],
    is_backwards: bool,
) -> Vec<SideEdge> {
    let drawn: HashSet<SideEdge> = steps
        .iter()
        .filter_map(|step| {
            let from = steps.get(step.parent? as usize)?.id;
            Some(SideEdge {
                from,
                to: step.id,
                edge_type: step.edge?,
            })
        })
        .collect();
    let known: HashSet<u64> = steps.iter().map(|step| step.id).collect();
    let mut seen = HashSet::new();
    let ties = edges.iter().filter_map(|edge| {
        let edge_type = *types
            .iter()
            .find(|known| i32::from(known.0) + 1 == edge.r#type)?;
        let (from, to) = match is_backwards {
            false => (edge.source, edge.target),
            true => (edge.target, edge.source),
        };
        Some(SideEdge {
            from,
            to,
            edge_type,
        })
    });
    ties.filter(|tie| known.contains(&tie.from) && known.contains(&tie.to))
        .filter(|tie| !drawn.contains(tie) && seen.insert(*tie))
        .collect()
}

/// The newest that supersedes each step directly.
fn replaced(steps: &[StepJson], edges: &[&v1::Edge]) -> HashMap<u64, u64> {
    let supersedes = i32::from(v1::EdgeType::Supersedes);
    let known: HashSet<u64> = steps.iter().map(|step| step.id).collect();
    let mut out: HashMap<u64, u64> = HashMap::new();
    for edge in edges {
        if edge.r#type == supersedes && known.contains(&edge.target) {
            let by = out.entry(edge.target).or_insert(edge.source);
            *by = (*by).max(edge.source);
        }
    }
    out
}
