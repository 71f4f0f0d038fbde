//! The mutations that scripts are made of.

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::{EdgeType, EventType, Micros, NodeId, SessionId};
use amem_store::Mutation;
use amem_store::mutation::{Correct, End, Ingest, NewEdge, NewEvent, NewLink};

/// Numbers in a vector of the scripts' brains.
pub(super) const DIMENSION: u32 = 4;

/// An event's vector: another one for each seed, none of its numbers zero.
pub(super) fn vector(seed: u8) -> Vec<f32> {
    (0..DIMENSION)
        .map(|i| 0.123_456_7 + f32::from(seed) * 1.013 + i as f32 * 0.37)
        .collect()
}

pub(super) fn attributes(key: &str, value: &str) -> Attributes {
    let mut map = Attributes::new();
    map.insert(key.into(), value.into());
    map
}

/// An event of a text.
pub(super) fn event(event_type: EventType, text: &str) -> NewEvent {
    NewEvent::new(event_type, text)
}

/// An event with everything that one can have.
pub(super) fn full(text: &str, session: u32, seed: u8) -> NewEvent {
    NewEvent {
        session: Some(SessionId(session)),
        confidence: 0.75,
        event_time: Some(Micros(1_600_000_000_000_000 + i64::from(seed))),
        lambda: Some(0.5),
        attributes: Some(attributes("note", text)),
        vector: Some(vector(seed)),
        ..event(EventType::INFERENCE, text)
    }
}

/// Events without edges.
pub(super) fn ingest(events: impl IntoIterator<Item = NewEvent>) -> Mutation {
    Mutation::Ingest(Ingest {
        events: events.into_iter().collect(),
        ..Ingest::default()
    })
}

/// A fact.
pub(super) fn fact(text: &str) -> Mutation {
    ingest([event(EventType::FACT, text)])
}

/// Two events, tied to each other, to one that is there, and to those before them in their session.
pub(super) fn tied(first: NewEvent, second: NewEvent, other: u64) -> Mutation {
    let link = |source, target, edge_type| NewLink {
        source,
        target,
        edge_type,
        weight: 0.25,
    };
    Mutation::Ingest(Ingest {
        events: vec![first, second],
        links: vec![
            link(End::New(1), End::New(0), EdgeType::CAUSED_BY),
            link(End::New(0), End::Event(NodeId(other)), EdgeType::SUPPORTS),
        ],
        follow: true,
        relate: None,
        forget: Vec::new(),
    })
}

pub(super) fn correct(target: u64, text: &str, left: Option<f32>) -> Mutation {
    Mutation::Correct(Correct {
        target: NodeId(target),
        to_head: left.is_none(),
        event: event(EventType::CORRECTION, text),
        target_confidence: left,
        reason: Some(format!("because of {text}")),
    })
}

pub(super) fn link(source: u64, target: u64, edge_type: EdgeType, weight: f32) -> Mutation {
    Mutation::Link(NewEdge {
        source: NodeId(source),
        target: NodeId(target),
        edge_type,
        weight,
    })
}

pub(super) fn unlink(source: u64, target: u64, edge_type: EdgeType) -> Mutation {
    Mutation::Unlink {
        source: NodeId(source),
        target: NodeId(target),
        edge_type,
    }
}

pub(super) fn touch(ids: &[u64]) -> Mutation {
    Mutation::Touch(ids.iter().map(|&id| (NodeId(id), 3)).collect())
}

pub(super) fn open_session(key: &str) -> Mutation {
    Mutation::OpenSession { key: key.into() }
}

pub(super) fn close_session(session: u32) -> Mutation {
    Mutation::CloseSession {
        session: SessionId(session),
        outcome: "done".into(),
    }
}

pub(super) fn compress(session: u32, text: &str) -> Mutation {
    Mutation::Compress {
        session: SessionId(session),
        text: text.into(),
        vector: Some(vector(99)),
    }
}

pub(super) fn set_vector(target: u64, vector: Option<Vec<f32>>) -> Mutation {
    Mutation::SetVector {
        target: NodeId(target),
        vector,
        space: None,
    }
}

pub(super) fn set_attributes(target: u64, value: Option<&str>) -> Mutation {
    Mutation::SetAttributes {
        target: NodeId(target),
        attributes: value.map(|value| attributes("set", value)),
    }
}

pub(super) fn erase(ids: &[u64]) -> Mutation {
    Mutation::Erase(ids.iter().copied().map(NodeId).collect())
}

/// Settings with another rate, and no vectors made by the brain itself.
pub(super) fn settings(fact: f32) -> Settings {
    let mut settings = Settings {
        embed: false,
        ..Settings::default()
    };
    settings.decay.fact = fact;
    settings
}
