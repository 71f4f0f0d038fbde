//! Checks the records of a spec-1 file against the specification, and its indexes against the records.
//!
//! Promises: one pass over each; memory of one bit per event and one range per session entry. A file has all indexes or
//! none, in any order. An index of unknown type ends the check, because the layout has no length to skip it.

use std::collections::{BTreeMap, BTreeSet};

use super::header::{EDGE_BYTES, HAS_VECTORS, NODE_BYTES, Spec1Sections};
use super::node::{NONE, Spec1Node};
use crate::foreign::layout::HEADER_BYTES;
use amem_format::bytes::{Cursor, get_u32};
use amem_format::error::{Error, Result};

/// The session count in the header if there are too many to count.
pub(super) const SESSION_COUNT_FULL: u16 = u16::MAX;
/// The cluster number of events without a cluster.
pub(super) const NO_CLUSTER: u32 = u32::MAX;

/// Checks the node and edge records; `content_len` is the size of the decompressed content.
pub(super) fn records(sections: &Spec1Sections<'_>, content_len: u64) -> Result<()> {
    let mut content_left = content_len;
    let mut sessions = BTreeSet::new();
    for node in nodes(sections) {
        check_zeros(&node)?;
        node.micros()?;
        check_content(&node, content_len, &mut content_left)?;
        check_vector_offset(&node, sections)?;
        sessions.insert(node.session());
    }
    let counted = sections.header.session_count;
    if counted != SESSION_COUNT_FULL && usize::from(counted) != sessions.len()
        || usize::from(counted) > sessions.len()
    {
        let why = format!("{counted} sessions, the events have {}", sessions.len());
        return Err(Error::corrupt("spec-1 header", 18, why));
    }
    check_edges(sections)
}

fn nodes<'a>(sections: &Spec1Sections<'a>) -> impl Iterator<Item = Spec1Node<'a>> {
    let records = sections.nodes.chunks_exact(NODE_BYTES).enumerate();
    records.map(|(position, record)| Spec1Node { record, position })
}

fn check_zeros(node: &Spec1Node<'_>) -> Result<()> {
    let mut reserved = node.record[1..4].iter().chain(&node.record[52..]);
    if reserved.any(|&b| b != 0) {
        return Err(node.bad("padding or reserved bytes that are not zero"));
    }
    Ok(())
}

/// Checks that texts and metadata are inside the content and do not exceed it in total. Without the second check, many
/// events could share one text, and a small file would become large when read.
fn check_content(node: &Spec1Node<'_>, content_len: u64, content_left: &mut u64) -> Result<()> {
    let has_metadata = node.metadata_offset() != NONE;
    if has_metadata != (node.metadata_length() != 0) {
        return Err(node.bad("metadata with an offset but no length, or the reverse"));
    }
    let mut pieces = vec![(node.content_offset(), node.content_length())];
    if has_metadata {
        pieces.push((node.metadata_offset(), node.metadata_length()));
    }
    for (offset, len) in pieces {
        let end = offset.checked_add(len.into());
        if end.is_none_or(|end| end > content_len) {
            return Err(node.bad(format!(
                "{len} bytes at {offset} of a content of {content_len}"
            )));
        }
        *content_left = content_left
            .checked_sub(len.into())
            .ok_or_else(|| node.bad("more text up to here than the content has"))?;
    }
    Ok(())
}

fn check_vector_offset(node: &Spec1Node<'_>, sections: &Spec1Sections<'_>) -> Result<()> {
    let slot = node.position as u64 * u64::from(sections.header.dimension) * 4;
    let offset = node.vector_offset();
    if offset == NONE || sections.header.has(HAS_VECTORS) && offset == slot {
        Ok(())
    } else {
        Err(node.bad(format!("its vector is at {offset}, not in its slot")))
    }
}

