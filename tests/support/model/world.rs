//! Random commits, each done twice: in the journal and in the model.

use amem_format::event::Attributes;
use amem_format::journal::op::{NewNode, Op, Touches};
use amem_format::view::View;
use amem_format::{ActorId, EdgeType, EventType, Flags, Lsn, Micros, NodeId, Result, SessionId};
use serde_json::json;

use super::described;
use super::history::Model;
use super::state::{Act, NewEvent, State};
use super::written::WrittenBrain;
use crate::random::Random;

/// Where the time of a world begins.
const ORIGIN: i64 = 1_700_000_000_000_000;

/// A brain and its model.
pub struct World {
    /// The brain.
    pub written: WrittenBrain,
    /// The model.
    pub model: Model,
    /// Where chance comes from.
    pub random: Random,
    /// What there is now, so that commits make sense.
    state: State,
    time: i64,
    dimension: u32,
    /// Whether events have a time of their own.
    has_event_times: bool,
    /// Whether a commit has named the actors.
    has_actors: bool,
}

/// Actors of a world, numbered from 1: principal and agent.
const ACTORS: [(&str, &str); 4] = [
    ("uid:1", "a"),
    ("uid:1", "b"),
    ("uid:2", "a"),
    ("token:t", ""),
];

/// The number of the actor that records an event of a world; 0 for none.
fn author_number(id: u64) -> u32 {
    (id / 3 % 5) as u32
}

/// Principal and agent of the actor that records an event of a world.
pub fn author_of(id: u64) -> (&'static str, &'static str) {
    match author_number(id) {
        0 => ("", ""),
        number => ACTORS[number as usize - 1],
    }
}

/// An act as an operation, and the JSON and bytes that it borrows.
struct EncodedAct {
    json: String,
    bytes: Vec<u8>,
}

impl World {
    /// An empty world.
    pub fn new(seed: u64) -> Result<Self> {
        let mut random = Random::new(seed);
        let dimension = random.pick(&[0, 3, 20]);
        Ok(Self {
            written: WrittenBrain::new(dimension, Micros(ORIGIN))?,
            model: Model::default(),
            has_event_times: random.below(4) > 0,
            random,
            state: State::default(),
            time: ORIGIN,
            dimension,
            has_actors: false,
        })
    }

    /// Numbers in a vector.
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    /// The newest view.
    pub fn view(&self) -> View {
        self.written.view()
    }

    /// A random commit, or a checkpoint.
    pub fn step(&mut self) -> Result<()> {
        let count = self.state.events.len() as u64;
        let choice = if count < 3 { 0 } else { self.random.below(61) };
        let acts = match choice {
            0..=19 => {
                let count = 1 + self.random.below(5);
                self.ingest(count)
            }
            20..=24 => self.correct(),
            25..=28 => self.link(),
            29..=31 => self.unlink(),
            32..=40 => self.believe(),
            41..=43 => {
                let attributes = self.attributes();
                vec![Act::Attributes(self.event(), attributes)]
            }
            44..=46 => {
                let vector = self.vector();
                vec![Act::Vector(self.event(), vector)]
            }
            47 => vec![Act::Erase(self.event())],
            48..=50 => {
                let times = self.random.below(5) as u32 + 1;
                vec![Act::Touch(self.event(), times)]
            }
            51 => vec![Act::Decay(self.rates())],
            52 => vec![Act::Rates(self.rates())],
            53 => {
                let closed = self.state.sessions.iter();
                let closed = closed.filter(|(id, s)| **id > 0 && s.closed.is_some());
                let closed: Vec<u32> = closed.map(|(id, _)| *id).collect();
                match closed.as_slice() {
                    [] => Vec::new(),
                    closed => {
                        let id = self.random.pick(closed);
                        let session = &self.state.sessions[&id];
                        let (key, agent) = (session.key.clone(), session.agent.clone());
                        vec![Act::Open(id, key, agent)]
                    }
                }
            }
            54 => {
                let id = self
                    .state
                    .sessions
                    .keys()
                    .next_back()
                    .map_or(0, |id| id + 1);
                vec![Act::Open(id, format!("key-{id}"), "tester".into())]
            }
            55..=56 => {
                let open = self
                    .state
                    .sessions
                    .iter()
                    .filter(|(_, s)| s.closed.is_none());
                let open: Vec<u32> = open.map(|(id, _)| *id).collect();
                match open.as_slice() {
                    [] => Vec::new(),
                    open => vec![Act::Close(self.random.pick(open), "done".into())],
                }
            }
            _ => return self.checkpoint(),
        };
        if acts.is_empty() {
            return Ok(());
        }
        self.commit(acts)
    }

    /// Commits many events at once.
    pub fn ingest_many(&mut self, count: u64) -> Result<()> {
        let acts = self.ingest(count);
        self.commit(acts)
    }

    /// Makes a new base.
    pub fn checkpoint(&mut self) -> Result<()> {
        if self.model.is_empty() {
            return Ok(());
        }
        self.written.checkpoint()
    }

