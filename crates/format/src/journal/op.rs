//! What a frame's payload says: a sequence of operations on the graph.
//!
//! Operations are physical: they carry the values that result (ids, times, confidences), never a rule to be
//! evaluated, so that replay needs no clock and every reader arrives at the same graph. Which mutation they
//! make up together is the frame's kind.
//!
//! Each operation is a code (u8) and its fields, unaligned, little-endian; strings and lists have their length
//! as u32 in front; a vector begins at a multiple of 4 from the payload's start, so that it is lent as f32.
//! The table of codes is in docs/FORMAT.md.

use uuid::Uuid;

use crate::bytes::{Cursor, push_blob};
use crate::error::Result;
use crate::limits;
use crate::types::{ActorId, EdgeType, EventType, Flags, Lsn, Micros, NodeId, SessionId};

const EVENT: u8 = 1;
const LINK: u8 = 2;
const UNLINK: u8 = 3;
const BELIEF: u8 = 4;
const ATTRIBUTES: u8 = 5;
const VECTOR: u8 = 6;
const TOUCH: u8 = 7;
const DECAY: u8 = 8;
const OPEN_SESSION: u8 = 9;
const CLOSE_SESSION: u8 = 10;
const SETTINGS: u8 = 11;
const ACTOR: u8 = 12;
const REQUEST: u8 = 13;
const ERASE: u8 = 14;

const HAS_EVENT_TIME: u8 = 1;
const HAS_ATTRIBUTES: u8 = 2;
const HAS_VECTOR: u8 = 4;
const HAS_CARRIED: u8 = 8;

/// Bytes of an event's attributes, where it comes from included.
const ATTRIBUTES_LEN: usize = limits::ATTRIBUTES_BYTES_MAX + limits::ORIGIN_BYTES_MAX;

/// One operation, borrowed from a payload (or from a request, before it is encoded).
#[derive(Debug, Clone, PartialEq)]
pub enum Op<'a> {
    /// A new event; its id is the next one.
    Event(NewNode<'a>),
    /// A new edge, or another weight for an existing one (same source, target and type).
    Link {
        /// Where it starts.
        source: NodeId,
        /// Where it ends.
        target: NodeId,
        /// What it means.
        edge_type: EdgeType,
        /// 0..=1.
        weight: f32,
        /// Recorded time.
        created_at: Micros,
    },
    /// An edge is retracted.
    Unlink {
        /// Where it starts.
        source: NodeId,
        /// Where it ends.
        target: NodeId,
        /// What it means.
        edge_type: EdgeType,
    },
    /// An event's confidence, flags and decay rate, all three as they are from now on.
    Belief {
        /// The event.
        target: NodeId,
        /// 0..=1.
        confidence: f32,
        /// Pinned, forgotten, compressed; the others follow from the data.
        flags: Flags,
        /// Per day; 0 is the type's default.
        lambda: f32,
    },
    /// An event's attributes from now on: JSON, or empty for none.
    Attributes {
        /// The event.
        target: NodeId,
        /// A JSON object, or empty.
        json: &'a str,
    },
    /// An event's vector from now on, or none.
    Vector {
        /// The event.
        target: NodeId,
        /// f32 little-endian, of the brain's dimension; or empty.
        vector: &'a [u8],
    },
    /// Events were used.
    Touch {
        /// When.
        at: Micros,
        /// (id: u64, times: u32), 12 bytes each.
        entries: Touches<'a>,
    },
    /// A decay run: from now on strength is that of this time with these rates.
    Decay {
        /// When.
        at: Micros,
        /// Rates per day by event type 0–5; others use the rate of facts.
        rates: [f32; 6],
    },
    /// A session begins.
    OpenSession {
        /// Its number, the next one.
        session: SessionId,
        /// The client's own name for it; empty for none.
        key: &'a str,
        /// Who works in it.
        agent: &'a str,
        /// When.
        at: Micros,
    },
    /// A session ends.
    CloseSession {
        /// Which.
        session: SessionId,
        /// How it ended; may be empty.
        outcome: &'a str,
        /// When.
        at: Micros,
    },
    /// The settings from now on, as JSON.
    Settings {
        /// A JSON object.
        json: &'a str,
    },
    /// A name for an actor number.
    Actor {
        /// The number, the next one.
        actor: ActorId,
        /// Authenticated principal.
        principal: &'a str,
        /// The agent's name, as it claims.
        agent: &'a str,
    },
    /// The request that this transaction answers.
    Request {
        /// The request's id, a UUIDv7.
        id: Uuid,
        /// XXH3-128 of its body.
        body: u128,
        /// What was answered.
        answer: &'a [u8],
    },
    /// An event's text, vector, attributes and all that is derived from them are to vanish.
    Erase {
        /// The event.
        target: NodeId,
    },
}

