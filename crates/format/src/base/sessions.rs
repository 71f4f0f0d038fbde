//! Section 0x43, sessions: their records and events.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | sessions s |
//! | 8 | u64 | events n |
//! | 16 | record × s | by number |
//! | | u32 × s | records in order of their keys, those without a key first |
//! | | u32 × (s + 1) | where each session's events begin |
//! | | u32 × n | events, by session, then id |
//! | | | texts |
//!
//! A record is 64 bytes: 0 u32 number · 4 u32 flags (1 opened by a client, 2 closed) · 8 i64 opened · 16 i64
//! last event · 24 i64 closed · 32 u64 key's offset · 40 u32 its length · 44 u32 agent's length · 48 u32
//! outcome's length · 52 zeros. Key, agent and outcome stand one after the other in the texts.

use super::records::Records;
use super::section::{Section, range};
use crate::base::image::Body;
use crate::bytes::{get_i64, get_u32, get_u64};
use crate::error::{Error, Result};
use crate::limits::{NAME_BYTES_MAX, OUTCOME_BYTES_MAX};
use crate::types::{Micros, SessionId};

const RECORD: u64 = 64;
const OPENED: u32 = 1;
const CLOSED: u32 = 2;

/// A session's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session<'a> {
    /// Its number.
    pub id: SessionId,
    /// The client's key; empty for none.
    pub key: &'a str,
    /// The agent's name; empty if no client opened the session.
    pub agent: &'a str,
    /// When a client opened it; else the time of its first event.
    pub opened: Micros,
    /// True if a client opened it; false if only its events name it.
    pub explicit: bool,
    /// The time of its last event; without events, when it was opened.
    pub last_event: Micros,
    /// When it was closed; `None` if it is open.
    pub closed: Option<Micros>,
    /// The outcome that the client gave; may be empty.
    pub outcome: &'a str,
}

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct SessionIndex<'a> {
    records: Records<'a, 16, RECORD>,
    nodes: u64,
}

impl<'a> SessionIndex<'a> {
    /// Checks the counts and the bounds of the arrays.
    pub fn read(section: Section<'a>, nodes: u64) -> Result<Self> {
        let found = section.u64(8)?;
        if found != nodes {
            return Err(section.bad(8, format!("it covers {found} events, the base has {nodes}")));
        }
        let records = Records::read(section)?;
        let sessions = Self { records, nodes };
        sessions.members_array()?;
        Ok(sessions)
    }

    /// The number of sessions.
    pub fn len(&self) -> u64 {
        self.records.count
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.records.count == 0
    }

    fn keys_at(&self) -> u64 {
        self.records.end()
    }

