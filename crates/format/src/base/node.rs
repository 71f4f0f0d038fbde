//! A node record: 72 bytes at `node table + 72·N` (FORMAT.md, "Node record").

use crate::bytes::{get_f32, get_u16, get_u32, get_u64, put_f32, put_u16, put_u32, put_u64};
use crate::error::{Error, Result};
use crate::types::{EventType, Flags, Micros, NodeId, SessionId};

/// Bytes of a record.
pub const LEN: usize = 72;

/// A node record, decoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeRecord {
    /// The id; in files of amemd the record's position.
    pub id: NodeId,
    /// Its type.
    pub event_type: EventType,
    /// Flags of amemd; zero in files of the reference.
    pub flags: Flags,
    /// Recorded time.
    pub created_at: Micros,
    /// Its session.
    pub session: SessionId,
    /// Effective confidence.
    pub confidence: f32,
    /// How often it was touched.
    pub access_count: u32,
    /// When it was touched last.
    pub last_accessed: Micros,
    /// Strength at the last decay run.
    pub decay_score: f32,
    /// Position of the text in the content block.
    pub content_offset: u64,
    /// Compressed bytes of the text; 0 for empty.
    pub content_len: u32,
    /// Where its first edge is, in bytes from the start of the edge table.
    pub edge_offset: u64,
    /// The number of outgoing edges.
    pub edge_count: u32,
    /// Decay rate per day; 0 stands for the type's default.
    pub lambda: f32,
}

impl NodeRecord {
    /// Encodes the record.
    pub fn encode(&self) -> [u8; LEN] {
        let mut out = [0; LEN];
        put_u64(&mut out, 0, self.id.0);
        out[8] = self.event_type.0;
        out[9] = self.flags.0;
        put_u64(&mut out, 12, self.created_at.0 as u64);
        put_u32(&mut out, 20, self.session.0);
        put_f32(&mut out, 24, self.confidence);
        put_u32(&mut out, 28, self.access_count);
        put_u64(&mut out, 32, self.last_accessed.0 as u64);
        put_f32(&mut out, 40, self.decay_score);
        put_u64(&mut out, 44, self.content_offset);
        put_u32(&mut out, 52, self.content_len);
        put_u64(&mut out, 56, self.edge_offset);
        put_u16(&mut out, 64, self.edge_count as u16);
        put_u16(&mut out, 66, (self.edge_count >> 16) as u16);
        put_f32(&mut out, 68, self.lambda);
        out
    }

    /// Decodes the record at `position` in the file.
    ///
    /// Fails for floats that are not finite and times out of range. Callers check offsets when they follow them.
    #[inline]
    pub fn decode(bytes: &[u8; LEN], position: u64) -> Result<Self> {
        RawNode(bytes).checked(position).map(RawNode::decode)
    }
}

/// A checked record in place; each accessor decodes one field.
#[derive(Debug, Clone, Copy)]
pub struct RawNode<'a>(&'a [u8; LEN]);

#[allow(missing_docs, reason = "the fields are those of `NodeRecord`")]
impl<'a> RawNode<'a> {
    /// Checks what `NodeRecord::decode` checks, and that the record has this id.
    #[inline]
    pub fn check(bytes: &'a [u8; LEN], id: NodeId, position: u64) -> Result<Self> {
        let raw = Self(bytes).checked(position)?;
        if raw.id() != id {
            return Err(raw.wrong_id(position));
        }
        // Zeros pass for event 0, and for no other.
        if id == NodeId(0) && *bytes == [0; LEN] {
            return Err(zeros(position));
        }
        Ok(raw)
    }

    #[inline]
    fn checked(self, position: u64) -> Result<Self> {
        let is_finite = self.confidence().is_finite()
            & self.decay_score().is_finite()
            & self.lambda().is_finite();
        if is_finite & (self.created_at().0 | self.last_accessed().0 >= 0) {
            Ok(self)
        } else {
            Err(out_of_range(position))
        }
    }

