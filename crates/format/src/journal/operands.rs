//! Values that operations carry and that have several parts.

use crate::bytes::{get_u32, get_u64};
use crate::types::{EventType, Flags, Micros, NodeId, SessionId};

/// A new event.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNode<'a> {
    /// Its id: the number of events before it.
    pub id: NodeId,
    /// Its type; unknown types are preserved.
    pub event_type: EventType,
    /// 0 for none.
    pub session: SessionId,
    /// Recorded time, not before that of the event before it.
    pub created_at: Micros,
    /// When it happened.
    pub event_time: Option<Micros>,
    /// 0..=1.
    pub confidence: f32,
    /// Per day; 0 is the type's default.
    pub lambda: f32,
    /// Empty for an erased event.
    pub text: &'a str,
    /// Attributes as JSON; empty for none.
    pub attributes: &'a str,
    /// f32 little-endian, of the brain's dimension; empty for none.
    pub vector: &'a [u8],
    /// State of an imported event.
    pub carried: Option<ImportedState>,
}

/// State that an imported event has and a new one does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportedState {
    /// Pinned, forgotten, compressed, erased.
    pub flags: Flags,
    /// How often it was touched.
    pub access_count: u32,
    /// When it was last touched.
    pub last_accessed: Micros,
    /// Strength at the last decay run.
    pub decay_score: f32,
}

/// The entries of a touch: (id: u64, times: u32), 12 bytes each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touches<'a>(&'a [u8]);

impl<'a> Touches<'a> {
    /// Bytes of one entry.
    pub const ENTRY: usize = 12;

    /// `None` if the length is not a multiple of `ENTRY`.
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        bytes
            .len()
            .is_multiple_of(Self::ENTRY)
            .then_some(Self(bytes))
    }

    /// Encodes entries.
    pub fn encode(entries: &[(NodeId, u32)]) -> Vec<u8> {
        entries
            .iter()
            .flat_map(|(id, n)| id.0.to_le_bytes().into_iter().chain(n.to_le_bytes()))
            .collect()
    }

    /// The encoded entries.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, u32)> + 'a {
        self.0
            .chunks_exact(Self::ENTRY)
            .map(|e| (NodeId(get_u64(e, 0)), get_u32(e, 8)))
    }
}
