//! Repair: recovers the readable data of a damaged brain as the view of a new one.
//!
//! Three steps, each for what the previous one could not repair:
//! 1. Single flipped bits are corrected, with the checksum of their range.
//! 2. Tables and sections that are still damaged are read record by record, and indexes are rebuilt.
//! 3. The journal is replayed up to its first bad frame.
//!
//! Promises: the damaged file is not changed. Ids stay: an event with a lost record is replaced by an empty, forgotten
//! event with the attribute [`LOST`]. Erased content does not come back. The report lists everything that is lost or
//! may have changed.
//! Times that lie ahead are mended on request (`retime`).
//! Not here: writing the new file; checks without repair (`crate::verify`).

mod report;

mod heal;
mod names;

mod damaged_base;
mod times;

mod clock;
mod rebuild;

mod retime;

mod salvage;

pub use report::{LOST, RepairReport, RepairedBrain};
pub use retime::retime;
pub use salvage::readable;

use std::sync::Arc;

use uuid::Uuid;

use crate::verify::{self, Finding, Tail};
use amem_format::base::identity::Identity;
use amem_format::base_builder::Options;
use amem_format::brain::Brain;
use amem_format::bytes;
use amem_format::error::{Error, Result};
use amem_format::journal::scan;
use amem_format::journal::scan::ScanStep;
use amem_format::limits::TIME_MICROS_MAX;
use amem_format::mapping::Map;
use amem_format::types::{Generation, Micros};
use amem_format::view::View;

/// Repairs the bytes of a brain of amemd. `instance` is that of the new brain, `now` the present time.
///
/// # Errors
/// If the header has more than one flipped bit, or amemd did not write the file, or a newer version of it did: such a
/// file is whole, and would lose what is unknown here.
pub fn repair(bytes: &[u8], instance: Uuid, now: Micros) -> Result<RepairedBrain> {
    let mut report = RepairReport::default();
    let mut bytes = bytes.to_vec();
    heal::heal(&mut bytes, &mut report);
    names::cut_to_sections(&mut bytes, &mut report);
    check_version(&bytes)?;
    let journal = Journal::of(&bytes);
    let verified = verify::native(Arc::new(Map::owned(&bytes)), None);
    // Damage of the journal is handled by the replay below.
    let is_base_whole = verified.is_ok_and(|report| {
        let outside = ["journal", verify::RANGE];
        report.more == 0 && report.findings.iter().all(|f| outside.contains(&&*f.part))
    });
    if !is_base_whole || Brain::open(Map::owned(&bytes)).is_err() {
        bytes = rebuild::rebuild(&mut bytes, now, &mut report)?;
    }
    let view = replay(&bytes, journal.as_ref(), &mut report)?;
    if view.time().0 > TIME_MICROS_MAX {
        let why = format!(
            "the last one is {}, after which none can follow: add --times",
            view.time()
        );
        report.doubtful.push(Finding {
            part: verify::RANGE.into(),
            offset: None,
            why,
        });
    }
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

/// Refuses files of newer versions.
fn check_version(bytes: &[u8]) -> Result<()> {
    let brain = match Brain::open(Map::owned(bytes)) {
        Err(newer @ Error::Newer { .. }) => return Err(newer),
        Err(_) => return Ok(()),
        Ok(brain) => brain,
    };
    let replayed = brain.start().map(|start| brain.replay(start, u64::MAX));
    if let Some(Err(newer @ Error::Newer { .. })) = replayed {
        return Err(newer);
    }
    match brain.newer() {
        Some(what) => Err(Error::NewerWrites { what }),
        None => Ok(()),
    }
}

/// The journal of the damaged file.
struct Journal {
    /// Offset of the first frame.
    start: u64,
    /// Offset of the end of the committed frames.
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

/// Replays commits up to the first that is damaged or does not fit the rebuilt base. `was` is the journal of the
/// damaged file; in `bytes` it may have moved.
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
            why: format!("commits from here to byte {durable}: {why}"),
        });
    } else if let Some(last) = bytes::last_set(rest) {
        report.tail = Some(Tail {
            offset,
            bytes: last as u64 + 1,
            why,
        });
    }
    // A failed commit is half applied: open the brain again and stop before it.
    let brain = Arc::new(Brain::open(map)?);
    brain.replay(start, position.at)?;
    Ok(brain.view())
}

#[cfg(test)]
mod tests;