    #[cold]
    fn wrong_id(self, position: u64) -> Error {
        let why = format!("its id is {}", self.id());
        Error::corrupt("node record", position, why)
    }

    /// All fields.
    #[inline]
    pub fn decode(self) -> NodeRecord {
        NodeRecord {
            id: self.id(),
            event_type: self.event_type(),
            flags: self.flags(),
            created_at: self.created_at(),
            session: self.session(),
            confidence: self.confidence(),
            access_count: self.access_count(),
            last_accessed: self.last_accessed(),
            decay_score: self.decay_score(),
            content_offset: self.content().0,
            content_len: self.content().1,
            edge_offset: get_u64(self.0, 56),
            edge_count: u32::from(get_u16(self.0, 64)) | u32::from(get_u16(self.0, 66)) << 16,
            lambda: self.lambda(),
        }
    }

    #[inline]
    pub fn id(self) -> NodeId {
        NodeId(get_u64(self.0, 0))
    }

    #[inline]
    pub fn event_type(self) -> EventType {
        EventType(self.0[8])
    }

    #[inline]
    pub fn flags(self) -> Flags {
        flags(self.0)
    }

    #[inline]
    pub fn created_at(self) -> Micros {
        created_at(self.0)
    }

    #[inline]
    pub fn session(self) -> SessionId {
        SessionId(get_u32(self.0, 20))
    }

    #[inline]
    pub fn confidence(self) -> f32 {
        confidence(self.0)
    }

    #[inline]
    pub fn access_count(self) -> u32 {
        get_u32(self.0, 28)
    }

    #[inline]
    pub fn last_accessed(self) -> Micros {
        Micros(get_u64(self.0, 32) as i64)
    }

    #[inline]
    pub fn decay_score(self) -> f32 {
        get_f32(self.0, 40)
    }

    /// Where the text is in the content block, and its compressed bytes.
    #[inline]
    pub fn content(self) -> (u64, u32) {
        (get_u64(self.0, 44), get_u32(self.0, 52))
    }

    #[inline]
    pub fn lambda(self) -> f32 {
        get_f32(self.0, 68)
    }
}

#[cold]
fn zeros(position: u64) -> Error {
    Error::corrupt("node record", position, "all its bytes are zero")
}

#[inline]
pub(super) fn flags(record: &[u8; LEN]) -> Flags {
    Flags(record[9])
}

/// Decodes one field of an unchecked record.
#[inline]
pub fn confidence(record: &[u8; LEN]) -> f32 {
    get_f32(record, 24)
}

#[inline]
pub(super) fn created_at(record: &[u8; LEN]) -> Micros {
    Micros(get_u64(record, 12) as i64)
}

#[cold]
fn out_of_range(position: u64) -> Error {
    Error::corrupt(
        "node record",
        position,
        "a number that is not finite, or a time past the year 294,000",
    )
}

const _: () = assert!(68 + 4 == LEN);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_with_more_edges_than_16_bits_hold() {
        let record = NodeRecord {
            id: NodeId(9),
            event_type: EventType(200),
            flags: Flags(41),
            created_at: Micros(1_700_000_000_000_000),
            session: SessionId(3),
            confidence: 0.25,
            access_count: 7,
            last_accessed: Micros(1_700_000_000_000_001),
            decay_score: 0.5,
            content_offset: 1 << 40,
            content_len: 77,
            edge_offset: 32 * 1000,
            edge_count: 1_000_000,
            lambda: 0.125,
        };
        let bytes = record.encode();
        assert_eq!(NodeRecord::decode(&bytes, 0).unwrap(), record);
        let mut bad = bytes;
        put_f32(&mut bad, 24, f32::NAN);
        assert!(NodeRecord::decode(&bad, 0).is_err());
    }
    #[test]
    fn a_record_of_zeros_is_damage_also_that_of_the_first_event() {
        for id in [0, 9] {
            let refused = RawNode::check(&[0; LEN], NodeId(id), 4096).unwrap_err();
            assert!(matches!(refused, Error::Corrupt { .. }), "{id}: {refused}");
        }
    }
}
