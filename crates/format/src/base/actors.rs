//! Section 0x44, actors: who committed.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | actors a; their numbers are 1..=a |
//! | 8 | [u32; 4] × a | principal: offset, length; agent: offset, length, into the texts |
//! | | | texts |

use super::section::Section;
use crate::base::image::Body;
use crate::error::Result;
use crate::limits::NAME_BYTES_MAX;
use crate::types::ActorId;

/// The author of a commit: the authenticated principal, and the agent name that the client claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Actor<'a> {
    /// Such as `uid:1000`.
    pub principal: &'a str,
    /// Such as `claude-code`.
    pub agent: &'a str,
}

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Actors<'a> {
    section: Section<'a>,
    count: u64,
}

impl<'a> Actors<'a> {
    /// Checks that the section has all of its records.
    pub fn read(section: Section<'a>) -> Result<Self> {
        let count = section.u64(0)?;
        section.array::<[u32; 4]>(8, count)?;
        Ok(Self { section, count })
    }

    /// The number of actors.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The actor with this id; `None` if the section has no such actor.
    pub fn get(&self, id: ActorId) -> Result<Option<Actor<'a>>> {
        let records = self.section.array::<[u32; 4]>(8, self.count)?;
        let Some(&[p, p_len, a, a_len]) = (id.0 as usize)
            .checked_sub(1)
            .and_then(|at| records.get(at))
        else {
            return Ok(None);
        };
        let texts = 8 + self.count * 16;
        let text = |at: u32, len: u32| {
            if len as usize > NAME_BYTES_MAX {
                let why = format!("a name of {len} bytes exceeds the limit of {NAME_BYTES_MAX}");
                return Err(self.section.bad(8, why));
            }
            self.section.str(texts + u64::from(at), len.into())
        };
        Ok(Some(Actor {
            principal: text(p, p_len)?,
            agent: text(a, a_len)?,
        }))
    }
}

/// Writes the section.
pub fn write<'a>(body: &mut Body<'_>, actors: &[Actor<'a>]) -> Result<()> {
    body.u64(actors.len() as u64)?;
    let mut texts = Vec::new();
    for actor in actors {
        let mut record = [0u32; 4];
        for (i, text) in [actor.principal, actor.agent].into_iter().enumerate() {
            record[2 * i] = texts.len() as u32;
            record[2 * i + 1] = text.len() as u32;
            texts.extend_from_slice(text.as_bytes());
        }
        body.array(&record)?;
    }
    body.bytes(&texts)
}
