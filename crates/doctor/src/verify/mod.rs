//! Verifying: every byte of a file held against its checksums, and every part against the others.
//!
//! Opening a brain checks what it needs to answer; this checks all there is, so that damage is known before
//! it is met. `file` tells the layout and does what that layout allows: our files have a checksum for every
//! byte, files of others have none, so of them only the structure is checked.
//!
//! Promises: never fails because of what it finds, and never panics; at most [`FINDINGS_MAX`] findings are
//! kept, the rest counted; memory in proportion to the brain's conflicts and journal, not to its texts.
//! Not checked: the live page, which changes while others look; bytes past `committed` of a file that a
//! daemon is writing. Not here: saving what is whole (`crate::repair`).

mod bytes;
mod codes;
mod finding;
mod foreign;
pub(crate) mod indexes;
mod journal;
pub(crate) mod log;
mod tables;
mod values;

pub use finding::{FINDINGS_MAX, Finding};
pub use foreign::is_cut;
pub(crate) use journal::{MISSING, is_live};

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use amem_format::base::{Base, section};
use amem_format::brain::Brain;
use amem_format::error::{Error, Result};
use amem_format::mapping::Map;
use amem_format::view::View;
use amem_interop::Layout;
use finding::Findings;

/// How often a file that grows is looked at again.
const LOOKS: usize = 5;

/// What was looked at, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The file's layout.
    pub layout: Layout,
    /// Its bytes.
    pub bytes: u64,
    /// Events in its tables, the journal left out.
    pub events: u64,
    /// Edges in its tables, the journal left out.
    pub edges: u64,
    /// Ranges with a checksum.
    pub checksums: u64,
    /// Whole commits of the journal.
    pub commits: u64,
    /// True if a daemon owns the file now, so that only what it has committed was looked at.
    pub live: bool,
    /// What is wrong, in order of the checks.
    pub findings: Vec<Finding>,
    /// Findings past those kept.
    pub more: u64,
    /// What stands behind the last whole commit, if not zeros.
    pub tail: Option<Tail>,
}

/// Bytes behind the last whole commit of a journal.
///
/// A copy that was taken while the daemon wrote ends so, and has lost nothing that was acknowledged before.
/// In a file that nobody was writing it is damage, and what stood there is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Where they begin.
    pub offset: u64,
    /// How many there are up to the last that is not zero.
    pub bytes: u64,
    /// Why they are no commit.
    pub why: String,
}

impl Report {
    fn new(layout: Layout, bytes: u64) -> Self {
        Self {
            layout,
            bytes,
            events: 0,
            edges: 0,
            checksums: 0,
            commits: 0,
            live: false,
            findings: Vec::new(),
            more: 0,
            tail: None,
        }
    }

    fn with(mut self, findings: Findings) -> Self {
        (self.findings, self.more) = findings.into_parts();
        self
    }

    /// True if nothing is wrong and nothing is cut off.
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty() && self.tail.is_none()
    }
}

/// Holds every byte below a view, of its base and its commits, against its checksum. Whoever puts what it says into
/// another file, where nothing would tell of damage any more, asks for this first.
pub fn source(view: &View) -> Result<()> {
    let brain = view.brain();
    let mut findings = Findings::default();
    bytes::check(brain.base(), &mut findings);
    let (found, _) = findings.into_parts();
    if let Some(finding) = found.first() {
        let why = format!("{}: {}", finding.part, finding.why);
        return Err(Error::corrupt("file", finding.offset.unwrap_or(0), why));
    }
    let newest = view.delta_commits().checked_sub(1);
    let newest = newest.and_then(|at| brain.delta().log.get(at));
    if let (Some(start), Some(newest)) = (brain.start(), newest) {
        brain.recheck(start, newest.end)?;
    }
    Ok(())
}

/// Verifies a file of any layout. An error means that it cannot be read, or that it is no `.amem` file.
pub fn file(path: impl AsRef<Path>) -> Result<Report> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let meta = file.metadata().map_err(|e| Error::io("look at", path, e))?;
    if !meta.is_file() {
        let why = format!("{} is not a regular file", path.display());
        return Err(Error::invalid("path", why));
    }
    let (mut map, mut committed) = look(&file, path)?;
    for _ in 1..LOOKS {
        // The daemon may make the file longer between the two looks at it: then it is looked at again.
        if committed.is_none_or(|committed| committed <= map.len()) {
            break;
        }
        (map, committed) = look(&file, path)?;
    }
    // One that stays shorter than what is committed was cut, and that is told with the place.
    if let Ok(report) = native(map, committed) {
        return Ok(report);
    }
    // Not ours, or too damaged to tell: a copy, as all of it has to be looked at.
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    foreign::verify(&bytes)
}

/// The file's bytes, and how far they are committed if a daemon owns it.
fn look(file: &File, path: &Path) -> Result<(Arc<Map>, Option<u64>)> {
    let meta = file.metadata().map_err(|e| Error::io("look at", path, e))?;
    let map = Map::shared(file, meta.len()).map_err(|e| Error::io("map", path, e))?;
    let map = Arc::new(map);
    let committed = match Brain::open(map.clone()) {
        Ok(brain) if is_live(&brain, &meta) => brain.live().map(|live| live.committed),
        _ => None,
    };
    Ok((map, committed))
}

/// Verifies a brain of amemd. `committed` bounds the journal of a file that is being written. An error means
/// that the file has no base that could be looked at: `foreign` layouts, or a header that is damaged.
pub fn native(map: Arc<Map>, committed: Option<u64>) -> Result<Report> {
    let base = Base::open(map.clone())?;
    let mut findings = Findings::default();
    let mut report = Report {
        events: base.header().nodes,
        edges: base.header().edges,
        live: committed.is_some(),
        ..Report::new(Layout::Native, map.len())
    };
    report.checksums = bytes::check(&base, &mut findings);
    tables::check(&base, &mut findings);
    let tags = || section::ROWS.iter().map(|row| row.tag);
    for check in tags()
        .filter_map(indexes::of)
        .chain(tags().filter_map(log::of))
    {
        findings.take(check(&base));
    }
    if base.journal().is_some() {
        journal::check(map, committed, &mut report, &mut findings);
    } else {
        findings.add("journal", map.len(), journal::MISSING);
    }
    Ok(report.with(findings))
}

#[cfg(test)]
pub(crate) mod tests;
