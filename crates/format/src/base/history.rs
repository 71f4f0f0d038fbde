//! Section 0x47, history: earlier values.
//!
//! One record for each change after creation of an event's confidence, flags, decay rate, attributes or vector, and of
//! an edge's weight or existence: the value *before* it. The state at an LSN is the present state with every later
//! record undone.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | records h |
//! | 8 | u64 | index entries i |
//! | 16 | record × h | by LSN |
//! | | (u32, u32) × i | (event, record), ascending; an edge's record stands under both its ends |
//! | | | attributes and vectors before, each at a multiple of 4 from the section's start |
//!
//! A record is 64 bytes: 0 u64 LSN · 8 i64 recorded time · 16 u32 actor · 20 u32 event, or source · 24 u32
//! target · 28 u8 field (1 confidence, 2 flags, 3 decay rate, 4 attributes, 5 vector, 6 edge) · 29 u8 edge
//! type · 30 u8 1 if the edge existed · 31 zero · 32 u32 value before (f32 bits, or flags) · 36 u32 length of
//! bytes before · 40 i64 edge's recorded time before · 48 u64 position of bytes before · 56 zeros.

use super::records::Records;
use super::section::Section;
use crate::base::image::Body;
use crate::bytes::{get_i64, get_u32, get_u64};
use crate::error::Result;
use crate::types::{ActorId, EdgeType, Flags, Lsn, Micros, NodeId};

const RECORD: u64 = 64;

/// One change: when, by which actor, of what, and the value before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PastChange<'a> {
    /// The commit.
    pub lsn: Lsn,
    /// Its recorded time.
    pub time: Micros,
    /// The actor that committed it.
    pub actor: ActorId,
    /// The event, or the edge's source.
    pub target: NodeId,
    /// The value before the change.
    pub before: PriorValue<'a>,
}

/// The value before a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PriorValue<'a> {
    /// Effective confidence.
    Confidence(f32),
    /// Pinned, forgotten, compressed, erased.
    Flags(Flags),
    /// Decay rate per day.
    Lambda(f32),
    /// Attributes as JSON, or none.
    Attributes(Option<&'a str>),
    /// Vector (f32 little-endian), or none.
    Vector(Option<&'a [u8]>),
    /// An edge's state; `existed` is `None` if there was no edge.
    Edge {
        /// Where the edge ends.
        target: NodeId,
        /// The type of the edge.
        edge_type: EdgeType,
        /// Its weight and recorded time, if it existed.
        existed: Option<(f32, Micros)>,
    },
}

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    records: Records<'a, 16, RECORD>,
    index: &'a [[u32; 2]],
}

impl<'a> History<'a> {
    /// Checks that the section has all of its records.
    pub fn read(section: Section<'a>) -> Result<Self> {
        let records = Records::read(section)?;
        let index = section.array(records.end(), section.u64(8)?)?;
        Ok(Self { records, index })
    }

    /// The number of changes.
    pub fn len(&self) -> u64 {
        self.records.count
    }

    /// True if nothing ever changed.
    pub fn is_empty(&self) -> bool {
        self.records.count == 0
    }

