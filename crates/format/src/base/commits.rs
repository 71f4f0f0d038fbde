//! Section 0x4A, recent commits: the newest frames of earlier journals, for subscribers that resume after a checkpoint.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | frames f |
//! | 8 | record × f | by LSN |
//! | | | payloads, each at a multiple of 8 from the section's start |
//!
//! A record is 40 bytes: 0 u64 LSN · 8 i64 recorded time · 16 u32 actor · 20 u8 kind · 21 u8 more · 22 zeros
//! · 24 u64 payload's position in the section · 32 u64 its length.

use std::borrow::Cow;

use super::records::{Records, records};
use super::section::Section;
use crate::base::image::Body;
use crate::bytes::{get_i64, get_u32, get_u64};
use crate::error::Result;
use crate::journal::frame::{Header, Kind};
use crate::types::{ActorId, Lsn, Micros};

const RECORD: u64 = 40;

/// A frame of an earlier journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFrame<'a> {
    /// The frame's header.
    pub header: Header,
    /// The payload; a checkpoint rewrites it without erased values.
    pub payload: Cow<'a, [u8]>,
}

records!(RecentCommits: "frames", 8 + RECORD);

impl<'a> RecentCommits<'a> {
    /// The frame at a position, by LSN.
    pub fn at(&self, position: u64) -> Result<StoredFrame<'a>> {
        let record = self.0.at(position)?;
        let kind = Kind::from_u8(record[20]).ok_or_else(|| {
            let why = format!("unknown frame kind {}", record[20]);
            self.0.section.bad(self.0.offset(position), why)
        })?;
        Ok(StoredFrame {
            header: Header {
                kind,
                more: record[21] == 1,
                lsn: Lsn(get_u64(record, 0)),
                time: Micros(get_i64(record, 8)),
                actor: ActorId(get_u32(record, 16)),
            },
            payload: Cow::Borrowed(
                self.0
                    .section
                    .slice(get_u64(record, 24), get_u64(record, 32))?,
            ),
        })
    }

    /// The position of the first frame after an LSN.
    pub fn after(&self, lsn: Lsn) -> Result<u64> {
        self.0.partition(|record| get_u64(record, 0) <= lsn.0)
    }
}

/// Writes the section.
pub fn write(body: &mut Body<'_>, frames: &[StoredFrame<'_>]) -> Result<()> {
    body.u64(frames.len() as u64)?;
    let mut at = 8 + frames.len() as u64 * RECORD;
    for frame in frames {
        body.u64(frame.header.lsn.0)?;
        body.i64(frame.header.time.0)?;
        body.u32(frame.header.actor.0)?;
        body.bytes(&[frame.header.kind as u8, u8::from(frame.header.more), 0, 0])?;
        body.u64(at)?;
        body.u64(frame.payload.len() as u64)?;
        at += (frame.payload.len() as u64).next_multiple_of(8);
    }
    for frame in frames {
        body.bytes(&frame.payload)?;
        body.align(8)?;
    }
    Ok(())
}
