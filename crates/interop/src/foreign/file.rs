//! A file of the reference, read in place.
//!
//! Promises: events are found by binary search over ids, edges by source in any order of the file. Opening checks
//! tables, ids and the total size of text blocks; each access checks bounds, text, floats and edge targets. All texts
//! together take at most 255 times the size of the file. Opening costs one step per record, and four bytes per edge if
//! the edges are not sorted. Not here: renumbering (`adopt`), the indexes of the reference (skipped; amemd builds its
//! own).

use super::layout::{EDGE_BYTES, ForeignTables, NODE_BYTES};
use super::text;
use amem_format::bytes::{get_f32, get_i64, get_u32, get_u64, slice};
use amem_format::error::{Error, Result};
use amem_format::event::{Edge, Event, Graph};
use amem_format::types::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};

/// A native file that amemd did not write.
#[derive(Debug)]
pub struct Foreign<'a> {
    tables: ForeignTables<'a>,
    /// Positions of edges sorted by source, stable; `None` if the table is sorted.
    by_source: Option<Vec<u32>>,
}

impl<'a> Foreign<'a> {
    /// Opens a file.
    ///
    /// # Errors
    /// If it is damaged, or a brain of amemd: its base alone is not the brain.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let tables = ForeignTables::parse(bytes)?;
        if tables.is_ours {
            return Err(Error::invalid(
                "foreign file",
                "amemd wrote it, and its base alone is not the brain: open it as a brain",
            ));
        }
        check_nodes(&tables)?;
        let by_source = order_by_source(&tables);
        Ok(Self { tables, by_source })
    }

    /// The number of edges, duplicates and strays included.
    pub fn edge_count(&self) -> u64 {
        self.tables.edge_count()
    }

    /// The position of an event.
    pub fn find(&self, id: NodeId) -> Option<u64> {
        let count = self.tables.node_count();
        // Ids ascend, so the position is at most the id; in most files it is equal.
        if id.0 < count && self.id(id.0) == id {
            return Some(id.0);
        }
        let position = partition(count.min(id.0), |p| self.id(p) < id);
        (position < count && self.id(position) == id).then_some(position)
    }

    /// The id at a position.
    pub fn id_at(&self, position: u64) -> Result<NodeId> {
        self.record(position).map(|_| self.id(position))
    }

    /// The text of the event at a position.
    pub fn text_at(&self, position: u64) -> Result<String> {
        let record = self.record(position)?;
        let (offset, len) = (get_u64(record, 44), get_u32(record, 52));
        let content = self.tables.content;
        let block = slice(content.bytes, offset, len.into(), "text").map_err(|_| {
            let why = format!(
                "its text would be {len} bytes at {offset} of a content block of {}",
                content.bytes.len()
            );
            self.bad_node(position, why)
        })?;
        text::decode(block, content.at + offset)
    }

    /// The vector of the event at a position, as unaligned little-endian floats; `None` if all are zero.
    pub fn vector_bytes_at(&self, position: u64) -> Result<Option<&'a [u8]>> {
        self.record(position)?;
        let len = self.tables.dimension as usize * 4;
        let at = position as usize * len;
        let vector = &self.tables.vectors.bytes[at..at + len];
        let mut is_zero = true;
        for number in vector.chunks_exact(4) {
            let number = get_f32(number, 0);
            is_zero &= number == 0.0;
            if !number.is_finite() {
                let offset = self.tables.vectors.at + at as u64;
                let why = format!(
                    "event {} has a number that is not finite",
                    self.id(position)
                );
                return Err(Error::corrupt("feature vectors", offset, why));
            }
        }
        Ok((!is_zero).then_some(vector))
    }

    /// The same graph with all edges of the file, in file order, including those to missing events.
    pub fn as_written(&self) -> AsWritten<'_, 'a> {
        AsWritten(self)
    }

    /// The id at a valid position.
    fn id(&self, position: u64) -> NodeId {
        NodeId(get_u64(
            self.tables.nodes.bytes,
            position as usize * NODE_BYTES,
        ))
    }

    fn record(&self, position: u64) -> Result<&'a [u8]> {
        let count = self.tables.node_count();
        if position >= count {
            return Err(Error::UnknownEvent {
                id: NodeId(position),
                count,
            });
        }
        let at = position as usize * NODE_BYTES;
        Ok(&self.tables.nodes.bytes[at..at + NODE_BYTES])
    }

    fn bad_node(&self, position: u64, why: impl Into<String>) -> Error {
        let offset = self.tables.nodes.at + position * NODE_BYTES as u64;
        Error::corrupt("node record", offset, why)
    }

    /// The position in the edge table of the edge at a place in the order by source.
    fn edge_position(&self, place: u64) -> usize {
        match &self.by_source {
            Some(order) => order[place as usize] as usize,
            None => place as usize,
        }
    }

    fn edge_source(&self, place: u64) -> u64 {
        get_u64(
            self.tables.edges.bytes,
            self.edge_position(place) * EDGE_BYTES,
        )
    }

    fn edge(&self, position: usize) -> Result<Edge> {
        let at = position * EDGE_BYTES;
        let record = &self.tables.edges.bytes[at..at + EDGE_BYTES];
        let weight = get_f32(record, 20);
        if !weight.is_finite() {
            return Err(self.bad_edge(position, "its weight is not finite"));
        }
        Ok(Edge {
            source: NodeId(get_u64(record, 0)),
            target: NodeId(get_u64(record, 8)),
            edge_type: EdgeType(record[16]),
            weight,
            created_at: Micros(get_i64(record, 24)),
        })
    }

    fn bad_edge(&self, position: usize, why: impl Into<String>) -> Error {
        let offset = self.tables.edges.at + (position * EDGE_BYTES) as u64;
        Error::corrupt("edge record", offset, why)
    }

    /// The range, in the order by source, of the edges of the event at a position.
    fn places(&self, position: u64) -> Result<std::ops::Range<u64>> {
        let source = self.id_at(position)?.0;
        let from = partition(self.edge_count(), |place| self.edge_source(place) < source);
        let to = partition(self.edge_count(), |place| self.edge_source(place) <= source);
        Ok(from..to)
    }
}