fn check_edges(sections: &Spec1Sections<'_>) -> Result<()> {
    let mut last = 0;
    for (at, record) in sections.edges.chunks_exact(EDGE_BYTES).enumerate() {
        let (source, target) = (get_u32(record, 0), get_u32(record, 4));
        let bad = |why: String| {
            let offset = HEADER_BYTES + sections.nodes.len() + at * EDGE_BYTES;
            Err(Error::corrupt("spec-1 edge record", offset as u64, why))
        };
        if source.max(target) >= sections.header.node_count {
            return bad(format!(
                "from {source} to {target}, which do not both exist"
            ));
        }
        if source < last {
            return bad(format!("source {source} follows source {last}"));
        }
        last = source;
    }
    Ok(())
}

/// Checks the indexes against the records.
pub(super) fn indexes(sections: &Spec1Sections<'_>) -> Result<()> {
    let Some(bytes) = sections.indexes else {
        return Ok(());
    };
    let mut cursor = Cursor::new(bytes, "spec-1 indexes", sections.header.index_offset);
    let mut seen = BTreeSet::new();
    while !cursor.is_empty() {
        let index = cursor.u32()?;
        if !seen.insert(index) {
            return Err(cursor.bad(format!("a second index {index}")));
        }
        match index {
            1 => types(&mut cursor, sections)?,
            2 => sessions(&mut cursor, sections)?,
            3 => times(&mut cursor, sections)?,
            4 => clusters(&mut cursor, sections)?,
            _ => return Ok(()),
        }
    }
    match (1..=4).find(|index| !seen.contains(index)) {
        Some(index) => Err(cursor.bad(format!("index {index} is missing"))),
        None => Ok(()),
    }
}

fn types(cursor: &mut Cursor<'_>, sections: &Spec1Sections<'_>) -> Result<()> {
    let num_types = cursor.u32()?;
    if num_types > 256 {
        return Err(cursor.bad(format!("{num_types} event types")));
    }
    let bytes = (sections.header.node_count as usize).div_ceil(8);
    for event_type in 0..num_types {
        let mut expected = vec![0; bytes];
        for node in nodes(sections) {
            if u32::from(node.event_type()) == event_type {
                expected[node.position / 8] |= 1 << (node.position % 8);
            }
        }
        if cursor.take(bytes)? != expected {
            return Err(cursor.bad(format!("the bitmap of type {event_type} disagrees")));
        }
    }
    Ok(())
}

/// The specification does not state whether `end_node` is inclusive. Either way, the ranges must begin and end in their
/// session and together cover every event.
fn sessions(cursor: &mut Cursor<'_>, sections: &Spec1Sections<'_>) -> Result<()> {
    let count = cursor.u32()?;
    let mut ranges = Vec::new();
    for _ in 0..count {
        ranges.push([cursor.u32()?, cursor.u32()?, cursor.u32()?]);
    }
    if !cover_all(&ranges, 0, sections) && !cover_all(&ranges, 1, sections) {
        return Err(cursor.bad("the session ranges disagree with the events"));
    }
    Ok(())
}

/// True if the ranges are correct with `beyond` added to their ends, which makes them exclusive.
fn cover_all(ranges: &[[u32; 3]], beyond: u64, sections: &Spec1Sections<'_>) -> bool {
    let count = u64::from(sections.header.node_count);
    let session_at = |position: u64| Spec1Node::at(sections, position as usize).session();
    let mut by_session: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for &[session, start, end] in ranges {
        let (start, end) = (u64::from(start), u64::from(end) + beyond);
        if start >= end
            || end > count
            || session_at(start) != session
            || session_at(end - 1) != session
        {
            return false;
        }
        by_session.entry(session).or_default().push((start, end));
    }
    for ranges in by_session.values_mut() {
        ranges.sort_unstable();
        if ranges.windows(2).any(|two| two[0].1 > two[1].0) {
            return false;
        }
    }
    nodes(sections).all(|node| {
        let position = node.position as u64;
        by_session.get(&node.session()).is_some_and(|ranges| {
            let behind = ranges.partition_point(|&(start, _)| start <= position);
            behind > 0 && position < ranges[behind - 1].1
        })
    })
}