/// A new event.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNode<'a> {
    /// Its id: the number of events before it.
    pub id: NodeId,
    /// Its type.
    pub event_type: EventType,
    /// Its session.
    pub session: SessionId,
    /// Recorded time, not before that of the event before it.
    pub created_at: Micros,
    /// When it happened.
    pub event_time: Option<Micros>,
    /// 0..=1.
    pub confidence: f32,
    /// Per day; 0 is the type's default.
    pub lambda: f32,
    /// The text.
    pub text: &'a str,
    /// Attributes as JSON; empty for none.
    pub attributes: &'a str,
    /// f32 little-endian, of the brain's dimension; empty for none.
    pub vector: &'a [u8],
    /// What an imported event brings along.
    pub carried: Option<Carried>,
}

/// What an imported event brings along that a new one does not have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// Pinned, forgotten, compressed, erased.
    pub flags: Flags,
    /// How often it was touched.
    pub access_count: u32,
    /// When it was last touched.
    pub last_accessed: Micros,
    /// Strength at the last decay run.
    pub decay_score: f32,
}

/// The entries of a touch: (id, times).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touches<'a>(&'a [u8]);

impl<'a> Touches<'a> {
    /// Bytes of one entry.
    pub const ENTRY: usize = 12;

    /// Entries as bytes, a multiple of `ENTRY`.
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        bytes
            .len()
            .is_multiple_of(Self::ENTRY)
            .then_some(Self(bytes))
    }

    /// Encodes entries.
    pub fn encode(entries: &[(NodeId, u32)]) -> Vec<u8> {
        entries
            .iter()
            .flat_map(|(id, n)| id.0.to_le_bytes().into_iter().chain(n.to_le_bytes()))
            .collect()
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, u32)> + 'a {
        self.0.chunks_exact(Self::ENTRY).map(|e| {
            (
                NodeId(crate::bytes::get_u64(e, 0)),
                crate::bytes::get_u32(e, 8),
            )
        })
    }
}