impl Graph for Foreign<'_> {
    fn dimension(&self) -> u32 {
        self.tables.dimension
    }

    fn event_count(&self) -> u64 {
        self.tables.node_count()
    }

    fn event_at(&self, position: u64) -> Result<Event> {
        let record = self.record(position)?;
        let (confidence, decay_score) = (get_f32(record, 24), get_f32(record, 40));
        if !(confidence.is_finite() && decay_score.is_finite()) {
            return Err(self.bad_node(position, "its confidence or decay score is not finite"));
        }
        let vector = self.vector_bytes_at(position)?;
        Ok(Event {
            id: self.id(position),
            event_type: EventType(record[8]),
            flags: Flags::default().set(Flags::VECTOR, vector.is_some()),
            created_at: Micros(get_i64(record, 12)),
            event_time: None,
            session: SessionId(get_u32(record, 20)),
            confidence,
            access_count: get_u32(record, 28),
            last_accessed: Micros(get_i64(record, 32)),
            decay_score,
            lambda: 0.0,
            text: self.text_at(position)?,
            vector: vector.map(|v| v.chunks_exact(4).map(|n| get_f32(n, 0)).collect()),
            attributes: None,
        })
    }

    fn edges_at(&self, position: u64) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        for place in self.places(position)? {
            let at = self.edge_position(place);
            let edge = self.edge(at)?;
            if self.find(edge.target).is_none() {
                let why = format!("it points to event {}, which does not exist", edge.target);
                return Err(self.bad_edge(at, why));
            }
            edges.push(edge);
        }
        edges.sort_by_key(Edge::key);
        Ok(edges)
    }

    fn stray_edges(&self) -> Result<Vec<Edge>> {
        let mut strays = Vec::new();
        for place in 0..self.edge_count() {
            if self.find(NodeId(self.edge_source(place))).is_none() {
                strays.push(self.edge(self.edge_position(place))?);
            }
        }
        Ok(strays)
    }
}

/// A foreign file with all of its edges: by source, then target, then file order, including those to missing events.
#[derive(Debug, Clone, Copy)]
pub struct AsWritten<'f, 'a>(&'f Foreign<'a>);

impl Graph for AsWritten<'_, '_> {
    fn dimension(&self) -> u32 {
        self.0.dimension()
    }

    fn event_count(&self) -> u64 {
        self.0.event_count()
    }

    fn event_at(&self, position: u64) -> Result<Event> {
        self.0.event_at(position)
    }

    fn edges_at(&self, position: u64) -> Result<Vec<Edge>> {
        let places = self.0.places(position)?;
        let mut edges = places
            .map(|place| self.0.edge(self.0.edge_position(place)))
            .collect::<Result<Vec<_>>>()?;
        edges.sort_by_key(|e| e.target);
        Ok(edges)
    }

    fn stray_edges(&self) -> Result<Vec<Edge>> {
        self.0.stray_edges()
    }
}

