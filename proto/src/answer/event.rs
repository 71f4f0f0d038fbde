//! Events of a view as messages, within the bounds of one answer.

use amem_format::attributes::reason;
use amem_format::view::{Direction, Node, View};
use amem_format::{Edge, Flags, NodeId};
use amem_query::graph::{BeliefMark, BeliefMarks, TreeStep};
use amem_query::planner::{Sight, Visibility};

use super::code::Code;
use super::refusal::{Refusal, Result};
use super::word::{timestamp, type_number};
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_EDGES_MAX};
use crate::v1;

/// Approximate size of an encoded edge.
const EDGE_BYTES: usize = 32;
/// Approximate size of an encoded stub with its step.
const STUB_BYTES: usize = 32;
/// Approximate size of an encoded event without text, attributes, vector and edges.
const EVENT_BYTES: usize = 64;

/// The optional parts of an event to encode.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventFields<'s> {
    /// Its vector.
    pub(super) vector: bool,
    /// Its edges, those to events that this sight shows.
    pub(super) edges: Option<&'s Sight>,
}

/// Encodes events of one view, and stops with an error once the answer is too large.
#[derive(Debug)]
pub(super) struct EventEncoder<'v> {
    view: &'v View,
    bytes: usize,
    edges: usize,
}

impl<'v> EventEncoder<'v> {
    pub(super) fn new(view: &'v View) -> Self {
        Self {
            view,
            bytes: 0,
            edges: 0,
        }
    }

    /// An event without vector and edges.
    pub(super) fn whole(&mut self, id: NodeId) -> Result<v1::Event> {
        self.event(&self.view.node(id)?, EventFields::default())
    }

    /// An event without vector and edges, or a stub.
    pub(super) fn whole_or_stub(&mut self, id: NodeId, is_stub: bool) -> Result<v1::Event> {
        if is_stub {
            self.count_bytes(STUB_BYTES)?;
            return Ok(stub(id));
        }
        self.whole(id)
    }

    pub(super) fn all(&mut self, ids: &[NodeId]) -> Result<Vec<v1::Event>> {
        ids.iter().map(|&id| self.whole(id)).collect()
    }

    pub(super) fn event(&mut self, node: &Node<'_>, shape: EventFields<'_>) -> Result<v1::Event> {
        let flags = node.flags();
        // Read only if it is asked for: reading checks all its numbers, and an event is shown even if they are damaged.
        let vector = if shape.vector { node.vector()? } else { None };
        let session = self.view.session(node.session())?;
        let session_key = session.map_or("", |session| session.key);
        let text = node.text()?;
        let attributes = node.attributes_json()?.unwrap_or_default();
        let author = self.view.actor(node.author()?)?;
        let reason = reason(&attributes).unwrap_or_default();
        let numbers = vector.map_or(0, |vector| vector.len() * 4);
        let names = author.principal.len() + author.agent.len() + reason.len();
        let texts = text.len() + attributes.len() + session_key.len() + names;
        self.count_bytes(EVENT_BYTES + texts + numbers)?;
        let mut event = v1::Event {
            id: node.id().0,
            r#type: type_number(node.event_type().0),
            text: text.into_owned(),
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
            attributes_json: attributes.into_owned(),
            vector: vector.map(|values| v1::Vector {
                values: values.to_vec(),
                space: self.view.identity().space.to_string(),
            }),
            edges: Vec::new(),
            session_key: session_key.to_owned(),
            vector_present: flags.has(Flags::VECTOR),
            by: author.principal.to_owned(),
            agent: author.agent.to_owned(),
            reason,
        };
        if let Some(sight) = shape.edges {
            for direction in [Direction::Outgoing, Direction::Incoming] {
                self.push_edges(node.id(), direction, sight, &mut event.edges)?;
            }
        }
        Ok(event)
    }

    /// The steps of a walk, with what the sight shows of their corrections.
    pub(super) fn steps(&mut self, steps: &[TreeStep], sight: &Sight) -> Result<Vec<v1::Step>> {
        let view = self.view;
        let mut marks = BeliefMarks::new(view, sight);
        let tell = |step: &TreeStep| {
            let mark = match step.is_stub {
                true => BeliefMark::default(),
                false => marks.of(step.id)?,
            };
            Ok(v1::Step {
                contested: mark.is_contested,
                superseded: mark.is_superseded,
                event: Some(self.whole_or_stub(step.id, step.is_stub)?),
                depth: step.depth,
                parent: step.via.map(|via| via.parent),
                r#type: step.via.map_or(0, |via| type_number(via.edge_type.0)),
                incoming: step
                    .via
                    .is_some_and(|via| via.direction == Direction::Incoming),
            })
        };
        steps.iter().map(tell).collect()
    }

