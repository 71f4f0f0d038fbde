//! Writes events as lines.

use std::io::{self, Write};

use amem_format::event::Graph;
use amem_format::{EdgeType, EventType};
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::brain::subset::Subset;
use crate::failure::Failure;
use crate::json::event::{Time, flag_names};

#[derive(Serialize)]
struct WrittenEvent<'a> {
    id: u64,
    #[serde(rename = "type")]
    event_type: EventType,
    created_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<Time>,
    session: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    confidence: f32,
    decay_score: f32,
    lambda: f32,
    access_count: u32,
    last_accessed: Time,
    flags: Vec<&'static str>,
    text: &'a str,
    /// Who recorded it: `agent` is that of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<&'a [f32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<Uuid>,
    edges: Vec<WrittenEdge>,
}

#[derive(Serialize)]
struct WrittenEdge {
    target: u64,
    #[serde(rename = "type")]
    edge_type: EdgeType,
    weight: f32,
    created_at: Time,
}

/// Ascending by id; `written` gets the count so far.
pub(crate) fn write(
    selected: &Subset<'_>,
    vectors: bool,
    out: &mut impl Write,
    failed: impl Fn(&io::Error) -> Failure,
    mut written: impl FnMut(u64),
) -> Result<(), Failure> {
    let view = selected.view();
    for (position, &id) in (0..).zip(selected.ids()) {
        let node = view.node(id)?;
        let session = view.session(node.session())?;
        let name = |of: &'_ str| -> bool { !of.is_empty() };
        let author = view.actor(node.author()?)?;
        let text = node.text()?;
        let json = node.attributes_json()?;
        let attributes = json
            .as_deref()
            .map(serde_json::from_str::<&RawValue>)
            .transpose()
            .map_err(|e| {
                amem_format::Error::corrupt("attributes", 0, format!("those of event {id}: {e}"))
            })?;
        let vector = node.vector()?.filter(|_| vectors);
        let edges = selected.edges_at(position)?;
        let line = WrittenEvent {
            id: id.0,
            event_type: node.event_type(),
            created_at: Time(node.created_at()),
            event_time: node.event_time()?.map(Time),
            session: node.session().0,
            session_key: session.map(|s| s.key).filter(|key| name(key)),
            agent: session.map(|s| s.agent).filter(|agent| name(agent)),
            confidence: node.confidence(),
            decay_score: node.strength(),
            lambda: node.lambda(),
            access_count: node.access_count(),
            last_accessed: Time(node.last_accessed()),
            flags: flag_names(node.flags()),
            text: &text,
            by: Some(author.principal).filter(|by| name(by)),
            by_agent: Some(author.agent).filter(|agent| name(agent)),
            reason: node.reason()?,
            attributes,
            vector,
            space: vector.map(|_| view.identity().space),
            edges: edges
                .iter()
                .map(|edge| WrittenEdge {
                    target: edge.target.0,
                    edge_type: edge.edge_type,
                    weight: edge.weight,
                    created_at: Time(edge.created_at),
                })
                .collect(),
        };
        serde_json::to_writer(&mut *out, &line)
            .map_err(io::Error::from)
            .and_then(|()| out.write_all(b"\n"))
            .map_err(|e| failed(&e))?;
        written(position + 1);
    }
    Ok(())
}
