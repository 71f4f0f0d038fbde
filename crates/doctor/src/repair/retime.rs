//! Recorded times that lie ahead, which a wrong clock has left: they become times just before now.
//!
//! Promises: their order stays, and so do all other times. A time ahead is one after `now`, wherever it stands: of an
//! event or edge, a use, a session, a commit, a decay run. Not here: times when events happened, which clients set.

use std::sync::Arc;

use amem_format::base::section::{Section, tag};
use amem_format::base::{Base, edge, node};
use amem_format::base_builder::{self, BuildMode, Inline, Options, write_base, write_base_with};
use amem_format::brain::Brain;
use amem_format::bytes::{get_i64, get_u64, put_i64, put_u64};
use amem_format::error::Result;
use amem_format::mapping::Map;
use amem_format::types::Micros;
use amem_format::view::View;
use xxhash_rust::xxh3::xxh3_64;

use super::report::RepairedBrain;
use crate::verify::{Finding, RANGE};

/// Moves the times ahead of a brain that is whole.
pub fn retime(repaired: RepairedBrain, now: Micros) -> Result<RepairedBrain> {
    let RepairedBrain {
        view,
        options,
        mut report,
    } = repaired;
    let mut bytes = Vec::new();
    write_base(&view, &options, &mut bytes)?;
    let base = Base::open(Arc::new(Map::owned(&bytes)))?;
    let cells = cells(&base)?;
    let times = || cells.iter().map(|&at| get_i64(&bytes, at));
    let mut ahead: Vec<i64> = times().filter(|time| *time > now.0).collect();
    ahead.sort_unstable();
    ahead.dedup();
    if ahead.is_empty() {
        return Ok(RepairedBrain {
            view,
            options,
            report,
        });
    }
    let last = times().filter(|time| *time <= now.0).max();
    let room = now.0.saturating_sub(ahead.len() as i64);
    let first = last.map_or(room, |last| last.max(room)) + 1;
    let moved: Vec<(usize, i64)> = cells
        .iter()
        .filter_map(|&at| {
            let rank = ahead.binary_search(&get_i64(&bytes, at)).ok()?;
            Some((at, first + rank as i64))
        })
        .collect();
    report.healed.push(Finding {
        part: "times".into(),
        offset: None,
        why: format!(
            "{} were after {now} and are just before it now",
            moved.len()
        ),
    });
    report.doubtful.retain(|finding| finding.part != RANGE);
    for (at, time) in moved {
        put_i64(&mut bytes, at, time);
    }
    // Frames of before have the old times.
    let commits = base.section(tag::COMMITS)?.offset as usize;
    put_u64(&mut bytes, commits, 0);
    seal(&mut bytes, &base)?;
    let view = rebuilt(&bytes, options.now)?;
    let options = Options {
        identity: *view.identity(),
        ..options
    };
    Ok(RepairedBrain {
        view,
        options,
        report,
    })
}

/// The positions of all recorded times.
fn cells(base: &Base) -> Result<Vec<usize>> {
    let (header, mut cells) = (base.header(), Vec::new());
    for at in 0..header.nodes {
        let record = (header.node_table + at * node::LEN as u64) as usize;
        cells.extend([record + 12, record + 32]);
    }
    for at in 0..header.edges {
        cells.push((header.edge_table + at * edge::LEN as u64) as usize + 24);
    }
    let start = |of: Section<'_>| of.offset as usize;
    let identity = start(base.section(tag::IDENTITY)?);
    cells.extend([48, 72, 112].map(|at| identity + at));
    let sessions = base.section(tag::SESSIONS)?;
    for at in 0..sessions.u64(0)? as usize {
        let record = start(sessions) + 16 + 64 * at;
        cells.extend([8, 16, 24].map(|field| record + field));
    }
    let history = base.section(tag::HISTORY)?;
    for at in 0..history.u64(0)? as usize {
        let record = 16 + 64 * at;
        cells.push(start(history) + record + 8);
        // The recorded time of an edge.
        if history.bytes.get(record + 28) == Some(&6) {
            cells.push(start(history) + record + 40);
        }
    }
    let clock = base.section(tag::CLOCK)?;
    let commits = clock.u64(0)? as usize;
    cells.extend((0..commits).map(|at| start(clock) + 8 + 8 * (commits + at)));
    Ok(cells)
}

/// Gives the changed bytes checksums that hold.
fn seal(bytes: &mut [u8], base: &Base) -> Result<()> {
    let section = base.section(tag::CHECKSUMS)?;
    let from = section.offset as usize;
    let end = from + section.bytes.len() - 8;
    for at in (from + 8..end).step_by(24) {
        let [offset, len] = [0, 8].map(|field| get_u64(bytes, at + field) as usize);
        let sum = xxh3_64(&bytes[offset..offset + len]);
        put_u64(bytes, at + 16, sum);
    }
    let sum = xxh3_64(&bytes[from..end]);
    put_u64(bytes, end, sum);
    Ok(())
}

/// The brain of a base whose times have changed, with every index built from them.
fn rebuilt(bytes: &[u8], now: Micros) -> Result<View> {
    let view = Arc::new(Brain::open(Map::owned(bytes))?).view();
    let options = Options {
        identity: *view.identity(),
        now,
        origin: false,
    };
    let how = BuildMode {
        workers: &Inline,
        from_scratch: true,
    };
    let mut out = Vec::new();
    let end = write_base_with(&view, &options, how, &mut out)?;
    base_builder::journal(&options.identity, 0, end, &mut out)?;
    Ok(Arc::new(Brain::open(Map::owned(&out))?).view())
}
