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

mod report;

mod heal;
mod names;

mod damaged_base;
mod times;

mod clock;
mod rebuild;

mod salvage;

pub use report::{LOST, RepairReport};
pub use salvage::readable;

use std::sync::Arc;

use uuid::Uuid;

use crate::verify::{self, Finding, Tail};
use amem_format::base::identity::Identity;
use amem_format::base_builder::Options;
use amem_format::brain::Brain;
use amem_format::bytes;
use amem_format::error::Result;
use amem_format::journal::scan;
use amem_format::journal::scan::Next;
use amem_format::mapping::Map;
use amem_format::types::{Generation, Micros};
use amem_format::view::View;

/// A brain made of what was whole.
#[derive(Debug)]
pub struct RepairedBrain {
    /// All of it.
    pub view: View,
    /// How to fold it: the same lineage, an instance of its own.
    pub options: Options,
    /// What was done and what is gone.
    pub report: RepairReport,
}

/// Repairs the bytes of a brain of amemd. The new one is `instance`; `now` is the present time.
///
/// An error means that nothing can be found in the file: its header is damaged beyond one bit, or it was not
/// written by amemd.
pub fn repair(bytes: &[u8], instance: Uuid, now: Micros) -> Result<RepairedBrain> {
    let mut report = RepairReport::default();
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
    Ok(RepairedBrain {
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
fn replay(bytes: &[u8], was: Option<&Journal>, report: &mut RepairReport) -> Result<View> {
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
            Ok(Next::Transaction {
                commit,
                frames,
                after,
            }) => match brain.apply(commit, position.at, &frames, after.at) {
                Ok(()) => position = after,
                Err(e) => break Finding::from(e).why,
            },
            Ok(Next::End { torn }) => break torn.unwrap_or("no frame stands here".into()),
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

#[cfg(test)]
mod tests;
