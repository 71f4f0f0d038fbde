//! New events as messages to the daemon.

use amem_client::v1;
use amem_client::v1::link_end::End as To;
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};

/// The same as a request to ingest into a brain.
pub(super) fn ingest(brain: &str, ingest: Ingest) -> v1::IngestRequest {
    v1::IngestRequest {
        brain: brain.into(),
        events: ingest.events.into_iter().map(event).collect(),
        links: ingest.links.into_iter().map(link).collect(),
        ..Default::default()
    }
}

fn event(event: NewEvent) -> v1::NewEvent {
    let vector = |values| v1::Vector {
        values,
        ..Default::default()
    };
    v1::NewEvent {
        // The messages begin at 1: 0 is not said.
        r#type: i32::from(event.event_type.0) + 1,
        text: event.text,
        confidence: Some(event.confidence),
        vector: event.vector.map(vector),
        ..Default::default()
    }
}

fn link(link: NewLink) -> v1::NewLink {
    let end = |end| v1::LinkEnd {
        end: Some(match end {
            End::Event(id) => To::EventId(id.0),
            End::New(at) => To::BatchIndex(at as u32),
        }),
    };
    v1::NewLink {
        source: Some(end(link.source)),
        target: Some(end(link.target)),
        r#type: i32::from(link.edge_type.0) + 1,
        weight: Some(link.weight),
    }
}