    /// The change at a position, by LSN.
    pub fn at(&self, position: u64) -> Result<PastChange<'a>> {
        let at = self.records.offset(position);
        let r = self.records.at(position)?;
        let value = get_u32(r, 32);
        let float = || {
            let value = f32::from_bits(value);
            if value.is_finite() {
                Ok(value)
            } else {
                Err(self
                    .records
                    .section
                    .bad(at + 32, "a number that is not finite"))
            }
        };
        let len = get_u32(r, 36);
        let bytes = || self.records.section.slice(get_u64(r, 48), len.into());
        let before = match r[28] {
            1 => PriorValue::Confidence(float()?),
            2 => PriorValue::Flags(Flags(value as u8)),
            3 => PriorValue::Lambda(float()?),
            4 if len == 0 => PriorValue::Attributes(None),
            4 => {
                PriorValue::Attributes(Some(self.records.section.str(get_u64(r, 48), len.into())?))
            }
            5 if len == 0 => PriorValue::Vector(None),
            5 => PriorValue::Vector(Some(bytes()?)),
            6 => PriorValue::Edge {
                target: NodeId(get_u32(r, 24).into()),
                edge_type: EdgeType(r[29]),
                existed: if r[30] == 1 {
                    Some((float()?, Micros(get_i64(r, 40))))
                } else {
                    None
                },
            },
            field => {
                return Err(self
                    .records
                    .section
                    .bad(at + 28, format!("unknown field {field} of a change")));
            }
        };
        Ok(PastChange {
            lsn: Lsn(get_u64(r, 0)),
            time: Micros(get_i64(r, 8)),
            actor: ActorId(get_u32(r, 16)),
            target: NodeId(get_u32(r, 20).into()),
            before,
        })
    }

    /// The changes of an event and its edges, oldest first.
    pub fn of(&self, id: NodeId) -> impl Iterator<Item = Result<PastChange<'a>>> + use<'a> {
        let this = *self;
        let id = u32::try_from(id.0).unwrap_or(u32::MAX);
        let from = self.index.partition_point(|&[node, _]| node < id);
        self.index[from..]
            .iter()
            .take_while(move |&&[node, _]| node == id)
            .map(move |&[_, record]| this.at(record.into()))
    }

    /// True if neither the event nor its edges ever changed.
    #[inline]
    pub fn is_untouched(&self, id: NodeId) -> bool {
        let id = u32::try_from(id.0).unwrap_or(u32::MAX);
        let from = self.index.partition_point(|&[node, _]| node < id);
        self.index.get(from).is_none_or(|&[node, _]| node != id)
    }

    /// Every change, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Result<PastChange<'a>>> + use<'a> {
        let this = *self;
        (0..self.records.count).map(move |position| this.at(position))
    }
}

/// Writes the section; reads the changes, which must ascend by LSN, twice.
pub fn write<'a, I: Iterator<Item = Result<PastChange<'a>>>>(
    body: &mut Body<'_>,
    changes: impl Fn() -> I,
) -> Result<()> {
    let mut index: Vec<[u32; 2]> = Vec::new();
    let mut count = 0u64;
    for change in changes() {
        let change = change?;
        index.push([change.target.0 as u32, count as u32]);
        if let PriorValue::Edge { target, .. } = change.before
            && target != change.target
        {
            index.push([target.0 as u32, count as u32]);
        }
        count += 1;
    }
    index.sort_unstable();
    body.u64(count)?;
    body.u64(index.len() as u64)?;
    let mut at = 16 + count * RECORD + 8 * index.len() as u64;
    for change in changes() {
        let change = change?;
        let mut r = RecordFields::default();
        let bytes = r.fill(&change.before);
        let position = if bytes.is_empty() { 0 } else { at };
        at += (bytes.len() as u64).next_multiple_of(4);
        body.u64(change.lsn.0)?;
        body.i64(change.time.0)?;
        body.array(&[change.actor.0, change.target.0 as u32, r.other])?;
        body.bytes(&[r.field, r.edge_type, r.existed, 0])?;
        body.array(&[r.value, bytes.len() as u32])?;
        body.i64(r.created_at)?;
        body.u64(position)?;
        body.u64(0)?;
    }
    body.array(&index)?;
    for change in changes() {
        body.bytes(RecordFields::default().fill(&change?.before))?;
        body.align(4)?;
    }
    Ok(())
}

#[derive(Default)]
struct RecordFields {
    other: u32,
    field: u8,
    edge_type: u8,
    existed: u8,
    value: u32,
    created_at: i64,
}

impl RecordFields {
    /// Sets the fields from a change; returns the bytes that are stored after the records.
    fn fill<'a>(&mut self, before: &PriorValue<'a>) -> &'a [u8] {
        match *before {
            PriorValue::Confidence(value) => (self.field, self.value) = (1, value.to_bits()),
            PriorValue::Flags(flags) => (self.field, self.value) = (2, flags.0.into()),
            PriorValue::Lambda(value) => (self.field, self.value) = (3, value.to_bits()),
            PriorValue::Attributes(json) => {
                self.field = 4;
                return json.unwrap_or_default().as_bytes();
            }
            PriorValue::Vector(bytes) => {
                self.field = 5;
                return bytes.unwrap_or_default();
            }
            PriorValue::Edge {
                target,
                edge_type,
                existed,
            } => {
                (self.field, self.other, self.edge_type) = (6, target.0 as u32, edge_type.0);
                if let Some((weight, created_at)) = existed {
                    (self.existed, self.value, self.created_at) =
                        (1, weight.to_bits(), created_at.0);
                }
            }
        }
        &[]
    }
}
