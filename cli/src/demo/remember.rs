//! Puts the sample into a brain, as an agent would: sessions, events in batches, edges with them.

use std::collections::HashMap;

use amem_client::{Timestamp, v1};
use amem_core::query::time;
use amem_core::{EdgeType, EventType, Micros};

use super::sample::{SESSIONS, Session, TIES};
use super::stage::Result;
use crate::remote::Remote;

/// Microseconds between two events of the sample.
const PACE: i64 = 3 * 60 * 1_000_000;

/// What became of the sample.
pub(crate) struct Remembered {
    /// The id of each event, by its key in the sample.
    pub(crate) ids: HashMap<&'static str, u64>,
    /// Edges, those between consecutive events counted.
    pub(crate) edges: u64,
    /// The last commit.
    pub(crate) lsn: u64,
}

/// Remembers the sample, session by session.
pub(crate) fn remember(remote: &Remote, brain: &str) -> Result<Remembered> {
    let mut done = Remembered {
        ids: HashMap::new(),
        edges: 0,
        lsn: 0,
    };
    for session in &SESSIONS {
        let options = v1::WriteOptions {
            agent: session.agent.into(),
            ..Default::default()
        };
        let mut memory = remote.client.memory();
        let opened = remote.call(memory.open_session(v1::OpenSessionRequest {
            brain: brain.into(),
            options: Some(options.clone()),
            key: session.key.into(),
        }))?;
        let batch = v1::IngestRequest {
            brain: brain.into(),
            options: Some(options.clone()),
            events: events(session, opened.session_id)?,
            links: links(session, &done.ids),
            follow: true,
            relate: None,
        };
        let answer = remote.call(memory.ingest(batch))?;
        let keys = session.memories.iter().map(|m| m.key);
        done.ids.extend(keys.zip(answer.event_ids));
        done.edges += answer.edges;
        let closed = remote.call(memory.close_session(v1::CloseSessionRequest {
            brain: brain.into(),
            options: Some(options),
            session_id: opened.session_id,
            outcome: session.outcome.into(),
        }))?;
        done.lsn = closed.commit.unwrap_or_default().lsn;
    }
    Ok(done)
}

fn events(session: &Session, id: u32) -> Result<Vec<v1::NewEvent>> {
    let mut at = time::parse(session.began)?;
    let mut events = Vec::with_capacity(session.memories.len());
    for memory in session.memories {
        events.push(v1::NewEvent {
            r#type: event_type(memory.kind),
            text: memory.text.into(),
            session_id: Some(id),
            confidence: Some(memory.confidence),
            event_time: Some(timestamp(at)),
            ..Default::default()
        });
        at = Micros(at.0 + PACE);
    }
    Ok(events)
}

/// The edges that start in a session; what is not of its own batch is known by id.
fn links(session: &Session, known: &HashMap<&str, u64>) -> Vec<v1::NewLink> {
    let place = |key: &str| session.memories.iter().position(|m| m.key == key);
    let end = |key: &str| {
        let end = match place(key) {
            Some(at) => Some(v1::link_end::End::BatchIndex(at as u32)),
            None => known.get(key).copied().map(v1::link_end::End::EventId),
        };
        Some(v1::LinkEnd { end })
    };
    let of_session = TIES.iter().filter(|tie| place(tie.source).is_some());
    of_session
        .map(|tie| v1::NewLink {
            source: end(tie.source),
            target: end(tie.target),
            r#type: edge_type(tie.edge),
            weight: None,
        })
        .collect()
}

fn event_type(of: EventType) -> i32 {
    i32::from(of.0) + 1
}

fn edge_type(of: EdgeType) -> i32 {
    i32::from(of.0) + 1
}

fn timestamp(at: Micros) -> Timestamp {
    Timestamp {
        seconds: at.0.div_euclid(1_000_000),
        nanos: (at.0.rem_euclid(1_000_000) * 1000) as i32,
    }
}
