//! Ids, times, types and flags.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// An event's id: its position in the node table.
    NodeId(u64)
}
id! {
    /// A frame's number in the journal; 0 is "before the first frame". The LSN of a commit is that of its last frame.
    Lsn(u64)
}
id! {
    /// A session of one brain.
    SessionId(u32)
}
id! {
    /// An actor of one brain: the principal and agent of commits. 0 is unknown.
    ActorId(u32)
}
id! {
    /// The number of a base of one instance, from 1.
    Generation(u64)
}
id! {
    /// A time in microseconds since 1970-01-01 UTC; negative before it.
    Micros(i64)
}

impl Micros {
    /// The largest time.
    pub const MAX: Self = Self(i64::MAX);
    /// The smallest time.
    pub const MIN: Self = Self(i64::MIN);
    /// One day.
    pub const DAY: i64 = 24 * 3600 * 1_000_000;
}

/// The type of an event. Values above 5 are opaque and preserved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(pub u8);

impl EventType {
    /// Something observed.
    pub const FACT: Self = Self(0);
    /// Something chosen.
    pub const DECISION: Self = Self(1);
    /// Something concluded.
    pub const INFERENCE: Self = Self(2);
    /// Replaces a belief.
    pub const CORRECTION: Self = Self(3);
    /// How to do something.
    pub const SKILL: Self = Self(4);
    /// The summary of a session or an experience.
    pub const EPISODE: Self = Self(5);
    /// The types with a defined meaning, by value.
    pub const ALL: [Self; 6] = [
        Self::FACT,
        Self::DECISION,
        Self::INFERENCE,
        Self::CORRECTION,
        Self::SKILL,
        Self::EPISODE,
    ];
    const NAMES: [&str; 6] = [
        "fact",
        "decision",
        "inference",
        "correction",
        "skill",
        "episode",
    ];

    /// True if the value has a defined meaning.
    pub const fn is_known(self) -> bool {
        self.0 < 6
    }

    /// The type of a name in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .position(|&n| n == name)
            .map(|i| Self(i as u8))
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(self.0 as usize) {
            Some(name) => f.pad(name),
            None => f.pad(&format!("type-{}", self.0)),
        }
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of an edge, read from source to target. Values above 6 are opaque and preserved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeType(pub u8);

impl EdgeType {
    /// The source was caused by the target.
    pub const CAUSED_BY: Self = Self(0);
    /// The target is evidence for the source.
    pub const SUPPORTS: Self = Self(1);
    /// Source and target are in conflict.
    pub const CONTRADICTS: Self = Self(2);
    /// The source replaces the target.
    pub const SUPERSEDES: Self = Self(3);
    /// Source and target are associated.
    pub const RELATED_TO: Self = Self(4);
    /// The source belongs to the target.
    pub const PART_OF: Self = Self(5);
    /// The source follows the target in time.
    pub const TEMPORAL_NEXT: Self = Self(6);
    /// The types with a defined meaning, by value.
    pub const ALL: [Self; 7] = [
        Self::CAUSED_BY,
        Self::SUPPORTS,
        Self::CONTRADICTS,
        Self::SUPERSEDES,
        Self::RELATED_TO,
        Self::PART_OF,
        Self::TEMPORAL_NEXT,
    ];
    const NAMES: [&str; 7] = [
        "caused-by",
        "supports",
        "contradicts",
        "supersedes",
        "related-to",
        "part-of",
        "temporal-next",
    ];

    /// True if the value has a defined meaning.
    pub const fn is_known(self) -> bool {
        self.0 < 7
    }

    /// The type of a name in lower case; `_` counts as `-`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('_', "-");
        Self::NAMES
            .iter()
            .position(|&n| n == name)
            .map(|i| Self(i as u8))
    }
}

impl fmt::Display for EdgeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(self.0 as usize) {
            Some(name) => f.pad(name),
            None => f.pad(&format!("type-{}", self.0)),
        }
    }
}

impl fmt::Debug for EdgeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The flags byte of a node record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// The event has a vector.
    pub const VECTOR: Self = Self(1);
    /// The event has attributes.
    pub const ATTRIBUTES: Self = Self(2);
    /// The event does not fade.
    pub const PINNED: Self = Self(4);
    /// The event is hidden.
    pub const FORGOTTEN: Self = Self(8);
    /// The event is summarised by an episode.
    pub const COMPRESSED: Self = Self(16);
    /// The event's text, vector and attributes were erased.
    pub const ERASED: Self = Self(32);
    /// Every flag with a defined meaning.
    pub const KNOWN: Self = Self(63);

    /// True if every flag of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These flags without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// `other` set or cleared.
    #[must_use]
    pub const fn set(self, other: Self, on: bool) -> Self {
        if on {
            self.with(other)
        } else {
            self.without(other)
        }
    }
}

macro_rules! by_name {
    ($name:ident, $what:literal) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let name = String::deserialize(d)?;
                Self::from_name(&name)
                    .or_else(|| {
                        name.strip_prefix("type-")
                            .and_then(|n| n.parse().ok())
                            .map(Self)
                    })
                    .ok_or_else(|| {
                        serde::de::Error::custom(format!(concat!("unknown ", $what, " {:?}"), name))
                    })
            }
        }
    };
}

by_name!(EventType, "event type");
by_name!(EdgeType, "edge type");