/// Appends an operation to a payload.
pub fn encode(out: &mut Vec<u8>, op: &Op<'_>) {
    let u32s = |out: &mut Vec<u8>, v: u32| out.extend_from_slice(&v.to_le_bytes());
    let u64s = |out: &mut Vec<u8>, v: u64| out.extend_from_slice(&v.to_le_bytes());
    let i64s = |out: &mut Vec<u8>, v: i64| out.extend_from_slice(&v.to_le_bytes());
    let f32s = |out: &mut Vec<u8>, v: f32| out.extend_from_slice(&v.to_le_bytes());
    match op {
        Op::Event(node) => {
            out.push(EVENT);
            u64s(out, node.id.0);
            out.push(node.event_type.0);
            out.push(
                (u8::from(node.event_time.is_some()) * HAS_EVENT_TIME)
                    | (u8::from(!node.attributes.is_empty()) * HAS_ATTRIBUTES)
                    | (u8::from(!node.vector.is_empty()) * HAS_VECTOR)
                    | (u8::from(node.carried.is_some()) * HAS_CARRIED),
            );
            u32s(out, node.session.0);
            i64s(out, node.created_at.0);
            f32s(out, node.confidence);
            f32s(out, node.lambda);
            push_blob(out, node.text.as_bytes());
            if let Some(time) = node.event_time {
                i64s(out, time.0);
            }
            if !node.attributes.is_empty() {
                push_blob(out, node.attributes.as_bytes());
            }
            if !node.vector.is_empty() {
                push_vector(out, node.vector);
            }
            if let Some(carried) = &node.carried {
                out.push(carried.flags.0);
                u32s(out, carried.access_count);
                i64s(out, carried.last_accessed.0);
                f32s(out, carried.decay_score);
            }
        }
        Op::Link {
            source,
            target,
            edge_type,
            weight,
            created_at,
        } => {
            out.push(LINK);
            u64s(out, source.0);
            u64s(out, target.0);
            out.push(edge_type.0);
            f32s(out, *weight);
            i64s(out, created_at.0);
        }
        Op::Unlink {
            source,
            target,
            edge_type,
        } => {
            out.push(UNLINK);
            u64s(out, source.0);
            u64s(out, target.0);
            out.push(edge_type.0);
        }
        Op::Belief {
            target,
            confidence,
            flags,
            lambda,
        } => {
            out.push(BELIEF);
            u64s(out, target.0);
            f32s(out, *confidence);
            out.push(flags.0);
            f32s(out, *lambda);
        }
        Op::Attributes { target, json } => {
            out.push(ATTRIBUTES);
            u64s(out, target.0);
            push_blob(out, json.as_bytes());
        }
        Op::Vector { target, vector } => {
            out.push(VECTOR);
            u64s(out, target.0);
            push_vector(out, vector);
        }
        Op::Touch { at, entries } => {
            out.push(TOUCH);
            i64s(out, at.0);
            push_blob(out, entries.0);
        }
        Op::Decay { at, rates } => {
            out.push(DECAY);
            i64s(out, at.0);
            rates.iter().for_each(|&r| f32s(out, r));
        }
        Op::OpenSession {
            session,
            key,
            agent,
            at,
        } => {
            out.push(OPEN_SESSION);
            u32s(out, session.0);
            i64s(out, at.0);
            push_blob(out, key.as_bytes());
            push_blob(out, agent.as_bytes());
        }
        Op::CloseSession {
            session,
            outcome,
            at,
        } => {
            out.push(CLOSE_SESSION);
            u32s(out, session.0);
            i64s(out, at.0);
            push_blob(out, outcome.as_bytes());
        }
        Op::Settings { json } => {
            out.push(SETTINGS);
            push_blob(out, json.as_bytes());
        }
        Op::Actor {
            actor,
            principal,
            agent,
        } => {
            out.push(ACTOR);
            u32s(out, actor.0);
            push_blob(out, principal.as_bytes());
            push_blob(out, agent.as_bytes());
        }
        Op::Request { id, body, answer } => {
            out.push(REQUEST);
            out.extend_from_slice(id.as_bytes());
            out.extend_from_slice(&body.to_le_bytes());
            push_blob(out, answer);
        }
        Op::Erase { target } => {
            out.push(ERASE);
            u64s(out, target.0);
        }
    }
}

fn push_vector(out: &mut Vec<u8>, vector: &[u8]) {
    out.extend_from_slice(&(vector.len() as u32).to_le_bytes());
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend_from_slice(vector);
}

/// The operations of a payload, decoded one by one.
#[derive(Debug, Clone)]
pub struct Ops<'a>(Cursor<'a>);

impl<'a> Ops<'a> {
    /// The operations of a payload that stands at `position` in the file.
    pub fn new(payload: &'a [u8], position: u64) -> Self {
        Self(Cursor::new(payload, "frame", position))
    }
}

impl<'a> Iterator for Ops<'a> {
    type Item = Result<Op<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let op = decode(&mut self.0);
        if op.is_err() {
            // Nothing after a bad operation can be trusted to begin where it seems to.
            self.0 = Cursor::new(&[], "frame", 0);
        }
        Some(op)
    }
}