/// The first number below `count` for which `before` is false; `count` if there is none.
fn partition(count: u64, before: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Ids ascend strictly; the text blocks together are no more than the content block, so that no
/// block is lent to many events and texts stay in proportion to the file.
fn check_nodes(tables: &ForeignTables<'_>) -> Result<()> {
    let mut last = None;
    let mut content_left = tables.content.bytes.len() as u64;
    for (position, record) in tables.nodes.bytes.chunks_exact(NODE_BYTES).enumerate() {
        let bad = |why| {
            let offset = tables.nodes.at + (position * NODE_BYTES) as u64;
            Error::corrupt("node record", offset, why)
        };
        let id = get_u64(record, 0);
        if let Some(last) = last.replace(id)
            && last >= id
        {
            return Err(bad(format!("id {id} follows id {last}")));
        }
        content_left = content_left
            .checked_sub(get_u32(record, 52).into())
            .ok_or_else(|| bad("more text up to here than the content block has".to_owned()))?;
    }
    Ok(())
}

fn order_by_source(tables: &ForeignTables<'_>) -> Option<Vec<u32>> {
    let bytes = tables.edges.bytes;
    let source = |position: usize| get_u64(bytes, position * EDGE_BYTES);
    let count = bytes.len() / EDGE_BYTES;
    if (1..count).all(|p| source(p - 1) <= source(p)) {
        return None;
    }
    // Positions fit 32 bits: the count was held against EDGES_MAX.
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_key(|&p| source(p as usize));
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::super::{CompatOptions, sample, write_compatible};
    use super::*;
    use amem_format::bytes::{put_f32, put_u32, put_u64};

    const COUNT: u64 = 6;

    fn bytes() -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = CompatOptions::default();
        write_compatible(&sample::graph(COUNT), options, &mut bytes).unwrap();
        bytes
    }

    fn edge_at(position: usize) -> usize {
        64 + COUNT as usize * NODE_BYTES + position * EDGE_BYTES
    }

    #[test]
    fn edges_are_found_whatever_their_order() {
        let mut bytes = bytes();
        let expected = sample::collect(&Foreign::open(&bytes).unwrap());
        let count = expected.edges.len();
        for at in 0..count / 2 {
            for byte in 0..EDGE_BYTES {
                bytes.swap(edge_at(at) + byte, edge_at(count - 1 - at) + byte);
            }
        }
        let foreign = Foreign::open(&bytes).unwrap();
        assert!(foreign.by_source.is_some());
        assert_eq!(sample::collect(&foreign), expected);
    }

    #[test]
    fn sparse_ids_are_found_by_search() {
        let mut bytes = bytes();
        for position in 0..COUNT as usize {
            let id = [0, 1, 4, 5, 900, u64::MAX][position];
            put_u64(&mut bytes, 64 + position * NODE_BYTES, id);
        }
        let foreign = Foreign::open(&bytes).unwrap();
        for (id, position) in [
            (0, Some(0)),
            (1, Some(1)),
            (2, None),
            (4, Some(2)),
            (5, Some(3)),
            (6, None),
            (900, Some(4)),
            (u64::MAX, Some(5)),
        ] {
            assert_eq!(foreign.find(NodeId(id)), position, "{id}");
        }
    }

    #[test]
    fn edges_to_or_from_nowhere_are_seen_only_as_written() {
        let mut bytes = bytes();
        put_u64(&mut bytes, edge_at(0) + 8, 77);
        put_u64(&mut bytes, edge_at(11), 88);
        let foreign = Foreign::open(&bytes).unwrap();
        let error = foreign.edges_at(0).unwrap_err().to_string();
        assert!(error.contains("event 77, which does not exist"), "{error}");
        let edges = foreign.as_written().edges_at(0).unwrap();
        assert!(edges.iter().any(|e| e.target == NodeId(77)));
        let strays = foreign.stray_edges().unwrap();
        assert_eq!(strays.len(), 1);
        assert_eq!(strays[0].source, NodeId(88));
    }

    #[test]
    fn records_that_cannot_be_are_refused() {
        let check = |change: &dyn Fn(&mut Vec<u8>), expected: &str| {
            let mut bytes = bytes();
            change(&mut bytes);
            let error = Foreign::open(&bytes)
                .and_then(|f| {
                    f.event_at(0)?;
                    f.edges_at(0)
                })
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(&|b| put_u64(b, 64, 1), "id 1 follows id 1");
        check(&|b| put_f32(b, 64 + 24, f32::NAN), "not finite");
        check(&|b| put_f32(b, 64 + 40, f32::INFINITY), "not finite");
        check(&|b| put_u64(b, 64 + 44, u64::MAX), "of a content block of");
        check(&|b| put_u32(b, 64 + 52, u32::MAX), "more text up to here");
        check(
            &|b| put_f32(b, edge_at(0) + 20, f32::NAN),
            "weight is not finite",
        );
        check(
            &|b| {
                let vectors = get_u64(b, 56) as usize;
                put_f32(b, vectors, f32::NAN);
            },
            "event 0 has a number that is not finite",
        );
    }

    #[test]
    fn positions_beyond_the_end_are_errors() {
        let bytes = bytes();
        let foreign = Foreign::open(&bytes).unwrap();
        assert!(foreign.event_at(COUNT).is_err());
        assert!(foreign.edges_at(u64::MAX).is_err());
        assert!(foreign.vector_bytes_at(COUNT).is_err());
    }

    #[test]
    fn a_brain_of_amemd_is_refused() {
        let mut bytes = bytes();
        bytes.extend_from_slice(&[0x41, 0, 0, 0, 0, 0, 0, 0, 0]);
        let error = Foreign::open(&bytes).unwrap_err().to_string();
        assert!(error.contains("open it as a brain"), "{error}");
    }
}
