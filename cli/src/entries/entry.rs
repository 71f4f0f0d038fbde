//! Events to be imported.

use amem_client::{Timestamp, v1};
use amem_format::Micros;
use amem_importing::EntryEdge;

use crate::jsonl::Origin;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum EntrySession {
    Absent,
    Key(String),
    /// By a number that is local to the text.
    Unnamed(u32),
}

/// Where and when an event was first recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EntryOrigin {
    pub(crate) origin: Origin,
    pub(crate) time: Micros,
    /// When it happened, as the line says: an added event has the recorded time instead of none.
    pub(crate) event_time: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextEntry {
    /// From 1.
    pub(crate) line: u64,
    /// Its id within the text.
    pub(crate) number: Option<u64>,
    pub(crate) session: EntrySession,
    /// Of a line of our own export.
    pub(crate) origin: Option<EntryOrigin>,
    /// Without a session id until the session is open.
    pub(crate) event: v1::NewEvent,
    pub(crate) ties: Vec<EntryEdge>,
    pub(crate) is_pinned: bool,
    /// Applied after everything is written.
    pub(crate) is_forgotten: bool,
    /// It has no text, and cannot be written.
    pub(crate) is_erased: bool,
    /// What an event of a brain cannot hold, in the plural.
    pub(crate) lost: Vec<&'static str>,
}

impl TextEntry {
    /// A fact of a session, without edges.
    pub(crate) fn fact(line: u64, session: String, event: v1::NewEvent) -> Self {
        Self {
            line,
            number: None,
            session: EntrySession::Key(session),
            origin: None,
            event: v1::NewEvent {
                r#type: v1::EventType::Fact.into(),
                ..event
            },
            ties: Vec::new(),
            is_pinned: false,
            is_forgotten: false,
            is_erased: false,
            lost: Vec::new(),
        }
    }
}