    /// Commits.
    pub fn commit(&mut self, acts: Vec<Act>) -> Result<()> {
        self.time += 1 + self.random.below(3 * Micros::DAY as u64) as i64;
        let encoded: Vec<EncodedAct> = acts.iter().map(encode).collect();
        let mut next = self.state.events.len() as u64;
        let pairs = acts.iter().zip(&encoded);
        let mut ops: Vec<Op<'_>> = Vec::new();
        if !std::mem::replace(&mut self.has_actors, true) {
            ops.extend(
                (1..)
                    .zip(ACTORS)
                    .map(|(number, (principal, agent))| Op::Actor {
                        actor: ActorId(number),
                        principal,
                        agent,
                    }),
            );
        }
        for (act, encoded) in pairs {
            let op = to_op(act, encoded, &mut next, self.time);
            if let Op::Event(node) = &op {
                let actor = ActorId(author_number(node.id.0));
                ops.push(Op::Author { actor });
            }
            ops.push(op);
        }
        let lsn = self.written.commit(Micros(self.time), &ops)?;
        for act in &acts {
            self.state.apply(self.time, act);
        }
        self.model.commit(lsn, Micros(self.time), acts);
        Ok(())
    }

    fn event(&mut self) -> u64 {
        self.random.below(self.state.events.len() as u64)
    }

    fn ingest(&mut self, count: u64) -> Vec<Act> {
        let first = self.state.events.len() as u64;
        let mut acts: Vec<Act> = Vec::new();
        let session = self.random.below(6) as u32;
        for id in first..first + count {
            let event = self.new_event(session);
            acts.push(Act::Add(event));
            if id > first && self.random.below(2) == 0 {
                acts.push(Act::Link(id, id - 1, EdgeType::TEMPORAL_NEXT.0, 1.0));
            }
            for _ in 0..self.random.below(3) {
                let target = self.random.below(id + 1);
                let edge_type = self.random.pick(&[0, 1, 2, 4, 5, 6, 99]);
                if target != id {
                    acts.push(Act::Link(id, target, edge_type, self.random.unit()));
                }
            }
        }
        acts
    }

    fn new_event(&mut self, session: u32) -> NewEvent {
        let around = self.time + self.random.below(20 * Micros::DAY as u64) as i64;
        let happened = around - 10 * Micros::DAY;
        // Some at the same moment, so that ties occur.
        let happened = self.random.pick(&[happened, ORIGIN, ORIGIN + Micros::DAY]);
        let has_time = self.has_event_times && self.random.below(3) == 0;
        NewEvent {
            event_type: EventType(self.random.pick(&[0, 0, 0, 1, 2, 4, 5, 77])),
            session,
            event_time: has_time.then_some(happened),
            confidence: self.random.pick(&[1.0, 0.9, 0.5, 0.25]),
            lambda: self.random.pick(&[0.0, 0.0, 0.05]),
            text: self.text(),
            attributes: self.attributes(),
            vector: self.vector(),
        }
    }

    /// Words, some of them in most texts and some in few.
    pub fn text(&mut self) -> String {
        described::text(&mut self.random)
    }

    /// Attributes of an event, or none.
    pub fn attributes(&mut self) -> Option<Attributes> {
        described::attributes(&mut self.random)
    }

    /// A vector, now and then one of zeros, or none.
    pub fn vector(&mut self) -> Option<Vec<f32>> {
        described::vector(&mut self.random, self.dimension)
    }

    fn rates(&mut self) -> [f32; 6] {
        std::array::from_fn(|_| self.random.unit() / 10.0)
    }

    fn correct(&mut self) -> Vec<Act> {
        let (target, id) = (self.event(), self.state.events.len() as u64);
        let mut event = self.new_event(0);
        event.event_type = EventType::CORRECTION;
        let known = &self.state.events[target as usize];
        vec![
            Act::Add(event),
            Act::Link(id, target, EdgeType::SUPERSEDES.0, 1.0),
            Act::Belief(target, 0.0, known.flags, known.made.lambda),
        ]
    }

    fn link(&mut self) -> Vec<Act> {
        let (source, target) = (self.event(), self.event());
        // Supersedes among old events makes the circles that only imports bring.
        let edge_type = self.random.pick(&[0, 1, 2, 3, 3, 4, 5, 6]);
        if source == target {
            return Vec::new();
        }
        vec![Act::Link(source, target, edge_type, self.random.unit())]
    }

    fn unlink(&mut self) -> Vec<Act> {
        let count = self.state.edges.len() as u64;
        if count == 0 {
            return Vec::new();
        }
        let at = self.random.below(count) as usize;
        match self.state.edges.keys().nth(at) {
            Some(&(source, target, edge_type)) => vec![Act::Unlink(source, target, edge_type)],
            None => Vec::new(),
        }
    }

