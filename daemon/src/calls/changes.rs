//! The changes: the mutation of each, and its answer.

use amem_format::attributes;
use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::{EventType, NodeId, SessionId};
use amem_proto::answer::{edge_type, event_type, micros, space};
use amem_proto::v1;
use amem_store::mutation::{Correct, End, Ingest, Mutation, NewEdge, NewEvent, NewLink, Relate};
use uuid::Uuid;

use super::command::IntoCommand;
use super::memory::{CommittedChange, Write};
use crate::refusal::{Refusal, Result};

/// One row a change: its mutation, and the fields of its answer besides the commit. A change without an answer in its
/// row implements `Write` itself.
macro_rules! commands {
    ($($message:ident($from:ident) => $mutation:expr
        $(, |$done:ident| $response:ident { $($field:ident: $value:expr),* $(,)? })?;)*) => {$(
        impl IntoCommand for v1::$message {
            fn into_mutation(self) -> Result<Mutation> {
                let $from = self;
                Ok($mutation)
            }
        }

        $(impl Write for v1::$message {
            fn answer($done: &CommittedChange) -> v1::$response {
                v1::$response {
                    commit: $done.commit(),
                    $($field: $value,)*
                }
            }
        })?
    )*};
}

commands! {
    IngestRequest(m) => Mutation::Ingest(ingest(m)?),
        |done| IngestResponse {
            event_ids: done.written.answer.ids.iter().map(|id| id.0).collect(),
            edges: done.written.answer.edges,
        };
    CorrectRequest(m) => Mutation::Correct(correct(m)?),
        |done| CorrectResponse {
            event_id: done.event_id(),
            target_id: done.written.answer.target.unwrap_or_default().0,
        };
    LinkRequest(m) => Mutation::Link(NewEdge {
        source: NodeId(m.source_id),
        target: NodeId(m.target_id),
        edge_type: edge_type(m.r#type)?,
        weight: m.weight.unwrap_or(1.0),
    }),
        |done| LinkResponse {};
    UnlinkRequest(m) => Mutation::Unlink {
        source: NodeId(m.source_id),
        target: NodeId(m.target_id),
        edge_type: edge_type(m.r#type)?,
    },
        |done| UnlinkResponse {};
    TouchRequest(m) => Mutation::Touch(
        m.touched.iter().map(|t| (NodeId(t.event_id), t.count.max(1))).collect(),
    ),
        |done| TouchResponse {};
    PinRequest(m) => Mutation::Pin(NodeId(m.event_id)),
        |done| PinResponse {};
    UnpinRequest(m) => Mutation::Unpin(NodeId(m.event_id)),
        |done| UnpinResponse {};
    ForgetRequest(m) => Mutation::Forget(NodeId(m.event_id)),
        |done| ForgetResponse {};
    RestoreRequest(m) => Mutation::Restore(NodeId(m.event_id)),
        |done| RestoreResponse {};
    EraseRequest(m) => Mutation::Erase(m.event_ids.into_iter().map(NodeId).collect());
    CompressSessionRequest(m) => {
        // A vector of another space would pass for one of the brain's space.
        if m.vector.as_ref().is_some_and(|v| !v.space.is_empty()) {
            let why = "the vector of a summary is of the brain's space: omit the space";
            return Err(Refusal::invalid("space", why));
        }
        Mutation::Compress {
            session: SessionId(m.session_id),
            text: m.text,
            vector: m.vector.map(|v| v.values),
        }
    };
    SetVectorRequest(m) => {
        let (vector, space) = vector(m.vector)?;
        Mutation::SetVector { target: NodeId(m.event_id), vector, space }
    },
        |done| SetVectorResponse {};
    SetAttributesRequest(m) => Mutation::SetAttributes {
        target: NodeId(m.event_id),
        attributes: attributes_of(&m.attributes_json)?,
    },
        |done| SetAttributesResponse {};
    DecayRequest(_m) => Mutation::Decay,
        |done| DecayResponse {};
    OpenSessionRequest(m) => Mutation::OpenSession { key: m.key },
        |done| OpenSessionResponse { session_id: done.written.answer.session.unwrap_or_default().0 };
    CloseSessionRequest(m) => Mutation::CloseSession {
        session: SessionId(m.session_id),
        outcome: m.outcome,
    },
        |done| CloseSessionResponse {};
    SetSettingsRequest(m) => Mutation::SetSettings(Settings::parse_request(&m.settings_json)?),
        |done| SetSettingsResponse {};
}

/// New events and their edges.
fn ingest(message: v1::IngestRequest) -> Result<Ingest> {
    let events = message
        .events
        .into_iter()
        .map(|e| new_event(e, EventType::FACT));
    let links = message.links.into_iter().map(|link| {
        Ok(NewLink {
            source: end("source", link.source)?,
            target: end("target", link.target)?,
            edge_type: edge_type(link.r#type)?,
            weight: link.weight.unwrap_or(1.0),
        })
    });
    Ok(Ingest {
        events: events.collect::<Result<_>>()?,
        links: links.collect::<Result<_>>()?,
        follow: message.follow,
        relate: message.relate.map(|relate| Relate {
            k: relate.k as usize,
            min_similarity: relate.min_similarity,
        }),
        forget: Vec::new(),
    })
}

fn end(what: &str, end: Option<v1::LinkEnd>) -> Result<End> {
    match end.and_then(|end| end.end) {
        Some(v1::link_end::End::EventId(id)) => Ok(End::Event(NodeId(id))),
        Some(v1::link_end::End::BatchIndex(at)) => Ok(End::New(at as usize)),
        None => Err(Refusal::invalid(
            what,
            "set the id of an event, or an index in the batch",
        )),
    }
}

fn correct(message: v1::CorrectRequest) -> Result<Correct> {
    let event = message
        .event
        .ok_or_else(|| Refusal::invalid("event", "set the event that replaces the belief"))?;
    Ok(Correct {
        target: NodeId(message.target_id),
        to_head: message.to_head,
        event: new_event(event, EventType::CORRECTION)?,
        target_confidence: message.target_confidence,
        reason: (!message.reason.is_empty()).then_some(message.reason),
    })
}

fn new_event(message: v1::NewEvent, otherwise: EventType) -> Result<NewEvent> {
    let (vector, space) = vector(message.vector)?;
    let event_time = message.event_time.map(|time| micros("event_time", time));
    Ok(NewEvent {
        event_type: event_type(message.r#type)?.unwrap_or(otherwise),
        text: message.text,
        session: message.session_id.map(SessionId),
        confidence: message.confidence.unwrap_or(1.0),
        event_time: event_time.transpose()?,
        lambda: message.lambda,
        attributes: attributes_of(&message.attributes_json)?,
        vector,
        space,
        is_derived: false,
    })
}

fn vector(message: Option<v1::Vector>) -> Result<(Option<Vec<f32>>, Option<Uuid>)> {
    match message {
        None => Ok((None, None)),
        Some(vector) => Ok((Some(vector.values), space(&vector.space)?)),
    }
}

fn attributes_of(json: &str) -> Result<Option<Attributes>> {
    if json.is_empty() {
        return Ok(None);
    }
    Ok(Some(attributes::parse(json)?))
}
