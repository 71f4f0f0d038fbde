//! Reads lines as events.
//!
//! Only `text` is required; other fields default to those of a new event. The JSON parser rejects numbers out of range.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use amem_format::event::{Edge, Event, MemoryGraph};
use amem_format::{EventType, Micros, NodeId, SessionId};
use uuid::Uuid;

use super::line::{EventLine, LINE_BYTES_MAX};
use crate::brain::convert::NamedSession;
use crate::failure::Failure;
use crate::lines::{self, LineError};
use crate::render::printable;

#[derive(Debug, Default)]
pub(crate) struct LinesGraph {
    /// Events by id, edges by key; an edge may end at an event that does not exist.
    pub(crate) graph: MemoryGraph,
    pub(crate) sessions: Vec<NamedSession>,
    /// The space of the vectors.
    pub(crate) space: Option<Uuid>,
}

struct LineReader {
    now: Micros,
    out: LinesGraph,
    ids: BTreeSet<u64>,
    sessions: BTreeMap<u32, NamedSession>,
    keys: BTreeMap<String, u32>,
}

/// `now` is the recorded time of events without one. Empty lines are skipped.
pub(crate) fn read(
    input: &mut impl BufRead,
    now: Micros,
    failed: impl Fn(&io::Error) -> Failure,
) -> Result<LinesGraph, Failure> {
    let mut reading = LineReader {
        now,
        out: LinesGraph::default(),
        ids: BTreeSet::new(),
        sessions: BTreeMap::new(),
        keys: BTreeMap::new(),
    };
    let mut lines = lines::Lines::new(input, LINE_BYTES_MAX);
    loop {
        let read = match lines.next() {
            Ok(None) => break,
            Ok(Some(json)) => EventLine::parse(json).and_then(|line| reading.line(line)),
            Err(LineError::Io(error)) => return Err(failed(&error)),
            Err(long) => Err(long.to_string()),
        };
        read.map_err(|why| {
            Failure::refused(
                "bad_line",
                format!("line {}: {}", lines.number(), printable(&why)),
                "README.md of amemctl has the fields of a line; nothing was written",
            )
        })?;
    }
    let mut out = reading.out;
    out.sessions = reading.sessions.into_values().collect();
    out.graph.events.sort_by_key(|e| e.id);
    out.graph.edges.sort_by_key(Edge::key);
    Ok(out)
}

impl LineReader {
    fn line(&mut self, line: EventLine) -> Result<(), String> {
        let id = match line.id {
            Some(id) => id,
            None => self.out.graph.events.len() as u64,
        };
        if !self.ids.insert(id) {
            return Err(format!("event {id} appears twice"));
        }
        let flags = line.flags()?;
        let created_at = line.created_at.map_or(self.now, |t| t.0);
        let session = line.session.unwrap_or(0);
        if let Some(key) = line.session_key {
            let agent = line.agent.unwrap_or_default();
            self.session(session, key, agent, created_at)?;
        }
        let vector = line.vector;
        if let Some(vector) = &vector {
            self.check_vector(vector, line.space)?;
        }
        let confidence = line.confidence.unwrap_or(1.0);
        let decay_score = line.decay_score.unwrap_or(confidence);
        let lambda = line.lambda.unwrap_or(0.0);
        for edge in line.edges {
            self.out.graph.edges.push(Edge {
                source: NodeId(id),
                target: NodeId(edge.target),
                edge_type: edge.edge_type,
                weight: edge.weight.unwrap_or(1.0),
                created_at: edge.created_at.map_or(created_at, |t| t.0),
            });
        }
        self.out.graph.events.push(Event {
            id: NodeId(id),
            event_type: line.event_type.unwrap_or(EventType::FACT),
            flags,
            created_at,
            event_time: line.event_time.map(|t| t.0),
            session: SessionId(session),
            confidence,
            access_count: line.access_count.unwrap_or(0),
            last_accessed: line.last_accessed.map_or(created_at, |t| t.0),
            decay_score,
            lambda,
            text: line.text,
            vector,
            attributes: line.attributes,
        });
        Ok(())
    }

