//! How far a view reaches.

use crate::types::{Lsn, Micros};

/// A moment in the history of a brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AsOf {
    /// After the last commit whose LSN is not greater.
    Lsn(Lsn),
    /// After the last commit whose recorded time is not later.
    Time(Micros),
}

/// How far a view reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    /// That of the newest commit.
    pub(super) lsn: Lsn,
    /// Recorded time of that commit.
    pub(super) time: Micros,
    /// Ids below this are visible.
    pub(super) nodes: u64,
}
