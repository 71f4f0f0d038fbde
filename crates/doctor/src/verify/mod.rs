//! Verification: checks every byte of a file against its checksums, and all parts against each other.
//!
//! Opening a brain checks only what queries need. Files of amemd have a checksum for every byte; files in other layouts
//! have none, so only their structure is checked.
//!
//! Promises: damage is a finding, never an error or a panic. At most [`FINDINGS_MAX`] findings are stored, further ones
//! are counted. Memory is in proportion to the brain's conflicts and journal, not to its texts.
//! Not checked: the live page, which the daemon changes at any time; bytes past `committed` of a file that a daemon is
//! writing. Not here: repair (`crate::repair`).

mod finding;
mod report;

mod bytes;
mod codes;
mod foreign;
pub(crate) mod indexes;
mod journal;
pub(crate) mod log;
mod native;
mod tables;
mod values;

pub use finding::{FINDINGS_MAX, Finding, RANGE};
pub use foreign::is_cut;
pub(crate) use journal::MISSING;
pub use native::native;
pub use report::{Tail, VerifyReport};

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use amem_format::brain::Brain;
use amem_format::error::{Error, Result};
use amem_format::mapping::Map;
use amem_format::view::View;
use finding::Findings;

/// How often a file that grows during the check is mapped.
const ATTEMPTS: usize = 5;

/// Checks every byte of the base and the commits of a view against its checksum. Call it before the data is copied into
/// a file with new checksums, which would hide damage.
///
/// # Errors
/// `Corrupt` at the first mismatch.
pub fn source(view: &View) -> Result<()> {
    let brain = view.brain();
    let mut findings = Findings::default();
    bytes::check(brain.base(), &mut findings);
    let (findings, _) = findings.into_parts();
    if let Some(finding) = findings.first() {
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

/// Verifies a file of any layout.
///
/// # Errors
/// If it cannot be read or is not an `.amem` file.
pub fn file(path: impl AsRef<Path>) -> Result<VerifyReport> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let meta = file.metadata().map_err(|e| Error::io("look at", path, e))?;
    if !meta.is_file() {
        let why = format!("{} is not a regular file", path.display());
        return Err(Error::invalid("path", why));
    }
    let (mut map, mut committed) = map_file(&file, path)?;
    for _ in 1..ATTEMPTS {
        // The daemon may have grown the file after its length was read.
        if committed.is_none_or(|committed| committed <= map.len()) {
            break;
        }
        (map, committed) = map_file(&file, path)?;
    }
    // A file that stays shorter than `committed` was cut: the check reports where.
    match native(map, committed) {
        Err(Error::Newer { what }) => return Err(Error::Newer { what }),
        Err(_) => {}
        whole => return whole,
    }
    // Another layout, or too damaged to open.
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    foreign::verify(&bytes)
}

/// Maps the file; also returns the end of its committed bytes if a daemon owns it.
fn map_file(file: &File, path: &Path) -> Result<(Arc<Map>, Option<u64>)> {
    let meta = file.metadata().map_err(|e| Error::io("look at", path, e))?;
    let map = Map::shared(file, meta.len()).map_err(|e| Error::io("map", path, e))?;
    let map = Arc::new(map);
    let committed = match Brain::open(map.clone()) {
        Ok(brain) if journal::is_live(&brain, &meta) => brain.live().map(|live| live.committed),
        _ => None,
    };
    Ok((map, committed))
}

#[cfg(test)]
pub(crate) mod tests;