fn times(cursor: &mut Cursor<'_>, sections: &Spec1Sections<'_>) -> Result<()> {
    let count = cursor.u32()?;
    let mut seen = NamedEvents::new(sections);
    let mut last = i64::MIN;
    for _ in 0..count {
        let (seconds, position) = (cursor.i64()?, cursor.u32()?);
        if !seen.first_time(position) {
            return Err(cursor.bad(format!(
                "event {position} is listed twice or does not exist"
            )));
        }
        if seconds < last || Spec1Node::at(sections, position as usize).seconds() != seconds {
            return Err(cursor.bad(format!("the time of event {position} disagrees")));
        }
        last = seconds;
    }
    seen.check_all(cursor)
}

fn clusters(cursor: &mut Cursor<'_>, sections: &Spec1Sections<'_>) -> Result<()> {
    let (count, dimension) = (cursor.u32()?, cursor.u32()?);
    if dimension != u32::from(sections.header.dimension) {
        return Err(cursor.bad(format!("clusters of dimension {dimension}")));
    }
    for _ in 0..u64::from(count) * u64::from(dimension) {
        cursor.f32()?;
    }
    let mut seen = NamedEvents::new(sections);
    let mut last = 0;
    for _ in 0..sections.header.node_count {
        let (cluster, position) = (cursor.u32()?, cursor.u32()?);
        if cluster < last || cluster >= count && cluster != NO_CLUSTER {
            return Err(cursor.bad(format!(
                "cluster {cluster} of {count}, after cluster {last}"
            )));
        }
        if !seen.first_time(position) {
            return Err(cursor.bad(format!(
                "event {position} is listed twice or does not exist"
            )));
        }
        last = cluster;
    }
    Ok(())
}

/// The events that an index has listed.
struct NamedEvents {
    seen: Vec<bool>,
    missing: usize,
}

impl NamedEvents {
    fn new(sections: &Spec1Sections<'_>) -> Self {
        let missing = sections.header.node_count as usize;
        Self {
            seen: vec![false; missing],
            missing,
        }
    }

    /// Marks the event; true if it exists and was not listed before.
    fn first_time(&mut self, position: u32) -> bool {
        match self.seen.get_mut(position as usize) {
            Some(seen) if !*seen => {
                *seen = true;
                self.missing -= 1;
                true
            }
            _ => false,
        }
    }

