//! The check of files in other layouts, which have no checksums.

use super::finding::Findings;
use super::native::native;
use super::report::VerifyReport;
use amem_format::base::header::Header;
use amem_format::base::section::SectionTable;
use amem_format::error::Result;
use amem_format::event::Graph;
use amem_interop::foreign::Foreign;
use amem_interop::spec1::Spec1;
use amem_interop::{Layout, detect};

/// Verifies a file of any layout.
///
/// # Errors
/// If no layout matches.
pub(super) fn verify(bytes: &[u8]) -> Result<VerifyReport> {
    let layout = detect(bytes)?;
    let mut report = VerifyReport::new(layout, bytes.len() as u64);
    let mut findings = Findings::default();
    match layout {
        // The section table is intact; the sections may be damaged.
        Layout::Native => {
            let map = amem_format::mapping::Map::owned(bytes);
            let verified = match native(map.into(), None) {
                Err(newer @ amem_format::Error::Newer { .. }) => return Err(newer),
                verified => verified,
            };
            if let Some(report) = findings.take(verified) {
                return Ok(report);
            }
        }
        Layout::Reference => {
            if is_cut(bytes) {
                let why = "no index follows the tables; the file was probably cut";
                findings.add("sections", bytes.len() as u64, why);
            }
            if let Some(foreign) = findings.take(Foreign::open(bytes)) {
                report.edges = foreign.edge_count();
                report.events = check(&foreign, &mut findings);
            }
        }
        Layout::Spec1 => {
            if let Some(spec1) = findings.take(Spec1::open(bytes)) {
                report.edges = spec1.edge_count();
                report.events = check(&spec1, &mut findings);
            }
        }
    }
    Ok(report.with(findings))
}

/// True if a file in the native layout has events and no section after its tables.
///
/// Both amemd and the reference always write sections, so such a file is a brain that was cut off, not a file of the
/// reference.
pub fn is_cut(bytes: &[u8]) -> bool {
    let len = bytes.len() as u64;
    let Ok(header) = Header::decode(bytes, len) else {
        return false;
    };
    let table = SectionTable::walk(header.sections(), len, |at, len| {
        bytes.get(at as usize..at.checked_add(len)? as usize)
    });
    header.nodes > 0 && table.is_ok_and(|t| t.places.is_empty() && t.journal.is_none())
}

/// Checks that every event and edge is readable and that edges end at events. Returns the number of events.
fn check(graph: &dyn Graph, findings: &mut Findings) -> u64 {
    for position in 0..graph.event_count() {
        findings.take(graph.event_at(position));
        findings.take(graph.edges_at(position));
    }
    for edge in findings.take(graph.stray_edges()).unwrap_or_default() {
        let why = format!("an edge from event {}, which does not exist", edge.source);
        findings.add("edge table", 0, why);
    }
    graph.event_count()
}
