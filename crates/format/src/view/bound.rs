//! How far a view reaches.

use crate::types::{Lsn, Micros};

/// A moment in the history of a brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AsOf {
    /// After this commit.
    Lsn(Lsn),
    /// At this recorded time: after the last commit that is not past it.
    Time(Micros),
}

/// How far a view reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    /// The newest commit.
    pub(super) lsn: Lsn,
    /// Its recorded time.
    pub(super) time: Micros,
    /// Events: ids below are in.
    pub(super) nodes: u64,
}
