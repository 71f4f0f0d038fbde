//! Section 0x59, spans: the earlier spans of sessions that were opened again.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | spans s |
//! | 8 | record × s | by session, then time |
//! | | | outcomes |
//!
//! A record is 40 bytes: 0 u32 session · 4 u32 flags (1 opened by a client) · 8 i64 opened · 16 i64 closed · 24 u64
//! outcome's offset into the outcomes · 32 u32 its length · 36 zeros.
//!
//! Not here: the latest span of a session, which is its record in section 0x43.

use super::records::{Records, records};
use super::section::Section;
use super::sessions::Session;
use crate::base::image::Body;
use crate::bytes::{get_i64, get_u32, get_u64};
use crate::error::Result;
use crate::limits::OUTCOME_BYTES_MAX;
use crate::types::{Micros, SessionId};

const RECORD: u64 = 40;
const OPENED: u32 = 1;

/// One stay in a session: from its opening, or from its first use after a close, to the next close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSpan<'a> {
    /// When a client opened the session, or opened it again; else the time of its first event.
    pub opened: Micros,
    /// True if a client opened it; false if only its events name the session.
    pub explicit: bool,
    /// When it was closed; `None` if it is open.
    pub closed: Option<Micros>,
    /// The outcome that the client gave; may be empty.
    pub outcome: &'a str,
}

impl<'a> From<&Session<'a>> for SessionSpan<'a> {
    /// The latest span of a session.
    fn from(session: &Session<'a>) -> Self {
        Self {
            opened: session.opened,
            explicit: session.explicit,
            closed: session.closed,
            outcome: session.outcome,
        }
    }
}

records!(EarlierSpans: "spans", 8 + RECORD);

impl<'a> EarlierSpans<'a> {
    /// The span at a position, and its session.
    pub fn at(&self, position: u64) -> Result<(SessionId, SessionSpan<'a>)> {
        if position >= self.0.count {
            let why = format!("no span at position {position}");
            return Err(self.0.section.bad(0, why));
        }
        let record = self.0.at(position)?;
        let len = get_u32(record, 32);
        if len as usize > OUTCOME_BYTES_MAX {
            let why = format!("an outcome of {len} bytes exceeds the limit of {OUTCOME_BYTES_MAX}");
            return Err(self.0.section.bad(self.0.offset(position), why));
        }
        let outcome = self.0.end().saturating_add(get_u64(record, 24));
        let span = SessionSpan {
            opened: Micros(get_i64(record, 8)),
            explicit: get_u32(record, 4) & OPENED != 0,
            closed: Some(Micros(get_i64(record, 16))),
            outcome: self.0.section.str(outcome, len.into())?,
        };
        Ok((SessionId(get_u32(record, 0)), span))
    }

    /// The position of the first span of a session, or of a later one.
    fn position(&self, id: SessionId) -> Result<u64> {
        self.0.partition(|record| get_u32(record, 0) < id.0)
    }

    /// The spans of a session, by time.
    pub fn of(&self, id: SessionId) -> Result<Vec<SessionSpan<'a>>> {
        let mut spans = Vec::new();
        for position in self.position(id)?..self.0.count {
            match self.at(position)? {
                (found, span) if found == id => spans.push(span),
                _ => break,
            }
        }
        Ok(spans)
    }
}

/// Writes the section. `spans` ascend by session, then time, and are closed.
pub fn write(body: &mut Body<'_>, spans: &[(SessionId, SessionSpan<'_>)]) -> Result<()> {
    body.u64(spans.len() as u64)?;
    let mut outcomes = Vec::new();
    for (session, span) in spans {
        body.u32(session.0)?;
        body.u32(u32::from(span.explicit) * OPENED)?;
        body.i64(span.opened.0)?;
        body.i64(span.closed.map_or(0, |t| t.0))?;
        body.u64(outcomes.len() as u64)?;
        body.u32(span.outcome.len() as u32)?;
        body.u32(0)?;
        outcomes.extend_from_slice(span.outcome.as_bytes());
    }
    body.bytes(&outcomes)
}