    fn starts(&self) -> Result<&'a [u32]> {
        self.records.section.array(
            self.keys_at() + 4 * self.records.count,
            self.records.count + 1,
        )
    }

    fn members_array(&self) -> Result<&'a [u32]> {
        self.records
            .section
            .array(self.keys_at() + 8 * self.records.count + 4, self.nodes)
    }

    /// The session at a position, by number.
    pub fn at(&self, position: u64) -> Result<Session<'a>> {
        if position >= self.records.count {
            return Err(self
                .records
                .section
                .bad(0, format!("no session at position {position}")));
        }
        let record = self.records.at(position)?;
        let flags = get_u32(record, 4);
        let texts = self.keys_at() + 8 * self.records.count + 4 + 4 * self.nodes;
        let mut at = texts.saturating_add(get_u64(record, 32));
        let mut text = |len: u32, max: usize| {
            if len as usize > max {
                let why = format!("a text of {len} bytes exceeds the limit of {max}");
                return Err(self.records.section.bad(self.records.offset(position), why));
            }
            let text = self.records.section.str(at, len.into());
            at = at.saturating_add(len.into());
            text
        };
        Ok(Session {
            id: SessionId(get_u32(record, 0)),
            key: text(get_u32(record, 40), NAME_BYTES_MAX)?,
            agent: text(get_u32(record, 44), NAME_BYTES_MAX)?,
            opened: Micros(get_i64(record, 8)),
            explicit: flags & OPENED != 0,
            last_event: Micros(get_i64(record, 16)),
            closed: (flags & CLOSED != 0).then(|| Micros(get_i64(record, 24))),
            outcome: text(get_u32(record, 48), OUTCOME_BYTES_MAX)?,
        })
    }

    /// Looks up the position of a session.
    pub fn find(&self, id: SessionId) -> Result<Option<u64>> {
        let at = self.position_from(id)?;
        Ok((at < self.records.count && get_u32(self.records.at(at)?, 0) == id.0).then_some(at))
    }

    /// The position of the first session whose number is at least `id`.
    pub fn position_from(&self, id: SessionId) -> Result<u64> {
        self.records.partition(|record| get_u32(record, 0) < id.0)
    }

    /// Looks up the position of a session by the client's key.
    pub fn find_key(&self, key: &str) -> Result<Option<u64>> {
        let order = self
            .records
            .section
            .array::<u32>(self.keys_at(), self.records.count)?;
        let (mut from, mut to) = (0, order.len());
        while from < to {
            let middle = (from + to) / 2;
            match self.at(order[middle].into())?.key.cmp(key) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(order[middle].into())),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        Ok(None)
    }

    /// The events of the session at a position, ascending.
    pub fn members(&self, position: u64) -> Result<&'a [u32]> {
        let starts = self.starts()?;
        let (from, to) = match starts.get(position as usize..).unwrap_or_default() {
            [from, to, ..] => (*from, *to),
            _ => {
                return Err(self
                    .records
                    .section
                    .bad(0, format!("no session at position {position}")));
            }
        };
        range(
            &self.records.section,
            self.members_array()?,
            from.into(),
            to.into(),
        )
    }
}

/// Writes the section. `sessions` ascend by number; `newer` has, for each event after those of the older base, the
/// index of its session.
pub fn write(
    body: &mut Body<'_>,
    sessions: &[Session<'_>],
    older: Option<SessionIndex<'_>>,
    newer: &[u32],
) -> Result<()> {
    let first = older.map_or(0, |o| o.nodes);
    body.u64(sessions.len() as u64)?;
    body.u64(first + newer.len() as u64)?;
    let mut texts = Vec::new();
    for s in sessions {
        body.u32(s.id.0)?;
        body.u32((u32::from(s.explicit) * OPENED) | (u32::from(s.closed.is_some()) * CLOSED))?;
        body.i64(s.opened.0)?;
        body.i64(s.last_event.0)?;
        body.i64(s.closed.map_or(0, |t| t.0))?;
        body.u64(texts.len() as u64)?;
        for text in [s.key, s.agent, s.outcome] {
            body.u32(text.len() as u32)?;
            texts.extend_from_slice(text.as_bytes());
        }
        body.array(&[0u32; 3])?;
    }
    let mut order: Vec<u32> = (0..sessions.len() as u32).collect();
    order.sort_by_key(|&i| (sessions[i as usize].key, i));
    body.array(&order)?;
    let grouped = super::kinds::group(sessions.len(), newer.iter().map(|&s| s as usize));
    let (mut starts, mut members) = (vec![0u32], Vec::new());
    for (s, bounds) in sessions.iter().zip(grouped.starts.windows(2)) {
        if let Some(older) = older
            && let Some(position) = older.find(s.id)?
        {
            members.extend_from_slice(older.members(position)?);
        }
        let added = &grouped.members[bounds[0] as usize..bounds[1] as usize];
        members.extend(added.iter().map(|&at| first as u32 + at));
        starts.push(members.len() as u32);
    }
    if members.len() as u64 != first + newer.len() as u64 {
        let why = format!("the sessions have {} events in all", members.len());
        return Err(Error::corrupt("sessions", 0, why));
    }
    body.array(&starts)?;
    body.array(&members)?;
    body.bytes(&texts)
}
