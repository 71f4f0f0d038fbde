//! Lines to events.
//!
//! Only `text` must be there; what is left out is what a new event would have. Numbers past the range of
//! their field, and what is no number, do not get past the JSON parser.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};

use amem_core::event::{Attributes, Edge, Event, MemoryGraph};
use amem_core::limits::{DIMENSION_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use amem_core::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};
use serde::Deserialize;
use uuid::Uuid;

use crate::convert::NamedSession;
use crate::event::{Time, flag_of};
use crate::failure::Failure;
use crate::render::printable;

/// Bytes of one line.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// What lines made.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Events ascending by id, edges ascending by their key; an edge may end at an event that is not there.
    pub(crate) graph: MemoryGraph,
    /// Sessions that were named.
    pub(crate) sessions: Vec<NamedSession>,
    /// Whose vectors they are, if that was said.
    pub(crate) space: Option<Uuid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<u64>,
    #[serde(rename = "type")]
    event_type: Option<EventType>,
    created_at: Option<Time>,
    event_time: Option<Time>,
    session: Option<u32>,
    session_key: Option<String>,
    agent: Option<String>,
    confidence: Option<f32>,
    decay_score: Option<f32>,
    lambda: Option<f32>,
    access_count: Option<u32>,
    last_accessed: Option<Time>,
    #[serde(default)]
    flags: Vec<String>,
    text: String,
    attributes: Option<Attributes>,
    vector: Option<Vec<f32>>,
    space: Option<Uuid>,
    #[serde(default)]
    edges: Vec<In>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct In {
    target: u64,
    #[serde(rename = "type")]
    edge_type: EdgeType,
    weight: Option<f32>,
    created_at: Option<Time>,
}

/// What lines have in common, as they are read.
struct Reading {
    now: Micros,
    out: Lines,
    ids: BTreeSet<u64>,
    sessions: BTreeMap<u32, NamedSession>,
    keys: BTreeMap<String, u32>,
}

/// Reads lines; `now` is the recorded time of events that have none. Empty lines mean nothing.
pub(crate) fn read(
    input: &mut impl BufRead,
    now: Micros,
    failed: impl Fn(&io::Error) -> Failure,
) -> Result<Lines, Failure> {
    let mut reading = Reading {
        now,
        out: Lines::default(),
        ids: BTreeSet::new(),
        sessions: BTreeMap::new(),
        keys: BTreeMap::new(),
    };
    let mut bytes = Vec::new();
    for number in 1u64.. {
        bytes.clear();
        let mut limited = input.by_ref().take(LINE_BYTES_MAX + 1);
        limited
            .read_until(b'\n', &mut bytes)
            .map_err(|e| failed(&e))?;
        if bytes.is_empty() {
            break;
        }
        let bad = |why: String| {
            Failure::refused(
                "bad_line",
                format!("line {number}: {}", printable(&why)),
                "README.md of amemctl has the fields of a line; nothing was written",
            )
        };
        if bytes.len() as u64 > LINE_BYTES_MAX {
            return Err(bad(format!("longer than {LINE_BYTES_MAX} bytes")));
        }
        let text = std::str::from_utf8(&bytes).map_err(|e| bad(e.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
        reading.line(line).map_err(bad)?;
    }
    let mut out = reading.out;
    out.sessions = reading.sessions.into_values().collect();
    out.graph.events.sort_by_key(|e| e.id);
    out.graph.edges.sort_by_key(Edge::key);
    Ok(out)
}

impl Reading {
    fn line(&mut self, line: Line) -> Result<(), String> {
        let id = match line.id {
            Some(id) => id,
            None => self.out.graph.events.len() as u64,
        };
        if !self.ids.insert(id) {
            return Err(format!("event {id} for the second time"));
        }
        let too_long = |what: &str, len: usize, max: usize| {
            let why = format!("{what} of {len} bytes, more than the limit of {max}");
            if len > max { Err(why) } else { Ok(()) }
        };
        too_long("a text", line.text.len(), TEXT_BYTES_MAX)?;
        let created_at = line.created_at.map_or(self.now, |t| t.0);
        let session = line.session.unwrap_or(0);
        if let Some(key) = line.session_key {
            let agent = line.agent.unwrap_or_default();
            too_long("a session's key", key.len(), NAME_BYTES_MAX)?;
            too_long("an agent's name", agent.len(), NAME_BYTES_MAX)?;
            self.session(session, key, agent, created_at)?;
        }
        let vector = line.vector;
        if let Some(vector) = &vector {
            self.check_vector(vector, line.space)?;
        }
        let mut flags = Flags::default()
            .set(Flags::VECTOR, vector.is_some())
            .set(Flags::ATTRIBUTES, line.attributes.is_some());
        for name in &line.flags {
            let flag = flag_of(name).ok_or_else(|| {
                format!("unknown flag {name:?} (pinned, forgotten, compressed, erased)")
            })?;
            flags = flags.with(flag);
        }
        if flags.has(Flags::ERASED) && !(line.text.is_empty() && vector.is_none()) {
            return Err("an erased event that says something".to_owned());
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
        if vector.is_empty() || vector.len() > DIMENSION_MAX as usize {
            let max = DIMENSION_MAX;
            return Err(format!("a vector of {} numbers (1 to {max})", vector.len()));
        }
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

    fn check(lines: &str) -> Result<Lines, Failure> {
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
                "line 2: event 1 for the second",
            ),
            ("{\"text\":\"a\",\"type\":\"dream\"}", "unknown event type"),
            ("{\"text\":\"a\",\"created_at\":\"today\"}", "line 1"),
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
