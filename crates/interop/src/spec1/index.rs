//! Builds the indexes of a spec-1 file from its node records.
//!
//! Not here: the cluster map (`cluster`), checks (`verify`).

use super::header::NODE_BYTES;
use super::node::Spec1Node;
use amem_format::types::EventType;

fn nodes(records: &[u8]) -> impl Iterator<Item = Spec1Node<'_>> {
    let records = records.chunks_exact(NODE_BYTES).enumerate();
    records.map(|(position, record)| Spec1Node { record, position })
}

fn head(index: u32, count: usize) -> Vec<u8> {
    [index, count as u32].map(u32::to_le_bytes).concat()
}

/// One bitmap for each of the six types; opaque types have none.
pub(super) fn types(records: &[u8]) -> Vec<u8> {
    let bytes = (records.len() / NODE_BYTES).div_ceil(8);
    let mut out = head(1, EventType::ALL.len());
    for event_type in EventType::ALL {
        let mut bits = vec![0; bytes];
        for node in nodes(records).filter(|n| n.event_type() == event_type.0) {
            bits[node.position / 8] |= 1 << (node.position % 8);
        }
        out.append(&mut bits);
    }
    out
}

/// One range (end exclusive) per run of events of the same session, sorted by session and position. A session whose
/// events are not adjacent has several.
pub(super) fn sessions(records: &[u8]) -> Vec<u8> {
    let mut ranges: Vec<[u32; 3]> = Vec::new();
    for node in nodes(records) {
        let position = node.position as u32;
        match ranges.last_mut() {
            Some([session, _, end]) if *session == node.session() => *end = position + 1,
            _ => ranges.push([node.session(), position, position + 1]),
        }
    }
    ranges.sort_unstable();
    let mut out = head(2, ranges.len());
    for range in ranges {
        out.extend(range.map(u32::to_le_bytes).as_flattened());
    }
    out
}

/// Number of distinct sessions.
pub(super) fn session_count(records: &[u8]) -> usize {
    let mut sessions: Vec<u32> = nodes(records).map(|n| n.session()).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions.len()
}

/// All events by time, then position.
pub(super) fn times(records: &[u8]) -> Vec<u8> {
    let mut entries: Vec<(i64, u32)> = nodes(records)
        .map(|n| (n.seconds(), n.position as u32))
        .collect();
    entries.sort_unstable();
    let mut out = head(3, entries.len());
    for (seconds, position) in entries {
        out.extend_from_slice(&seconds.to_le_bytes());
        out.extend_from_slice(&position.to_le_bytes());
    }
    out
}
