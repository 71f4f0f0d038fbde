//! Puts the sample into a brain, as an agent would: sessions, events in batches, edges with them.

use std::collections::HashMap;

use amem_client::{Timestamp, v1};
use amem_format::{EdgeType, EventType, Micros};
use amem_query::time;

use super::sample::{Memory, SESSIONS, TIES};
use super::stage::Result;
use crate::remote::Remote;

/// Microseconds between two events of the sample.
const PACE: i64 = 3 * 60 * 1_000_000;

/// What became of the sample.
pub(crate) struct Remembered {
    /// The id of each event, by its key in the sample.
    pub(crate) ids: HashMap<&'static str, u64>,
    /// The number of each session.
    pub(crate) sessions: Vec<u32>,
    /// Edges, those between consecutive events counted.
    pub(crate) edges: u64,
    /// The last commit.
    pub(crate) lsn: u64,
}

/// Remembers the sample, session by session.
pub(crate) fn remember(remote: &Remote, brain: &str) -> Result<Remembered> {
    let mut done = Remembered {
        ids: HashMap::new(),
        sessions: Vec::new(),
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
        done.sessions.push(opened.session_id);
        let mut at = time::parse(session.began)?;
        for memories in batches(session.memories) {
            let batch = v1::IngestRequest {
                brain: brain.into(),
                options: Some(options.clone()),
                events: events(memories, opened.session_id, at),
                links: links(memories, &done.ids),
                follow: true,
                relate: None,
            };
            let answer = remote.call(memory.ingest(batch))?;
            let keys = memories.iter().map(|m| m.key);
            done.ids.extend(keys.zip(answer.event_ids));
            done.edges += answer.edges;
            at = Micros(at.0 + PACE * memories.len() as i64);
        }
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

/// The memories of a session in batches: what is replaced has to be there before what replaces it comes.
fn batches(memories: &[Memory]) -> Vec<&[Memory]> {
    let (mut batches, mut first) = (Vec::new(), 0);
    for (at, memory) in memories.iter().enumerate() {
        let batch = &memories[first..at];
        let replaces_of_batch = TIES.iter().any(|tie| {
            let is_of_batch = || batch.iter().any(|m| m.key == tie.target);
            tie.edge == EdgeType::SUPERSEDES && tie.source == memory.key && is_of_batch()
        });
        if replaces_of_batch {
            batches.push(batch);
            first = at;
        }
    }
    batches.push(&memories[first..]);
    batches
}

fn events(memories: &[Memory], session: u32, began: Micros) -> Vec<v1::NewEvent> {
    let times = (0..).map(|n| Micros(began.0 + n * PACE));
    let events = memories.iter().zip(times).map(|(memory, at)| v1::NewEvent {
        r#type: event_type(memory.kind),
        text: memory.text.into(),
        session_id: Some(session),
        confidence: Some(memory.confidence),
        event_time: Some(timestamp(at)),
        ..Default::default()
    });
    events.collect()
}

/// The edges that can be made with a batch and not before; what is not of the batch is known by id.
fn links(batch: &[Memory], known: &HashMap<&str, u64>) -> Vec<v1::NewLink> {
    let place = |key: &str| batch.iter().position(|m| m.key == key);
    let end = |key: &str| {
        let end = match place(key) {
            Some(at) => v1::link_end::End::BatchIndex(at as u32),
            None => v1::link_end::End::EventId(*known.get(key)?),
        };
        Some(v1::LinkEnd { end: Some(end) })
    };
    let of_batch = TIES
        .iter()
        .filter(|tie| place(tie.source).or(place(tie.target)).is_some());
    of_batch
        .filter_map(|tie| {
            let (source, target) = (end(tie.source)?, end(tie.target)?);
            Some(v1::NewLink {
                source: Some(source),
                target: Some(target),
                r#type: edge_type(tie.edge),
                weight: None,
            })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_and_every_edge_of_the_sample_is_sent_once() {
        let (mut known, mut edges) = (HashMap::new(), 0);
        for session in &SESSIONS {
            for batch in batches(session.memories) {
                edges += links(batch, &known).len();
                for memory in batch {
                    let id = known.len() as u64;
                    assert_eq!(known.insert(memory.key, id), None);
                }
            }
        }
        let memories: usize = SESSIONS.iter().map(|s| s.memories.len()).sum();
        assert_eq!((known.len(), edges), (memories, TIES.len()));
    }
}