    /// Forget, restore, pin, unpin, compress, or another confidence or rate.
    fn believe(&mut self) -> Vec<Act> {
        let id = self.event();
        let known = self.state.events[id as usize].clone();
        let flag = self.random.pick(&[
            Flags::FORGOTTEN,
            Flags::FORGOTTEN,
            Flags::PINNED,
            Flags::COMPRESSED,
        ]);
        let (confidence, lambda) = (known.made.confidence, known.made.lambda);
        vec![match self.random.below(5) {
            0 => Act::Belief(id, self.random.unit(), known.flags, lambda),
            1 => Act::Belief(id, confidence, known.flags, self.random.unit() / 5.0),
            _ => {
                let flags = known.flags.set(flag, !known.flags.has(flag));
                Act::Belief(id, confidence, flags, lambda)
            }
        }]
    }

    /// A commit of the past, or now.
    pub fn moment(&mut self, now: Lsn) -> Lsn {
        Lsn(self.random.below(now.0 + 1))
    }
}

fn encode(act: &Act) -> EncodedAct {
    if let Act::Before(_, act) = act {
        return encode(act);
    }
    let (mut json, mut bytes) = (String::new(), Vec::new());
    let attributes = match act {
        Act::Add(event) | Act::AddBefore(_, event) => &event.attributes,
        Act::Attributes(_, attributes) => attributes,
        _ => &None,
    };
    if let Some(attributes) = attributes {
        json = serde_json::Value::Object(attributes.clone()).to_string();
    }
    match act {
        Act::Add(NewEvent {
            vector: Some(vector),
            ..
        })
        | Act::AddBefore(
            _,
            NewEvent {
                vector: Some(vector),
                ..
            },
        )
        | Act::Vector(_, Some(vector)) => {
            bytes = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        }
        Act::Touch(id, times) => bytes = Touches::encode(&[(NodeId(*id), *times)]),
        Act::Rates(rates) => {
            let names = [
                "fact",
                "decision",
                "inference",
                "correction",
                "skill",
                "episode",
            ];
            let rates = names
                .iter()
                .zip(rates)
                .map(|(name, rate)| (*name, json!(rate)));
            let rates: serde_json::Map<_, _> = rates.map(|(n, r)| (n.to_owned(), r)).collect();
            json = json!({"decay": rates}).to_string();
        }
        _ => {}
    }
    EncodedAct { json, bytes }
}

fn to_op<'a>(act: &'a Act, encoded: &'a EncodedAct, next: &mut u64, time: i64) -> Op<'a> {
    let at = match act {
        Act::OpenBefore(before, ..) => Micros(time - before),
        _ => Micros(time),
    };
    match act {
        Act::Before(before, act) => to_op(act, encoded, next, time - before),
        Act::Add(event) | Act::AddBefore(_, event) => {
            let at = match act {
                Act::AddBefore(before, _) => Micros(time - before),
                _ => at,
            };
            let id = NodeId(*next);
            *next += 1;
            Op::Event(NewNode {
                id,
                event_type: event.event_type,
                session: SessionId(event.session),
                created_at: at,
                event_time: event.event_time.map(Micros),
                confidence: event.confidence,
                lambda: event.lambda,
                text: &event.text,
                attributes: &encoded.json,
                vector: &encoded.bytes,
                carried: None,
            })
        }
        Act::Link(source, target, edge_type, weight) => Op::Link {
            source: NodeId(*source),
            target: NodeId(*target),
            edge_type: EdgeType(*edge_type),
            weight: *weight,
            created_at: at,
        },
        Act::Unlink(source, target, edge_type) => Op::Unlink {
            source: NodeId(*source),
            target: NodeId(*target),
            edge_type: EdgeType(*edge_type),
        },
        Act::Belief(id, confidence, flags, lambda) => Op::Belief {
            target: NodeId(*id),
            confidence: *confidence,
            flags: *flags,
            lambda: *lambda,
        },
        Act::Attributes(id, _) => Op::Attributes {
            target: NodeId(*id),
            json: &encoded.json,
        },
        Act::Vector(id, _) => Op::Vector {
            target: NodeId(*id),
            vector: &encoded.bytes,
        },
        Act::Erase(id) => Op::Erase {
            target: NodeId(*id),
        },
        Act::Touch(..) => Op::Touch {
            at,
            entries: Touches::from_bytes(&encoded.bytes)
                .unwrap_or_else(|| panic!("touches of {} bytes", encoded.bytes.len())),
        },
        Act::Decay(rates) => Op::Decay { at, rates: *rates },
        Act::Rates(_) => Op::Settings {
            json: &encoded.json,
        },
        Act::Open(id, key, agent) | Act::OpenBefore(_, id, key, agent) => Op::OpenSession {
            session: SessionId(*id),
            key,
            agent,
            at,
        },
        Act::Close(id, outcome) => Op::CloseSession {
            session: SessionId(*id),
            outcome,
            at,
        },
    }
}
