//! JSON lines of events, to be added to an existing brain.
//!
//! A new event is recorded now; the recorded time of the old one becomes its event time, if it has none. What an event
//! of a brain cannot hold is counted (`TextEntry::lost`).

use std::fs::File;
use std::io::BufReader;

use amem_client::v1;
use amem_format::{EventType, Flags};
use amem_importing::EntryEdge;
use serde_json::Value;

use super::entry::{EntryOrigin, EntrySession, TextEntry};
use super::input::ImportInput;
use crate::failure::Failure;
use crate::jsonl::{EventLine, LINE_BYTES_MAX, first_recorded};
use crate::lines::{LineError, Lines};
use crate::types::event_type_number;
use crate::when::timestamp;

pub(super) struct EventLines<'i> {
    input: &'i ImportInput,
    lines: Lines<BufReader<File>>,
    /// The id of a line without one.
    next: u64,
}

impl<'i> EventLines<'i> {
    pub(super) fn new(input: &'i ImportInput) -> Result<Self, Failure> {
        Ok(Self {
            input,
            lines: Lines::new(input.reader()?, LINE_BYTES_MAX),
            next: 0,
        })
    }
}

impl Iterator for EventLines<'_> {
    type Item = Result<TextEntry, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.lines.next() {
            Ok(None) => return None,
            Ok(Some(json)) => EventLine::parse(json),
            Err(LineError::Io(error)) => return Some(Err(self.input.failed(&error))),
            Err(long) => Err(long.to_string()),
        };
        let number = self.lines.number();
        let position = self.next;
        self.next += 1;
        let entry = line.and_then(|line| entry(line, number, position));
        Some(entry.map_err(|why| {
            let remedy = "README.md of amemctl has the fields of a line";
            self.input.bad_line(number, &why, remedy)
        }))
    }
}

fn entry(line: EventLine, number: u64, position: u64) -> Result<TextEntry, String> {
    let flags = line.flags()?;
    let is_erased = flags.has(Flags::ERASED);
    if line.text.is_empty() && !is_erased {
        return Err("the text is empty".to_owned());
    }
    let event_type = line.event_type.unwrap_or(EventType::FACT);
    if !event_type.is_known() {
        return Err(format!(
            "events of type {event_type} cannot be written: it is not one of the six types"
        ));
    }
    let mut ties = Vec::with_capacity(line.edges.len());
    for edge in &line.edges {
        if !edge.edge_type.is_known() {
            return Err(format!(
                "edges of type {} cannot be written",
                edge.edge_type
            ));
        }
        ties.push(EntryEdge {
            to: edge.target,
            edge_type: edge.edge_type,
            weight: edge.weight.unwrap_or(1.0),
        });
    }
    let recorded = line.attributes.as_ref().and_then(first_recorded);
    let recorded = recorded.or(line.created_at.map(|time| time.0));
    let origin = line.origin.zip(recorded).map(|(origin, time)| EntryOrigin {
        origin,
        time,
        event_time: line.event_time.map(|time| timestamp(time.0)),
    });
    let lost = [
        (flags.has(Flags::COMPRESSED), "marks of being summarised"),
        (line.access_count.is_some_and(|n| n > 0), "counts of uses"),
    ];
    Ok(TextEntry {
        line: number,
        number: Some(line.id.unwrap_or(position)),
        session: match (&line.session_key, line.session.unwrap_or(0)) {
            (Some(key), _) if !key.is_empty() => EntrySession::Key(key.clone()),
            (_, 0) => EntrySession::Absent,
            (_, session) => EntrySession::Unnamed(session),
        },
        origin,
        ties,
        is_pinned: flags.has(Flags::PINNED),
        is_forgotten: flags.has(Flags::FORGOTTEN),
        is_erased,
        lost: lost
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, what)| *what)
            .collect(),
        event: v1::NewEvent {
            r#type: event_type_number(event_type),
            event_time: line.event_time.or(line.created_at).map(|t| timestamp(t.0)),
            confidence: line.confidence,
            // 0 is the default of the type, as for a new event.
            lambda: line.lambda.filter(|rate| *rate > 0.0),
            attributes_json: match line.attributes {
                Some(of) => Value::Object(of).to_string(),
                None => String::new(),
            },
            vector: line.vector.map(|values| v1::Vector {
                values,
                space: line
                    .space
                    .map(|space| space.to_string())
                    .unwrap_or_default(),
            }),
            text: line.text,
            session_id: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::EdgeType;

    fn read(text: &str) -> Result<Vec<TextEntry>, Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        EventLines::new(&ImportInput::open(file.path())?)?.collect()
    }

    #[test]
    fn a_recorded_time_becomes_that_of_the_happening_where_there_is_none() {
        let entries = read(concat!(
            r#"{"text":"a","created_at":"2026-03-02T09:00:00Z"}"#,
            "\n",
            r#"{"id":7,"text":"b","created_at":"2026-03-02T09:00:00Z","event_time":"2026-03-01T00:00:00Z","#,
            r#""session":3,"flags":["pinned","forgotten","compressed"],"access_count":2,"edges":[{"target":0,"type":"supports"}]}"#,
        ))
        .unwrap();
        assert_eq!(entries[0].event.event_time.unwrap().seconds, 1_772_442_000);
        assert_eq!(entries[1].event.event_time.unwrap().seconds, 1_772_323_200);
        assert_eq!((entries[0].number, entries[1].number), (Some(0), Some(7)));
        assert_eq!(entries[1].session, EntrySession::Unnamed(3));
        assert!(entries[1].is_pinned && entries[1].is_forgotten && !entries[0].is_pinned);
        assert_eq!(entries[1].lost.len(), 2);
        let tie = entries[1].ties[0];
        assert_eq!(
            (tie.to, tie.edge_type, tie.weight),
            (0, EdgeType::SUPPORTS, 1.0)
        );
    }

    #[test]
    fn what_no_brain_would_take_is_refused_by_its_line() {
        for (bad, word) in [
            (r#"{"text":""}"#, "the text is empty"),
            (r#"{"text":"a","type":"type-9"}"#, "not one of the six"),
            (
                r#"{"text":"a","edges":[{"target":0,"type":"type-99"}]}"#,
                "edges of type type-99 cannot be written",
            ),
            (r#"{"text":"a","flags":["red"]}"#, "unknown flag"),
            (r#"{"text":"a","colour":1}"#, "unknown field"),
        ] {
            let failure = read(&format!("{{\"text\":\"good\"}}\n{bad}")).unwrap_err();
            assert_eq!(failure.code, "bad_line");
            assert!(
                failure.message.contains("line 2 of "),
                "{}",
                failure.message
            );
            assert!(failure.message.contains(word), "{}", failure.message);
        }
    }
}
