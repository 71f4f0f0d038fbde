//! What histories came to.

use std::collections::BTreeMap;
use std::fmt;

/// What is under way when a machine ends, or an operation of the disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum During {
    /// The brain is made.
    Creation,
    /// It is opened, and recovered.
    Opening,
    /// Requests are committed.
    Commit,
    /// A new generation is made, or takes the old one's place.
    Checkpoint,
    /// The brain is closed in order.
    Closing,
    /// Nothing.
    Rest,
}

/// Counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct HistoryCounts {
    pub(crate) histories: u64,
    pub(crate) steps: u64,
    pub(crate) groups: u64,
    pub(crate) requests: u64,
    pub(crate) done: u64,
    pub(crate) refused: u64,
    pub(crate) replayed: u64,
    /// Requests without an answer that were found done, or not.
    pub(crate) found: u64,
    pub(crate) lost: u64,
    pub(crate) power_cuts: BTreeMap<During, u64>,
    pub(crate) kills: BTreeMap<During, u64>,
    pub(crate) faults: BTreeMap<During, u64>,
    pub(crate) closed: u64,
    pub(crate) opened: u64,
    pub(crate) recovered: u64,
    pub(crate) adopted: u64,
    pub(crate) checkpoints: u64,
    /// Of them, those with commits between their beginning and their end.
    pub(crate) beside: u64,
    pub(crate) given_up: u64,
    pub(crate) copies: u64,
    /// Views that were compared, each at a moment of the past as well.
    pub(crate) compared: u64,
    /// Events whose bytes were looked for.
    pub(crate) erased: u64,
}

impl HistoryCounts {
    /// Adds what other histories came to.
    pub(crate) fn add(&mut self, other: &Self) {
        for (own, more) in [
            (&mut self.histories, other.histories),
            (&mut self.steps, other.steps),
            (&mut self.groups, other.groups),
            (&mut self.requests, other.requests),
            (&mut self.done, other.done),
            (&mut self.refused, other.refused),
            (&mut self.replayed, other.replayed),
            (&mut self.found, other.found),
            (&mut self.lost, other.lost),
            (&mut self.closed, other.closed),
            (&mut self.opened, other.opened),
            (&mut self.recovered, other.recovered),
            (&mut self.adopted, other.adopted),
            (&mut self.checkpoints, other.checkpoints),
            (&mut self.beside, other.beside),
            (&mut self.given_up, other.given_up),
            (&mut self.copies, other.copies),
            (&mut self.compared, other.compared),
            (&mut self.erased, other.erased),
        ] {
            *own += more;
        }
        for (own, more) in [
            (&mut self.power_cuts, &other.power_cuts),
            (&mut self.kills, &other.kills),
            (&mut self.faults, &other.faults),
        ] {
            for (during, count) in more {
                *own.entry(*during).or_default() += count;
            }
        }
    }
}

fn sum(of: &BTreeMap<During, u64>) -> u64 {
    of.values().sum()
}

impl fmt::Display for HistoryCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} histories, {} steps", self.histories, self.steps)?;
        writeln!(
            f,
            "{} requests in {} groups: {} done, {} refused, {} answered again",
            self.requests, self.groups, self.done, self.refused, self.replayed
        )?;
        for (what, of) in [
            ("power cuts", &self.power_cuts),
            ("kills", &self.kills),
            ("failed operations", &self.faults),
        ] {
            writeln!(f, "{} {what}: {of:?}", sum(of))?;
        }
        writeln!(
            f,
            "{} requests without an answer were done, {} not",
            self.found, self.lost
        )?;
        writeln!(
            f,
            "opened {} times, recovered {} of them, adopted {}, closed in order {}",
            self.opened, self.recovered, self.adopted, self.closed
        )?;
        writeln!(
            f,
            "{} checkpoints, {} with commits beside, {} given up",
            self.checkpoints, self.beside, self.given_up
        )?;
        write!(
            f,
            "{} copies, {} views compared now and in the past, {} erased events looked for",
            self.copies, self.compared, self.erased
        )
    }
}
