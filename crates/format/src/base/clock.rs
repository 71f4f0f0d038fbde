//! Section 0x48, clock: the recorded time of every commit.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | commits c |
//! | 8 | u64 × c | LSNs, ascending |
//! | | i64 × c | recorded times, ascending |

use super::section::Section;
use crate::base::image::Body;
use crate::error::Result;
use crate::types::{Lsn, Micros};

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct CommitClock<'a> {
    lsns: &'a [u64],
    times: &'a [i64],
}

impl<'a> CommitClock<'a> {
    /// Checks the bounds of the arrays.
    pub fn read(section: Section<'a>) -> Result<Self> {
        let count = section.u64(0)?;
        let lsns = section.array(8, count)?;
        Ok(Self {
            lsns,
            times: section.array(8 + 8 * count, count)?,
        })
    }

    /// The number of commits.
    pub fn len(&self) -> usize {
        self.lsns.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.lsns.is_empty()
    }

    /// The commit at a position.
    pub fn get(&self, position: usize) -> Option<(Lsn, Micros)> {
        Some((
            Lsn(*self.lsns.get(position)?),
            Micros(*self.times.get(position)?),
        ))
    }

    /// The newest commit at or before an LSN.
    pub fn at_lsn(&self, lsn: Lsn) -> Option<(Lsn, Micros)> {
        self.get(self.lsns.partition_point(|&l| l <= lsn.0).checked_sub(1)?)
    }

    /// The newest commit at or before a time.
    pub fn at_time(&self, time: Micros) -> Option<(Lsn, Micros)> {
        self.get(
            self.times
                .partition_point(|&t| t <= time.0)
                .checked_sub(1)?,
        )
    }
}

/// Writes the section: the commits of an older base, then newer ones.
pub fn write(
    body: &mut Body<'_>,
    older: Option<CommitClock<'_>>,
    newer: &[(Lsn, Micros)],
) -> Result<()> {
    let (lsns, times) = older.map_or((&[][..], &[][..]), |clock| (clock.lsns, clock.times));
    body.u64((lsns.len() + newer.len()) as u64)?;
    body.array(lsns)?;
    body.array(&newer.iter().map(|c| c.0.0).collect::<Vec<u64>>())?;
    body.array(times)?;
    body.array(&newer.iter().map(|c| c.1.0).collect::<Vec<i64>>())
}
