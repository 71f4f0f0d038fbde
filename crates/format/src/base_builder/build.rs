//! Builds a brain from operations alone, for imports and adoptions.
//!
//! The operations become frames of a journal in memory, so they pass the same checks as any other frame. A checkpoint
//! of that brain then gives its first base.

use std::sync::Arc;

use super::{Options, empty, journal};
use crate::base::identity::Identity;
use crate::base::settings::Settings;
use crate::brain::Brain;
use crate::error::{Error, Result};
use crate::event::{Attributes, Event, Graph};
use crate::journal::frame::{self, Header, Kind};
use crate::journal::op::{self, ImportedState, NewNode, Op};
use crate::mapping::Map;
use crate::types::{ActorId, Flags, Lsn, Micros, NodeId};
use crate::view::View;

/// Bytes of payload that end a frame.
const FRAME: usize = 1 << 20;

/// A journal under construction in memory.
pub struct Build {
    bytes: Vec<u8>,
    payload: Vec<u8>,
    lsn: u64,
    checksum: u64,
    time: Micros,
}

impl Build {
    /// An empty brain of this identity. No event may be recorded after `base_time`.
    pub fn new(identity: &Identity, dimension: u32, settings: &Settings) -> Result<Self> {
        let mut bytes = Vec::new();
        // Commits must be later than the base. The first base of a brain has no log, so these times are not stored.
        let before = Identity {
            base_time: Micros(identity.base_time.0 - 1),
            ..*identity
        };
        let end = empty(&before, dimension, settings, &mut bytes)?;
        journal(&before, 0, end, &mut bytes)?;
        let brain = Brain::open(Map::owned(&bytes))?;
        let checksum = brain.start().map_or(0, |start| start.checksum);
        Ok(Self {
            bytes,
            payload: Vec::new(),
            lsn: 0,
            checksum,
            time: identity.base_time,
        })
    }

    /// Appends an operation.
    pub fn push(&mut self, op: &Op<'_>) -> Result<()> {
        op::encode(&mut self.payload, op);
        if self.payload.len() >= FRAME {
            self.end_frame()
        } else {
            Ok(())
        }
    }

    /// Appends an event under the id that it has.
    pub fn push_event(&mut self, event: &Event) -> Result<()> {
        let attributes = event
            .attributes
            .as_ref()
            .map(json)
            .transpose()?
            .unwrap_or_default();
        let vector = event.vector.as_deref().unwrap_or_default();
        self.push(&Op::Event(NewNode {
            id: event.id,
            event_type: event.event_type,
            session: event.session,
            created_at: event.created_at,
            event_time: event.event_time,
            confidence: event.confidence.clamp(0.0, 1.0),
            lambda: event.lambda,
            text: &event.text,
            attributes: &attributes,
            vector: bytemuck::cast_slice(vector),
            carried: Some(ImportedState {
                flags: event.flags.without(Flags::VECTOR.with(Flags::ATTRIBUTES)),
                access_count: event.access_count,
                last_accessed: event.last_accessed,
                decay_score: event.decay_score,
            }),
        }))
    }

    /// Appends a graph; fails if its ids are not its positions.
    pub fn push_graph(&mut self, graph: &dyn Graph) -> Result<()> {
        for position in 0..graph.event_count() {
            let event = graph.event_at(position)?;
            if event.id != NodeId(position) {
                return Err(Error::invalid("graph", "ids must equal positions"));
            }
            self.push_event(&event)?;
        }
        for position in 0..graph.event_count() {
            for edge in graph.edges_at(position)? {
                self.push(&Op::Link {
                    source: edge.source,
                    target: edge.target,
                    edge_type: edge.edge_type,
                    weight: edge.weight.clamp(0.0, 1.0),
                    created_at: edge.created_at,
                })?;
            }
        }
        Ok(())
    }

    fn end_frame(&mut self) -> Result<()> {
        if self.payload.is_empty() {
            return Ok(());
        }
        self.lsn += 1;
        let header = Header {
            kind: Kind::Import,
            more: false,
            lsn: Lsn(self.lsn),
            time: self.time,
            actor: ActorId(0),
        };
        self.time.0 += 1;
        self.checksum = frame::encode(&mut self.bytes, &header, &self.payload, self.checksum)?;
        self.payload.clear();
        Ok(())
    }

    /// Opens a view of everything appended.
    pub fn finish(mut self) -> Result<View> {
        self.end_frame()?;
        let brain = Arc::new(Brain::open(Map::owned(&self.bytes))?);
        drop(self.bytes);
        if let Some(start) = brain.start() {
            let replayed = brain.replay(start, u64::MAX)?;
            if let Some(torn) = replayed.torn {
                return Err(Error::corrupt("import", replayed.position.at, torn));
            }
        }
        Ok(brain.view())
    }

    /// Options for the first base of a brain from such a view.
    pub fn options(view: &View, identity: &Identity) -> Options {
        Options {
            identity: Identity {
                decay: view.decay_run(),
                origin_nodes: view.nodes(),
                ..*identity
            },
            now: identity.origin_time,
            origin: true,
        }
    }
}

fn json(attributes: &Attributes) -> Result<String> {
    serde_json::to_string(attributes).map_err(|e| Error::invalid("attributes", e.to_string()))
}
