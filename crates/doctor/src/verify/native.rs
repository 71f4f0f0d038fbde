//! The check of a brain in the layout that amemd writes.

use std::sync::Arc;

use super::finding::Findings;
use super::finding::RANGE;
use super::report::VerifyReport;
use super::{bytes, indexes, journal, log, tables};
use amem_format::base::section::tag;
use amem_format::base::{Base, section};
use amem_format::error::Result;
use amem_format::mapping::Map;
use amem_interop::Layout;

/// Verifies a brain of amemd. `committed` is the end of the journal in a file that a daemon is writing.
///
/// # Errors
/// If the base cannot be opened: another layout, or a damaged header; or a newer version wrote the file.
pub fn native(map: Arc<Map>, committed: Option<u64>) -> Result<VerifyReport> {
    let base = Base::open(map.clone())?;
    let mut findings = Findings::default();
    let mut report = VerifyReport {
        events: base.header().nodes,
        edges: base.header().edges,
        live: committed.is_some(),
        ..VerifyReport::new(Layout::Native, map.len())
    };
    report.checksums = bytes::check(&base, &mut findings);
    if let Some(why) = base.identity().out_of_range() {
        findings.add(RANGE, base.section(tag::IDENTITY)?.offset, why);
    }
    tables::check(&base, &mut findings);
    let tags = || section::ROWS.iter().map(|row| row.tag);
    for check in tags()
        .filter_map(indexes::of)
        .chain(tags().filter_map(log::of))
    {
        findings.take(check(&base));
    }
    if base.journal().is_some() {
        journal::check(map, committed, &mut report, &mut findings)?;
    } else {
        findings.add("journal", map.len(), journal::MISSING);
    }
    Ok(report.with(findings))
}
