//! A spec-1 file as a graph.
//!
//! Promises: opening checks the records: reserved bytes are zero, texts and metadata are inside the content and do not
//! exceed it in total, vectors are in their slots, edges are sorted and end at existing events, indexes agree with the
//! records. Each access checks that text is UTF-8, metadata is a JSON object and floats are finite. Missing fields get
//! defaults: last access is the recorded time, the decay score is the confidence, and an edge has the time of the
//! younger of its events.

use std::borrow::Cow;

use super::content;
use super::header::{EDGE_BYTES, HAS_VECTORS, Spec1Sections};
use super::node::{NONE, Spec1Node};
use super::verify;
use crate::foreign::layout::HEADER_BYTES;
use amem_format::bytes::{get_f32, get_u32};
use amem_format::error::{Error, Result};
use amem_format::event::{Attributes, Edge, Event, Graph};
use amem_format::limits;
use amem_format::types::{EdgeType, EventType, Flags, NodeId, SessionId};

/// Maximum size of an event's metadata: attribute values are written as strings, so quotes are escaped once more.
const METADATA_BYTES_MAX: usize = 2 * limits::ATTRIBUTES_BYTES_MAX;

/// A spec-1 file.
#[derive(Debug)]
pub struct Spec1<'a> {
    sections: Spec1Sections<'a>,
    content: Cow<'a, [u8]>,
}

impl<'a> Spec1<'a> {
    /// Opens a file. Allocates the decompressed content.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let sections = Spec1Sections::parse(bytes)?;
        let content = content::decode(&sections)?;
        verify::records(&sections, content.len() as u64)?;
        verify::indexes(&sections)?;
        Ok(Self { sections, content })
    }

    /// The number of edges.
    pub fn edge_count(&self) -> u64 {
        self.sections.header.edge_count.into()
    }

    /// True if the file has indexes, which agree with the records.
    pub fn has_indexes(&self) -> bool {
        self.sections.indexes.is_some()
    }

    fn node(&self, position: u64) -> Result<Spec1Node<'a>> {
        let count = self.event_count();
        if position >= count {
            return Err(Error::UnknownEvent {
                id: NodeId(position),
                count,
            });
        }
        Ok(Spec1Node::at(&self.sections, position as usize))
    }

    /// A slice of the content; `Spec1::open` has checked its bounds.
    fn piece(&self, offset: u64, len: u32) -> &[u8] {
        &self.content[offset as usize..][..len as usize]
    }

    fn text(&self, node: &Spec1Node<'_>) -> Result<String> {
        let max = limits::TEXT_BYTES_MAX as u64;
        Error::check_limit("text in bytes", node.content_length().into(), max)?;
        let bytes = self.piece(node.content_offset(), node.content_length());
        let text = std::str::from_utf8(bytes).map_err(|e| node.bad(format!("its text: {e}")))?;
        Ok(text.to_owned())
    }

    fn attributes(&self, node: &Spec1Node<'_>) -> Result<Option<Attributes>> {
        if node.metadata_offset() == NONE {
            return Ok(None);
        }
        let max = METADATA_BYTES_MAX as u64;
        Error::check_limit("metadata in bytes", node.metadata_length().into(), max)?;
        let bytes = self.piece(node.metadata_offset(), node.metadata_length());
        serde_json::from_slice(bytes)
            .map(Some)
            .map_err(|e| node.bad(format!("its metadata: {e}")))
    }

    fn vector(&self, node: &Spec1Node<'_>) -> Result<Option<Vec<f32>>> {
        if !self.sections.header.has(HAS_VECTORS) {
            return Ok(None);
        }
        let len = self.dimension() as usize * 4;
        let slot = &self.sections.vectors[node.position * len..][..len];
        if node.vector_offset() == NONE {
            return if slot.iter().all(|&b| b == 0) {
                Ok(None)
            } else {
                Err(node.bad("it has no vector, but a slot that is not zero"))
            };
        }
        let vector: Vec<f32> = slot.chunks_exact(4).map(|n| get_f32(n, 0)).collect();
        if vector.iter().all(|n| n.is_finite()) {
            Ok(Some(vector))
        } else {
            Err(node.bad("its vector has a number that is not finite"))
        }
    }
}

impl Graph for Spec1<'_> {
    fn dimension(&self) -> u32 {
        self.sections.header.vector_dimension()
    }

    fn event_count(&self) -> u64 {
        self.sections.header.node_count.into()
    }

    fn event_at(&self, position: u64) -> Result<Event> {
        let node = self.node(position)?;
        if !node.confidence().is_finite() {
            return Err(node.bad("its confidence is not finite"));
        }
        let created_at = node.micros()?;
        let vector = self.vector(&node)?;
        let attributes = self.attributes(&node)?;
        Ok(Event {
            id: NodeId(position),
            event_type: EventType(node.event_type()),
            flags: Flags::default()
                .set(Flags::VECTOR, vector.is_some())
                .set(Flags::ATTRIBUTES, attributes.is_some()),
            created_at,
            event_time: None,
            session: SessionId(node.session()),
            confidence: node.confidence(),
            access_count: 0,
            last_accessed: created_at,
            decay_score: node.confidence(),
            lambda: 0.0,
            text: self.text(&node)?,
            vector,
            attributes,
        })
    }

    fn edges_at(&self, position: u64) -> Result<Vec<Edge>> {
        let created_at = self.node(position)?.micros()?;
        let records = self.sections.edges.chunks_exact(EDGE_BYTES);
        let edges_before = |bound: u64| {
            let (mut low, mut high) = (0, records.len());
            while low < high {
                let middle = low + (high - low) / 2;
                let source = get_u32(self.sections.edges, middle * EDGE_BYTES);
                if u64::from(source) < bound {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let mut edges = Vec::new();
        for at in edges_before(position)..edges_before(position + 1) {
            let record = &self.sections.edges[at * EDGE_BYTES..][..EDGE_BYTES];
            let target = u64::from(get_u32(record, 4));
            let weight = get_f32(record, 9);
            if !weight.is_finite() {
                let offset = HEADER_BYTES + self.sections.nodes.len() + at * EDGE_BYTES;
                return Err(Error::corrupt(
                    "spec-1 edge record",
                    offset as u64,
                    "its weight is not finite",
                ));
            }
            edges.push(Edge {
                source: NodeId(position),
                target: NodeId(target),
                edge_type: EdgeType(record[8]),
                weight,
                created_at: created_at.max(self.node(target)?.micros()?),
            });
        }
        edges.sort_by_key(Edge::key);
        Ok(edges)
    }
}
