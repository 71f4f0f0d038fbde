//! Section 0x49, requests: stored answers, so that a retry is answered and not executed.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | requests r |
//! | 8 | u64 | 0; earlier versions wrote milliseconds of ids here, which no reader looks at |
//! | 16 | record × r | by id |
//! | | | answers |
//!
//! A record is 56 bytes: 0 [u8; 16] id · 16 u128 hash of the body, or 0 · 32 u64 LSN · 40 u64 answer's offset · 48
//! u32 its length · 52 zeros.

use uuid::Uuid;

use super::records::{Records, records};
use super::section::Section;
use crate::base::image::Body;
use crate::bytes::{get_u32, get_u64, put_u32, put_u64};
use crate::error::Result;
use crate::types::Lsn;

const RECORD: u64 = 56;

/// Replaces the hash of a request's body after an erase, because the hash would let a reader guess the erased value.
/// Then the id alone identifies the request.
pub const FORGOTTEN: u128 = 0;

/// A request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRequest<'a> {
    /// A UUIDv7. Its time is the sender's, and means nothing here.
    pub id: Uuid,
    /// XXH3-128 of its body, or [`FORGOTTEN`].
    pub body: u128,
    /// The commit.
    pub lsn: Lsn,
    /// The answer, as JSON.
    pub answer: &'a [u8],
}

records!(Requests: "requests", 16 + RECORD);

impl<'a> Requests<'a> {
    /// The request at a position, by id.
    pub fn at(&self, position: u64) -> Result<StoredRequest<'a>> {
        let record = self.0.at(position)?;
        let answers = self.0.end();
        let answer = self.0.section.slice(
            answers.saturating_add(get_u64(record, 40)),
            get_u32(record, 48).into(),
        )?;
        Ok(StoredRequest {
            id: Uuid::from_bytes(std::array::from_fn(|i| record[i])),
            body: u128::from_le_bytes(std::array::from_fn(|i| record[16 + i])),
            lsn: Lsn(get_u64(record, 32)),
            answer,
        })
    }

    /// Looks up a request by id.
    pub fn find(&self, id: &Uuid) -> Result<Option<StoredRequest<'a>>> {
        let from = self
            .0
            .partition(|record| record[..16] < id.as_bytes()[..])?;
        if from == self.0.count {
            return Ok(None);
        }
        let request = self.at(from)?;
        Ok((request.id == *id).then_some(request))
    }
}

/// Writes the section. The requests must ascend by id.
pub fn write(body: &mut Body<'_>, requests: &[StoredRequest<'_>]) -> Result<()> {
    body.u64(requests.len() as u64)?;
    body.u64(0)?;
    let mut offset = 0u64;
    for r in requests {
        let mut record = [0; RECORD as usize];
        record[..16].copy_from_slice(r.id.as_bytes());
        record[16..32].copy_from_slice(&r.body.to_le_bytes());
        put_u64(&mut record, 32, r.lsn.0);
        put_u64(&mut record, 40, offset);
        put_u32(&mut record, 48, r.answer.len() as u32);
        body.bytes(&record)?;
        offset += r.answer.len() as u64;
    }
    requests.iter().try_for_each(|r| body.bytes(r.answer))
}