    fn push_edges(
        &mut self,
        id: NodeId,
        direction: Direction,
        sight: &Sight,
        out: &mut Vec<v1::Edge>,
    ) -> Result<()> {
        for tie in self.view.edges_of(id, direction)?.iter() {
            if sight.of(&self.view.node(tie.other)?)? != Visibility::Shown {
                continue;
            }
            self.edges += 1;
            if self.edges > ANSWER_EDGES_MAX {
                let message = format!(
                    "the events have more than {ANSWER_EDGES_MAX} edges: ask for fewer events, or read the file"
                );
                return Err(Refusal::new(
                    Code::ResourceExhausted,
                    "ANSWER_EDGES",
                    message,
                ));
            }
            self.count_bytes(EDGE_BYTES)?;
            out.push(edge(&self.view.edge(id, direction, &tie)?));
        }
        Ok(())
    }

    fn count_bytes(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        check_bytes(self.bytes)
    }
}

/// Checks the size of an answer.
pub(super) fn check_bytes(bytes: usize) -> Result<()> {
    if bytes <= ANSWER_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "the answer has {bytes} bytes or more, the limit is {ANSWER_BYTES_MAX}: ask for less, or read the brain's file"
    );
    Err(Refusal::new(
        Code::ResourceExhausted,
        "MESSAGE_SIZE",
        message,
    ))
}

/// A stub: a forgotten event that connects others.
pub(super) fn stub(id: NodeId) -> v1::Event {
    v1::Event {
        id: id.0,
        forgotten: true,
        ..v1::Event::default()
    }
}

/// True if an event is not a stub: only stubs have no recorded time.
pub(super) fn is_whole(event: &v1::Event) -> bool {
    event.created_at.is_some()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use amem_format::base::header::Header;
    use amem_format::base::settings::Settings;
    use amem_format::base_builder::build::Build;
    use amem_format::base_builder::{journal, new_identity, write_base};
    use amem_format::brain::Brain;
    use amem_format::journal::op::{NewNode, Op};
    use amem_format::mapping::Map;
    use amem_format::{EventType, Micros, SessionId};
    use uuid::Uuid;

    use super::*;
    use crate::answer::Evaluate;

    /// A brain with a base of two events, the first with a vector of which a number is not finite.
    fn damaged() -> View {
        let now = Micros(1_800_000_000_000_000);
        let identity = new_identity(Uuid::from_u128(1), Uuid::from_u128(2), Uuid::nil(), now);
        let mut build = Build::new(&identity, 1, &Settings::default()).unwrap();
        for (id, vector) in [(0, &1.0f32.to_le_bytes()[..]), (1, &[])] {
            let event = NewNode {
                id: NodeId(id),
                event_type: EventType::FACT,
                session: SessionId(0),
                created_at: now,
                event_time: None,
                confidence: 1.0,
                lambda: 0.0,
                text: "deploy on friday",
                attributes: "",
                vector,
                carried: None,
            };
            build.push(&Op::Event(event)).unwrap();
        }
        let view = build.finish().unwrap();
        let mut bytes = Vec::new();
        let end = write_base(&view, &Build::options(&view, &identity), &mut bytes).unwrap();
        journal(&identity, 1, end, &mut bytes).unwrap();
        let at = Header::decode(&bytes, bytes.len() as u64).unwrap().vectors as usize;
        bytes[at..at + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
        Arc::new(Brain::open(Map::owned(&bytes)).unwrap()).view()
    }

    #[test]
    fn a_damaged_vector_is_reported_only_if_vectors_are_requested() {
        let view = damaged();
        let has = |events: Vec<v1::Event>| -> Vec<(u64, bool)> {
            events
                .iter()
                .map(|event| (event.id, event.vector_present))
                .collect()
        };
        let mut get = v1::GetEventsRequest {
            event_ids: vec![0, 1],
            ..Default::default()
        };
        let answer = get.clone().evaluate(&view).unwrap();
        assert_eq!(has(answer.events), [(0, true), (1, false)]);
        let pattern = v1::PatternRequest::default().evaluate(&view).unwrap();
        assert_eq!(has(pattern.events), [(1, false), (0, true)]);
        get.include_vectors = true;
        let refusal = get.evaluate(&view).unwrap_err();
        assert!(format!("{refusal:?}").contains("not finite"), "{refusal:?}");
    }
}
