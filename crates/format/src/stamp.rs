//! Stamps: when a value was changed in the brain where it was changed.
//!
//! A change made here has the time of its commit, which history and journal say. A value that a merge brought has its
//! stamp beside it: an operation in the journal, a record of section 0x5A in the base.
//! Not here: which of two values a merge takes (`amem_store`).

use crate::types::{EdgeType, NodeId, SessionId};

/// Fields of an event that can be changed after its creation, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EventFields(pub u8);

impl EventFields {
    /// The JSON object.
    pub const ATTRIBUTES: Self = Self(1);
    /// The vector.
    pub const VECTOR: Self = Self(2);
    /// The decay rate.
    pub const LAMBDA: Self = Self(4);
    /// Whether the event fades.
    pub const PINNED: Self = Self(8);
    /// Whether the event is hidden.
    pub const FORGOTTEN: Self = Self(16);
    /// Each field, by bit.
    pub const EACH: [Self; 5] = [
        Self::ATTRIBUTES,
        Self::VECTOR,
        Self::LAMBDA,
        Self::PINNED,
        Self::FORGOTTEN,
    ];
    /// All fields.
    pub const KNOWN: Self = Self(31);

    /// True if every field of `other` is among these.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These fields and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Their names, as the operations spell them.
    pub fn names(self) -> Vec<&'static str> {
        const NAMES: [&str; 5] = ["attributes", "vector", "lambda", "pinned", "forgotten"];
        let named = Self::EACH.into_iter().zip(NAMES);
        let these = named.filter(|(field, _)| self.has(*field));
        these.map(|(_, name)| name).collect()
    }

    /// The fields one by one.
    pub fn iter(self) -> impl Iterator<Item = Self> {
        Self::EACH.into_iter().filter(move |field| self.has(*field))
    }
}

/// What a stamp belongs to. The order is that of section 0x5A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StampTarget {
    /// One field of an event.
    Field(NodeId, EventFields),
    /// An edge, or its retraction: source, target, type.
    Edge(NodeId, NodeId, EdgeType),
    /// The last opening or close of a session.
    Session(SessionId),
}