fn decode<'a>(c: &mut Cursor<'a>) -> Result<Op<'a>> {
    Ok(match c.u8()? {
        EVENT => {
            let id = NodeId(c.u64()?);
            let event_type = EventType(c.u8()?);
            let has = c.u8()?;
            let session = SessionId(c.u32()?);
            let created_at = Micros(c.i64()?);
            let confidence = unit(c)?;
            let lambda = rate(c)?;
            let text = c.str()?;
            let when = |bit: u8| has & bit != 0;
            let event_time = if when(HAS_EVENT_TIME) {
                Some(Micros(c.i64()?))
            } else {
                None
            };
            let attributes = if when(HAS_ATTRIBUTES) { c.str()? } else { "" };
            let vector = if when(HAS_VECTOR) { vector(c)? } else { &[] };
            let carried = if when(HAS_CARRIED) {
                Some(Carried {
                    flags: Flags(c.u8()?),
                    access_count: c.u32()?,
                    last_accessed: Micros(c.i64()?),
                    decay_score: c.f32()?,
                })
            } else {
                None
            };
            limit(c, text.len(), limits::TEXT_BYTES_MAX)?;
            limit(c, attributes.len(), ATTRIBUTES_LEN)?;
            Op::Event(NewNode {
                id,
                event_type,
                session,
                created_at,
                event_time,
                confidence,
                lambda,
                text,
                attributes,
                vector,
                carried,
            })
        }
        LINK => Op::Link {
            source: NodeId(c.u64()?),
            target: NodeId(c.u64()?),
            edge_type: EdgeType(c.u8()?),
            weight: unit(c)?,
            created_at: Micros(c.i64()?),
        },
        UNLINK => Op::Unlink {
            source: NodeId(c.u64()?),
            target: NodeId(c.u64()?),
            edge_type: EdgeType(c.u8()?),
        },
        BELIEF => Op::Belief {
            target: NodeId(c.u64()?),
            confidence: unit(c)?,
            flags: Flags(c.u8()?),
            lambda: rate(c)?,
        },
        ATTRIBUTES => {
            let (target, json) = (NodeId(c.u64()?), c.str()?);
            limit(c, json.len(), ATTRIBUTES_LEN)?;
            Op::Attributes { target, json }
        }
        VECTOR => Op::Vector {
            target: NodeId(c.u64()?),
            vector: vector(c)?,
        },
        TOUCH => {
            let at = Micros(c.i64()?);
            let bytes = c.blob()?;
            let entries = Touches::from_bytes(bytes)
                .ok_or_else(|| c.bad("a touch whose entries have a rest"))?;
            Op::Touch { at, entries }
        }
        DECAY => {
            let at = Micros(c.i64()?);
            let mut rates = [0.0; 6];
            for slot in &mut rates {
                *slot = rate(c)?;
            }
            Op::Decay { at, rates }
        }
        OPEN_SESSION => {
            let (session, at) = (SessionId(c.u32()?), Micros(c.i64()?));
            let (key, agent) = (c.str()?, c.str()?);
            limit(c, key.len().max(agent.len()), limits::NAME_BYTES_MAX)?;
            Op::OpenSession {
                session,
                key,
                agent,
                at,
            }
        }
        CLOSE_SESSION => {
            let (session, at, outcome) = (SessionId(c.u32()?), Micros(c.i64()?), c.str()?);
            limit(c, outcome.len(), limits::OUTCOME_BYTES_MAX)?;
            Op::CloseSession {
                session,
                outcome,
                at,
            }
        }
        SETTINGS => {
            let json = c.str()?;
            limit(c, json.len(), limits::SETTINGS_BYTES_MAX)?;
            Op::Settings { json }
        }
        ACTOR => {
            let (actor, principal, agent) = (ActorId(c.u32()?), c.str()?, c.str()?);
            limit(c, principal.len().max(agent.len()), limits::NAME_BYTES_MAX)?;
            Op::Actor {
                actor,
                principal,
                agent,
            }
        }
        REQUEST => {
            let mut id = [0; 16];
            id.copy_from_slice(c.take(16)?);
            let mut body = [0; 16];
            body.copy_from_slice(c.take(16)?);
            let answer = c.blob()?;
            limit(c, answer.len(), limits::ANSWER_BYTES_MAX)?;
            Op::Request {
                id: Uuid::from_bytes(id),
                body: u128::from_le_bytes(body),
                answer,
            }
        }
        ERASE => Op::Erase {
            target: NodeId(c.u64()?),
        },
        code => return Err(c.bad(format!("unknown operation {code}"))),
    })
}

fn unit(c: &mut Cursor<'_>) -> Result<f32> {
    let value = c.f32()?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(c.bad(format!("{value} is not within 0..=1")))
    }
}

fn rate(c: &mut Cursor<'_>) -> Result<f32> {
    let value = c.f32()?;
    if value >= 0.0 {
        Ok(value)
    } else {
        Err(c.bad(format!("a decay rate of {value}")))
    }
}