    fn session(
        &mut self,
        id: u32,
        key: String,
        agent: String,
        opened: Micros,
    ) -> Result<(), String> {
        if let Some(&other) = self.keys.get(&key)
            && other != id
        {
            return Err(format!(
                "session {id} has the key {key:?} of session {other}"
            ));
        }
        match self.sessions.get_mut(&id) {
            Some(known) if known.key == key => known.opened = known.opened.min(opened),
            Some(known) => {
                return Err(format!(
                    "session {id} is {key:?}, and {:?} before",
                    known.key
                ));
            }
            None => {
                self.keys.insert(key.clone(), id);
                let opened = NamedSession {
                    id: SessionId(id),
                    key,
                    agent,
                    opened,
                };
                self.sessions.insert(id, opened);
            }
        }
        Ok(())
    }

    fn check_vector(&mut self, vector: &[f32], space: Option<Uuid>) -> Result<(), String> {
        let dimension = vector.len() as u32;
        if self.out.graph.dimension == 0 {
            (self.out.graph.dimension, self.out.space) = (dimension, space);
        }
        if self.out.graph.dimension != dimension {
            let others = self.out.graph.dimension;
            return Err(format!(
                "a vector of {dimension} numbers, others have {others}"
            ));
        }
        if self.out.space != space {
            return Err("a vector of another space than the others".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &str) -> Result<LinesGraph, Failure> {
        read(&mut lines.as_bytes(), Micros(77), Failure::output)
    }

    #[test]
    fn a_line_needs_no_more_than_a_text() {
        let lines = check("{\"text\":\"one\"}\n\n{\"text\":\"two\",\"edges\":[{\"target\":0,\"type\":\"supports\"}]}").unwrap();
        let events = &lines.graph.events;
        assert_eq!(events.len(), 2);
        assert_eq!(
            (events[1].id, events[1].created_at),
            (NodeId(1), Micros(77))
        );
        assert_eq!((events[1].confidence, events[1].decay_score), (1.0, 1.0));
        assert_eq!(lines.graph.edges[0].key(), (1, 0, 1));
    }

    #[test]
    fn lines_that_make_no_sense_are_refused_by_number() {
        let rows = [
            ("{\"text\":\"a\"}\nnonsense", "line 2: expected"),
            ("{\"text\":\"a\",\"color\":1}", "unknown field `color`"),
            ("{}", "missing field `text`"),
            (
                "{\"text\":\"a\",\"id\":1}\n{\"text\":\"b\",\"id\":1}",
                "line 2: event 1 appears twice",
            ),
            ("{\"text\":\"a\",\"type\":\"dream\"}", "unknown event type"),
            ("{\"text\":\"a\",\"created_at\":\"soon\"}", "line 1"),
            (
                "{\"text\":\"a\",\"confidence\":1e39}",
                "number out of range",
            ),
            ("{\"text\":\"a\",\"confidence\":NaN}", "line 1"),
            ("{\"text\":\"a\",\"flags\":[\"red\"]}", "unknown flag"),
            ("{\"text\":\"a\",\"flags\":[\"erased\"]}", "erased event"),
            ("{\"text\":\"a\",\"vector\":[]}", "0 numbers"),
            (
                "{\"text\":\"a\",\"vector\":[1,1e39]}",
                "number out of range",
            ),
            (
                "{\"text\":\"a\",\"vector\":[1]}\n{\"text\":\"b\",\"vector\":[1,2]}",
                "line 2: a vector of 2 numbers, others have 1",
            ),
            (
                "{\"text\":\"a\",\"session\":1,\"session_key\":\"k\"}\n{\"text\":\"b\",\"session\":2,\"session_key\":\"k\"}",
                "line 2: session 2 has the key",
            ),
        ];
        for (lines, expected) in rows {
            let failure = check(lines).unwrap_err();
            assert_eq!(failure.code, "bad_line");
            assert!(failure.message.contains(expected), "{}", failure.message);
        }
        let invalid = read(&mut &b"{\"text\":\"\xff\"}"[..], Micros(0), |e| {
            Failure::output(e)
        });
        assert!(invalid.unwrap_err().message.contains("utf-8"));
    }
}