    fn check_all(&self, cursor: &Cursor<'_>) -> Result<()> {
        if self.missing > 0 {
            return Err(cursor.bad(format!("{} events are missing", self.missing)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Spec1, write};
    use crate::foreign::sample;
    use amem_format::bytes::{get_u32, get_u64, put_u16, put_u32, put_u64};
    use amem_format::error::Error;

    /// Events whose sessions are 1 1 7 1 2 | 1 1 7 1 2.
    const COUNT: usize = 10;

    fn bytes() -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&sample::graph(COUNT as u64), &mut bytes).unwrap();
        bytes
    }

    /// Where the indexes begin: types, sessions, times, clusters.
    fn indexes(bytes: &[u8]) -> [usize; 4] {
        let types = get_u64(bytes, 44) as usize;
        let sessions = types + 8 + 6 * COUNT.div_ceil(8);
        let times = sessions + 8 + 12 * get_u32(bytes, sessions + 4) as usize;
        [types, sessions, times, times + 8 + 12 * COUNT]
    }

    fn refused(change: &dyn Fn(&mut Vec<u8>), expected: &str) {
        let mut bytes = bytes();
        change(&mut bytes);
        let error = Spec1::open(&bytes).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn records_that_break_the_document_are_refused() {
        refused(&|b| b[64 + 1] = 1, "not zero");
        refused(&|b| b[64 + 63] = 1, "not zero");
        refused(&|b| put_u64(b, 64 + 12, i64::MAX as u64), "its time is");
        refused(&|b| put_u64(b, 64 + 20, u64::MAX), "of a content of");
        refused(&|b| put_u32(b, 64 + 28, 50), "more text up to here");
        refused(&|b| put_u64(b, 64 + 32, 12), "not in its slot");
        refused(&|b| put_u64(b, 64 + 40, 0), "metadata with an offset");
        refused(&|b| put_u16(b, 18, 4), "4 sessions, the events have 3");
        let edges = 64 + 64 * COUNT;
        refused(&|b| put_u32(b, edges, 9), "source 0 follows source 9");
        refused(&|b| put_u32(b, edges + 4, 10), "which do not both exist");
    }

    #[test]
    fn indexes_that_disagree_with_the_records_are_refused() {
        let [types, sessions, times, clusters] = indexes(&bytes());
        refused(&|b| b[types + 8] ^= 1, "bitmap of type 0");
        refused(&|b| put_u32(b, types + 4, 300), "300 event types");
        refused(&|b| put_u32(b, sessions + 8, 2), "session ranges disagree");
        refused(&|b| put_u32(b, sessions + 16, 1), "session ranges disagree");
        refused(
            &|b| put_u32(b, sessions + 16, 99),
            "session ranges disagree",
        );
        refused(&|b| put_u64(b, times + 8, 5), "the time of event 0");
        refused(&|b| put_u32(b, times + 16, 1), "the time of event 1");
        refused(
            &|b| put_u32(b, times + 16, 77),
            "event 77 is listed twice or does not exist",
        );
        refused(&|b| put_u32(b, clusters + 8, 9), "clusters of dimension 9");
        refused(&|b| put_u32(b, clusters, 3), "a second index 3");
        let assigned = clusters + 12 + 12 * get_u32(&bytes(), clusters + 4) as usize;
        refused(&|b| put_u32(b, assigned, 70), "cluster 70 of");
        refused(
            &|b| put_u32(b, assigned + 4, 9),
            "is listed twice or does not exist",
        );
        refused(&|b| b.truncate(b.len() - 1), "bytes needed");
    }

    #[test]
    fn session_ranges_may_include_their_end_or_span_other_sessions() {
        let [_, sessions, times, _] = indexes(&bytes());
        let with = |ranges: &[[u32; 3]]| {
            let mut bytes = bytes();
            let mut index = [2, ranges.len() as u32].map(u32::to_le_bytes).concat();
            index.extend(ranges.iter().flatten().flat_map(|n| n.to_le_bytes()));
            bytes.splice(sessions..times, index);
            Spec1::open(&bytes).is_ok()
        };
        assert!(with(&[[1, 0, 8], [2, 4, 9], [7, 2, 7]]));
        assert!(with(&[[1, 0, 9], [2, 4, 10], [7, 2, 8]]));
        assert!(!with(&[[1, 0, 9], [2, 4, 9], [7, 2, 8]]));
        assert!(!with(&[[1, 0, 9], [2, 4, 10]]));
        assert!(!with(&[[1, 0, 9], [1, 0, 2], [2, 4, 10], [7, 2, 8]]));
    }

    #[test]
    fn indexes_are_all_there_or_none_and_unknown_ones_end_the_walk() {
        let [types, sessions, ..] = indexes(&bytes());
        let mut without = bytes();
        without.truncate(types);
        put_u16(&mut without, 6, 1 | 4);
        assert!(!Spec1::open(&without).unwrap().has_indexes());
        let mut some = bytes();
        some.truncate(sessions);
        let error = Spec1::open(&some).unwrap_err().to_string();
        assert!(error.contains("index 2 is missing"), "{error}");
        some.extend_from_slice(&[9, 0, 0, 0, 1, 2, 3]);
        assert!(Spec1::open(&some).unwrap().has_indexes());
    }
}
