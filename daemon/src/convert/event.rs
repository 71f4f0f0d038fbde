//! An event of a view as a message.

use amem_core::view::{Direction, Node, View};
use amem_core::{Edge, Flags, NodeId};
use amem_proto::v1;

use super::word::{timestamp, type_number};
use crate::limits::ANSWER_EDGES_MAX;
use crate::refusal::{Refusal, Result};

/// How much of an event is told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    /// Its vector.
    pub(crate) vector: bool,
    /// Its edges.
    pub(crate) edges: bool,
    /// Edges to events that are hidden.
    pub(crate) forgotten: bool,
}

/// The message of an event. `edges` counts those of the whole answer.
pub(crate) fn event(
    view: &View,
    node: &Node<'_>,
    shape: Shape,
    edges: &mut usize,
) -> Result<v1::Event> {
    let flags = node.flags();
    let vector = match shape.vector {
        true => node.vector()?,
        false => None,
    };
    let mut event = v1::Event {
        id: node.id().0,
        r#type: type_number(node.event_type().0),
        text: node.text()?.into_owned(),
        session_id: node.session().0,
        created_at: Some(timestamp(node.created_at())),
        event_time: node.event_time()?.map(timestamp),
        confidence: node.confidence(),
        strength: node.strength(),
        lambda: node.lambda(),
        access_count: node.access_count(),
        last_accessed: Some(timestamp(node.last_accessed())),
        pinned: flags.has(Flags::PINNED),
        forgotten: flags.has(Flags::FORGOTTEN),
        compressed: flags.has(Flags::COMPRESSED),
        erased: flags.has(Flags::ERASED),
        attributes_json: node
            .attributes_json()?
            .map_or_else(String::new, |json| json.into_owned()),
        vector: vector.map(|values| v1::Vector {
            values: values.to_vec(),
            space: view.identity().space.to_string(),
        }),
        edges: Vec::new(),
    };
    if shape.edges {
        for direction in [Direction::Outgoing, Direction::Incoming] {
            push_edges(view, node, direction, shape, &mut event.edges, edges)?;
        }
    }
    Ok(event)
}

/// A forgotten event that is named only because others lead through it.
pub(crate) fn stub(id: NodeId) -> v1::Event {
    v1::Event {
        id: id.0,
        forgotten: true,
        ..v1::Event::default()
    }
}

fn push_edges(
    view: &View,
    node: &Node<'_>,
    direction: Direction,
    shape: Shape,
    out: &mut Vec<v1::Edge>,
    count: &mut usize,
) -> Result<()> {
    for tie in view.ties(node.id(), direction)?.iter() {
        if !shape.forgotten && view.node(tie.other)?.is_forgotten() {
            continue;
        }
        *count += 1;
        if *count > ANSWER_EDGES_MAX {
            let message = format!(
                "the events have more than {ANSWER_EDGES_MAX} edges: ask for fewer events, or read the file"
            );
            return Err(Refusal::new(
                tonic::Code::ResourceExhausted,
                "ANSWER_EDGES",
                message,
            ));
        }
        out.push(edge(&view.edge(node.id(), direction, &tie)?));
    }
    Ok(())
}

fn edge(edge: &Edge) -> v1::Edge {
    v1::Edge {
        source: edge.source.0,
        target: edge.target.0,
        r#type: type_number(edge.edge_type.0),
        weight: edge.weight,
        created_at: Some(timestamp(edge.created_at)),
    }
}
