//! A brain from nothing but operations: how imports and adoptions are made.
//!
//! The operations become frames of a journal in memory, so that they pass the same checks as any other; the
//! brain that comes of it is then folded.

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

/// Bytes of payload after which a frame is ended.
const FRAME: usize = 1 << 20;

/// A journal being written in memory.
pub struct Build {
    bytes: Vec<u8>,
    payload: Vec<u8>,
    lsn: u64,
    checksum: u64,
    time: Micros,
}

impl Build {
    /// A brain of this identity, with nothing in it yet. No event may be recorded later than `base_time`.
    pub fn new(identity: &Identity, dimension: u32, settings: &Settings) -> Result<Self> {
        let mut bytes = Vec::new();
        // Commits must follow the base in time; what is built here has no log in the end.
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

    /// Adds an operation.
    pub fn push(&mut self, op: &Op<'_>) -> Result<()> {
        op::encode(&mut self.payload, op);
        if self.payload.len() >= FRAME {
            self.end_frame()
        } else {
            Ok(())
        }
    }

    /// Adds a whole event, with the id that it says.
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

    /// Adds all of a graph whose ids are positions.
    pub fn push_graph(&mut self, graph: &dyn Graph) -> Result<()> {
        for position in 0..graph.event_count() {
            let event = graph.event_at(position)?;
            if event.id != NodeId(position) {
                return Err(Error::invalid("graph", "its ids are not its positions"));
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

    /// A view of all of it.
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

    /// How such a view becomes the first base of a brain.
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
