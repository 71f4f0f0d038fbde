//! Edges between the steps of a walk that the tree does not draw, and what replaced a step. A step stands once in the
//! tree, even if several edges lead to it.

use std::collections::{HashMap, HashSet};

use amem_client::v1;
use amem_format::EdgeType;
use serde_json::{Map, Value, json};

use crate::brain::opened::BrainHandle;
use crate::failure::Failure;
use crate::json::event::{edge_type_of, is_stub};
use crate::output::context::CommandContext;
use crate::types::edge_type_number;

/// Above this, edges are not looked up.
const STEPS_MAX: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SideEdge {
    /// The step under which it is drawn.
    pub(crate) from: u64,
    /// A step elsewhere in the tree.
    pub(crate) to: u64,
    pub(crate) edge_type: EdgeType,
}

#[derive(Debug, Default)]
pub(crate) struct SideEdges {
    /// Edges that the tree does not draw.
    pub(crate) more: Vec<SideEdge>,
    /// By the id of the replaced step.
    pub(crate) replaced_by: HashMap<u64, u64>,
}

impl SideEdges {
    /// Adds the edges to the JSON of a walk.
    pub(crate) fn add_to(&self, walk: &mut Value) {
        let more = self.more.iter().map(|edge| {
            let edge_type = v1::EdgeType::try_from(edge_type_number(edge.edge_type));
            json!({
                "fromId": edge.from.to_string(),
                "toId": edge.to.to_string(),
                "type": edge_type.unwrap_or_default().as_str_name(),
            })
        });
        let replaced_by = self.replaced_by.iter();
        let replaced_by: Map<String, Value> = replaced_by
            .map(|(id, by)| (id.to_string(), by.to_string().into()))
            .collect();
        walk["sideEdges"] = more.collect();
        walk["replacedBy"] = replaced_by.into();
    }
}

/// The event of a step.
pub(crate) fn id_of(step: &v1::Step) -> u64 {
    step.event.as_ref().map_or(0, |event| event.id)
}

/// `is_backwards` if the walk goes against the edges. Empty for long walks, and if the edges exceed one answer: the
/// tree is complete without them.
pub(crate) fn look_up(
    cx: &mut CommandContext,
    opened: &BrainHandle,
    moment: Option<&v1::Moment>,
    steps: &[v1::Step],
    types: &[EdgeType],
    is_backwards: bool,
) -> Result<SideEdges, Failure> {
    if steps.len() > STEPS_MAX {
        return Ok(SideEdges::default());
    }
    let events = steps.iter().filter_map(|step| step.event.as_ref());
    let whole = events.filter(|event| !is_stub(event));
    let request = v1::GetEventsRequest {
        event_ids: whole.map(|event| event.id).collect(),
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
    let reversed = reversed_evidence(&events);
    let edges: Vec<v1::Edge> = events
        .iter()
        .flat_map(|event| &event.edges)
        .map(|edge| match reversed(edge) {
            true => v1::Edge {
                source: edge.target,
                target: edge.source,
                ..*edge
            },
            false => *edge,
        })
        .collect();
    let edges: Vec<&v1::Edge> = edges.iter().collect();
    Ok(SideEdges {
        more: undrawn(steps, &edges, types, is_backwards),
        replaced_by: replaced(steps, &edges),
    })
}

/// Whether an edge leads from a turn to the memory whose evidence the turn is, as earlier builds stored it. Walks read
/// it against its direction.
fn reversed_evidence(events: &[v1::Event]) -> impl Fn(&v1::Edge) -> bool {
    let having = |key: &str| -> HashSet<u64> {
        let has = |event: &&v1::Event| {
            serde_json::from_str::<HashMap<String, serde::de::IgnoredAny>>(&event.attributes_json)
                .is_ok_and(|attributes| attributes.contains_key(key))
        };
        events.iter().filter(has).map(|event| event.id).collect()
    };
    let (turns, memories) = (having("amem.turn"), having("amem.fact"));
    let supports = i32::from(v1::EdgeType::Supports);
    move |edge| {
        edge.r#type == supports
            && edge.source < edge.target
            && turns.contains(&edge.source)
            && memories.contains(&edge.target)
    }
}

/// The moment of the walk: later commits must not show.
fn at(moment: &v1::Moment) -> v1::AsOf {
    v1::AsOf {
        moment: Some(v1::as_of::Moment::Lsn(moment.as_of_lsn)),
    }
}

/// Edges of these types between steps that no step was reached by.
fn undrawn(
    steps: &[v1::Step],
    edges: &[&v1::Edge],
    types: &[EdgeType],
    is_backwards: bool,
) -> Vec<SideEdge> {
    let drawn: HashSet<SideEdge> = steps
        .iter()
        .filter_map(|step| {
            Some(SideEdge {
                from: id_of(steps.get(step.parent? as usize)?),
                to: id_of(step),
                edge_type: edge_type_of(step.r#type).ok()??,
            })
        })
        .collect();
    let known: HashSet<u64> = steps.iter().map(id_of).collect();
    let mut seen = HashSet::new();
    let ties = edges.iter().filter_map(|edge| {
        let edge_type = *types
            .iter()
            .find(|known| i32::from(known.0) + 1 == edge.r#type)?;
        let (from, to) = if is_backwards {
            (edge.target, edge.source)
        } else {
            (edge.source, edge.target)
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

/// The newest direct successor of each step.
fn replaced(steps: &[v1::Step], edges: &[&v1::Edge]) -> HashMap<u64, u64> {
    let supersedes = i32::from(v1::EdgeType::Supersedes);
    let known: HashSet<u64> = steps.iter().map(id_of).collect();
    let mut out: HashMap<u64, u64> = HashMap::new();
    for edge in edges {
        if edge.r#type == supersedes && known.contains(&edge.target) {
            let by = out.entry(edge.target).or_insert(edge.source);
            *by = (*by).max(edge.source);
        }
    }
    out
}
