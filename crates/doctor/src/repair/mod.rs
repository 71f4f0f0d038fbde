//! Repairing: what is whole in a damaged brain, as the view of a new one.
//!
//! Three steps, each only where the one before was not enough. A range with a single flipped bit is put
//! right: its checksum tells which bit. Tables and sections that are still damaged are read record by
//! record; what can be read is carried over, indexes are made anew. The journal is followed to its first
//! bad frame.
//!
//! Promises: the file is not touched; ids stay, an event whose record is lost leaves an empty one in its
//! place, forgotten and marked with [`LOST`]; what was erased does not come back; everything that was not carried
//! over, or that may have changed, is in the report.
//! Not here: writing the new file; telling what is damaged without repairing (`crate::verify`).

mod clock;
mod heal;
mod names;
mod reading;
mod rebuild;
mod salvage;
mod times;

pub use salvage::readable;

use std::sync::Arc;

use uuid::Uuid;

use crate::verify::{self, Finding, Tail};
use amem_format::base::Base;
use amem_format::base::identity::Identity;
use amem_format::base_builder::Options;
use amem_format::brain::Brain;
use amem_format::bytes;
use amem_format::error::{Error, Result};
use amem_format::journal::scan;
use amem_format::journal::scan::ScanStep;
use amem_format::mapping::Map;
use amem_format::types::{Generation, Micros};
use amem_format::view::View;

/// The attribute that tells what an event lost in a repair: a list of "record", "time", "text", "vector", "attributes".
pub const LOST: &str = "amem.lost";

/// What was done, and what is gone. Offsets are positions in the damaged file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Single bits that were put right: nothing is lost there.
    pub healed: Vec<Finding>,
    /// What could not be carried over.
    pub lost: Vec<Finding>,
    /// What was carried over from ranges whose checksum does not hold: it reads well, but may have changed.
    pub doubtful: Vec<Finding>,
    /// What stood behind the last whole commit.
    pub tail: Option<Tail>,
}

impl Report {
    /// True if everything that was in the file is in the new brain.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.doubtful.is_empty() && self.tail.is_none()
    }
}

/// A brain made of what was whole.
#[derive(Debug)]
pub struct Repaired {
    /// All of it.
    pub view: View,
    /// How to fold it: the same lineage, an instance of its own.
    pub options: Options,
    /// What was done and what is gone.
    pub report: Report,
}

/// Repairs the bytes of a brain of amemd. The new one is `instance`; `now` is the present time.
///
/// An error means that nothing can be found in the file: its header is damaged beyond one bit, or it was not
/// written by amemd.
pub fn repair(bytes: &[u8], instance: Uuid, now: Micros) -> Result<Repaired> {
    let mut report = Report::default();
    let mut bytes = bytes.to_vec();
    heal::heal(&mut bytes, &mut report);
    names::cut_to_sections(&mut bytes, &mut report);
    let journal = Journal::of(&bytes);
    let found = verify::native(Arc::new(Map::owned(&bytes)), None);
    // The journal is followed below, whatever is wrong with its frames.
    let is_base_whole = found
        .is_ok_and(|found| found.more == 0 && found.findings.iter().all(|f| f.part == "journal"));
    if !is_base_whole || Brain::open(Map::owned(&bytes)).is_err() {
        bytes = rebuild::rebuild(&mut bytes, now, &mut report)?;
    }
    let view = replay(&bytes, journal.as_ref(), &mut report)?;
    let identity = *view.identity();
    let options = Options {
        identity: Identity {
            instance,
            generation: Generation(1),
            base_lsn: view.lsn(),
            base_time: view.time(),
            decay: view.decay_run(),
            ..identity
        },
        now,
        origin: false,
    };
    Ok(Repaired {
        view,
        options,
        report,
    })
}

/// The journal of the damaged file, should its head be readable.
struct Journal {
    /// Where its first frame begins.
    start: u64,
    /// Up to where commits had reached.
    durable: u64,
}

impl Journal {
    fn of(bytes: &[u8]) -> Option<Self> {
        let brain = Brain::open(Map::owned(bytes)).ok()?;
        Some(Self {
            start: brain.start()?.at,
            durable: brain.durable(),
        })
    }
}

/// Every commit up to the first that is not whole, or that does not fit what could be carried over. `was` is the
/// journal of the damaged file; that of the bytes may stand elsewhere.
fn replay(bytes: &[u8], was: Option<&Journal>, report: &mut Report) -> Result<View> {
    let map = Arc::new(Map::owned(bytes));
    let brain = Arc::new(Brain::open(map.clone())?);
    let Some(start) = brain.start() else {
        report.lost.push(Finding {
            part: "journal".into(),
            offset: Some(bytes.len() as u64),
            why: verify::MISSING.into(),
        });
        return Ok(brain.view());
    };
    let mut position = start;
    let why = loop {
        let rest = bytes.get(position.at as usize..).unwrap_or_default();
        match scan::next(rest, position) {
            Ok(ScanStep::Transaction {
                commit,
                frames,
                after,
            }) => match brain.apply(commit, position.at, &frames, after.at) {
                Ok(()) => position = after,
                Err(e) => break Finding::from(e).why,
            },
            Ok(ScanStep::End { torn }) => break torn.unwrap_or("no frame stands here".into()),
            Err(e) => break Finding::from(e).why,
        }
    };
    let rest = bytes.get(position.at as usize..).unwrap_or_default();
    let offset = position.at - start.at + was.map_or(start.at, |was| was.start);
    let durable = was.map_or(0, |was| was.durable);
    if durable > offset {
        report.lost.push(Finding {
            part: "journal".into(),
            offset: Some(offset),
            why: format!("the commits from here up to byte {durable}: {why}"),
        });
    } else if let Some(last) = bytes::last_set(rest) {
        report.tail = Some(Tail {
            offset,
            bytes: last as u64 + 1,
            why,
        });
    }
    // A commit that failed is half applied: the brain is opened again, and stops in front of it.
    let brain = Arc::new(Brain::open(map)?);
    brain.replay(start, position.at)?;
    Ok(brain.view())
}

/// Tells that something is gone.
fn lose(report: &mut Report, part: &str, offset: u64, why: impl Into<String>) {
    report.lost.push(Finding {
        part: part.to_owned(),
        offset: Some(offset),
        why: why.into(),
    });
}

/// The base of bytes, if it can be opened.
fn base_of(bytes: &[u8]) -> Result<Base> {
    Base::open(Arc::new(Map::owned(bytes))).map_err(|e| match e {
        Error::Foreign => Error::Foreign,
        e => Error::corrupt(
            "file",
            0,
            format!("no part of it can be found: {}", Finding::from(e)),
        ),
    })
}

#[cfg(test)]
mod tests;