fn vector<'a>(c: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let len = c.u32()? as usize;
    c.align(4)?;
    let bytes = c.take(len)?;
    if !len.is_multiple_of(4)
        || bytes
            .chunks_exact(4)
            .any(|b| !crate::bytes::get_f32(b, 0).is_finite())
    {
        return Err(c.bad("a vector with a number that is not finite, or cut short"));
    }
    Ok(bytes)
}

fn limit(c: &Cursor<'_>, len: usize, max: usize) -> Result<()> {
    if len > max {
        Err(c.bad(format!("{len} bytes where at most {max} may be")))
    } else {
        Ok(())
    }
}

/// A whole transaction, as subscribers and recovery see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    /// Its number: the LSN of its last frame.
    pub lsn: Lsn,
    /// Recorded time.
    pub time: Micros,
    /// Who.
    pub actor: ActorId,
    /// Which mutation.
    pub kind: super::frame::Kind,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Op<'static>> {
        const VECTOR_BYTES: &[u8] = &[0, 0, 128, 63, 0, 0, 0, 64];
        const TOUCHES: &[u8] = &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0];
        let node = NewNode {
            id: NodeId(7),
            event_type: EventType::SKILL,
            session: SessionId(3),
            created_at: Micros(1_000),
            event_time: None,
            confidence: 0.5,
            lambda: 0.0,
            text: "how to",
            attributes: "",
            vector: &[],
            carried: None,
        };
        vec![
            Op::Event(node.clone()),
            Op::Event(NewNode {
                event_time: Some(Micros(-5)),
                attributes: r#"{"a":1}"#,
                vector: VECTOR_BYTES,
                carried: Some(Carried {
                    flags: Flags::PINNED,
                    access_count: 3,
                    last_accessed: Micros(9),
                    decay_score: 0.25,
                }),
                ..node
            }),
            Op::Link {
                source: NodeId(1),
                target: NodeId(2),
                edge_type: EdgeType::PART_OF,
                weight: 1.0,
                created_at: Micros(3),
            },
            Op::Unlink {
                source: NodeId(1),
                target: NodeId(2),
                edge_type: EdgeType(200),
            },
            Op::Belief {
                target: NodeId(1),
                confidence: 0.0,
                flags: Flags::FORGOTTEN,
                lambda: 0.1,
            },
            Op::Attributes {
                target: NodeId(1),
                json: "{}",
            },
            Op::Vector {
                target: NodeId(1),
                vector: VECTOR_BYTES,
            },
            Op::Touch {
                at: Micros(1),
                entries: Touches::from_bytes(TOUCHES).unwrap(),
            },
            Op::Decay {
                at: Micros(1),
                rates: [0.1; 6],
            },
            Op::OpenSession {
                session: SessionId(1),
                key: "k",
                agent: "a",
                at: Micros(1),
            },
            Op::CloseSession {
                session: SessionId(1),
                outcome: "done",
                at: Micros(2),
            },
            Op::Settings { json: "{}" },
            Op::Actor {
                actor: ActorId(1),
                principal: "uid 1000",
                agent: "claude",
            },
            Op::Request {
                id: Uuid::from_u128(5),
                body: 77,
                answer: b"yes",
            },
            Op::Erase { target: NodeId(4) },
        ]
    }

    #[test]
    fn operations_read_back() {
        let mut payload = Vec::new();
        samples().iter().for_each(|op| encode(&mut payload, op));
        let back: Result<Vec<_>> = Ops::new(&payload, 0).collect();
        assert_eq!(back.unwrap(), samples());
    }

    #[test]
    fn cut_or_changed_payloads_are_errors_or_other_operations_but_never_a_panic() {
        let mut payload = Vec::new();
        samples().iter().for_each(|op| encode(&mut payload, op));
        for cut in 0..payload.len() {
            Ops::new(&payload[..cut], 0).for_each(drop);
        }
        for at in 0..payload.len() {
            for value in [0, 1, 127, 255] {
                let mut bad = payload.clone();
                bad[at] = value;
                Ops::new(&bad, 0).for_each(drop);
            }
        }
    }
}
