//! Section 0x5A, change stamps: when values were changed that merges brought.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | stamps s |
//! | 8 | record × s | ascending by what, then event, target, field or type |
//!
//! A record is 24 bytes: 0 u32 event, source of an edge, or session · 4 u32 target of an edge, or 0 · 8 u8 what
//! (1 field, 2 edge, 3 session) · 9 u8 field (1 attributes, 2 vector, 4 decay rate, 8 pinned, 16 forgotten), or type
//! of an edge · 10 zeros · 16 i64 time.

use std::collections::BTreeMap;

use super::records::{Records, records};
use super::section::Section;
use crate::base::image::Body;
use crate::bytes::{get_i64, get_u32};
use crate::error::Result;
use crate::stamp::{EventFields, StampTarget};
use crate::types::{EdgeType, Micros, NodeId, SessionId};

const RECORD: u64 = 24;
const FIELD: u8 = 1;
const EDGE: u8 = 2;
const SESSION: u8 = 3;

records!(ChangeStamps: "stamps", 8 + RECORD);

impl<'a> ChangeStamps<'a> {
    /// The stamp at a position.
    pub fn at(&self, position: u64) -> Result<(StampTarget, Micros)> {
        let record = self.0.at(position)?;
        let (first, second) = (get_u32(record, 0), get_u32(record, 4));
        let of = match (record[8], EventFields(record[9])) {
            (FIELD, field) if EventFields::EACH.contains(&field) => {
                StampTarget::Field(NodeId(first.into()), field)
            }
            (EDGE, EventFields(edge_type)) => StampTarget::Edge(
                NodeId(first.into()),
                NodeId(second.into()),
                EdgeType(edge_type),
            ),
            (SESSION, _) => StampTarget::Session(SessionId(first)),
            (what, field) => {
                let why = format!("a stamp of an unknown kind ({what}, field {})", field.0);
                return Err(self.0.section.bad(self.0.offset(position) + 8, why));
            }
        };
        Ok((of, Micros(get_i64(record, 16))))
    }

    /// Every stamp, in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<(StampTarget, Micros)>> + use<'a> {
        let this = *self;
        (0..self.0.count).map(move |position| this.at(position))
    }
}

/// Writes the section.
pub fn write(body: &mut Body<'_>, stamps: &BTreeMap<StampTarget, Micros>) -> Result<()> {
    body.u64(stamps.len() as u64)?;
    for (of, at) in stamps {
        // Ids fit 32 bits: NODES_MAX.
        let (ids, kind) = match *of {
            StampTarget::Field(id, field) => ([id.0 as u32, 0], [FIELD, field.0]),
            StampTarget::Edge(source, target, edge_type) => {
                ([source.0 as u32, target.0 as u32], [EDGE, edge_type.0])
            }
            StampTarget::Session(id) => ([id.0, 0], [SESSION, 0]),
        };
        body.array(&ids)?;
        body.bytes(&kind)?;
        body.bytes(&[0; 6])?;
        body.i64(at.0)?;
    }
    Ok(())
}
