//! The data of the report: each event and its edges a function of the seed and the event's number.
//!
//! 100 events a session, one recorded each second; six types, uniform; texts and vectors of `data`; three edges an
//! event to any others, of seven types, uniform. It contains two separate chains of supersedes edges: a short one of
//! 100 and a long one of 10,000, or of a tenth of the events if that is less. The edges come with an import, which
//! takes confidences as they are: a supersedes edge lowers none.

use amem_format::event::{Edge, Event, Graph};
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};

use crate::data::{self, Random};

/// Numbers in a vector.
pub(super) const DIMENSION: u32 = 128;
/// The first event's recorded time.
const BEGIN: i64 = 1_700_000_000_000_000;
const SECOND: i64 = 1_000_000;
/// Gaussians of clustered vectors.
const CLUSTERS: u64 = 1_000;
/// A cluster's spread, beside 1 for that of the centres.
const SPREAD: f32 = 0.35;
/// The distance of two events of a chain: the long chain's are at 0, the short one's at 1.
const STRIDE: u64 = 8;

/// How vectors lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    Uniform,
    Clustered,
}

/// The data of a size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corpus {
    pub(super) nodes: u64,
    pub(super) vectors: Vectors,
}

impl Corpus {
    /// Replacements in the long chain.
    pub(super) fn long_chain(&self) -> u64 {
        (self.nodes / 10).min(10_000)
    }

    /// Replacements in the short chain.
    pub(super) fn short_chain(&self) -> u64 {
        100
    }

    /// The first event of a chain and its last replacement.
    pub(super) fn chain(&self, is_long: bool) -> (NodeId, NodeId) {
        if is_long {
            (NodeId(0), NodeId(STRIDE * self.long_chain()))
        } else {
            (NodeId(1), NodeId(STRIDE * self.short_chain() + 1))
        }
    }

    /// The event that an event replaces; none for the first of a chain, and outside of chains.
    fn replaces(&self, id: u64) -> Option<u64> {
        (self.is_chained(id) && id >= STRIDE).then(|| id - STRIDE)
    }

    fn is_chained(&self, id: u64) -> bool {
        let last = match id % STRIDE {
            0 => self.long_chain(),
            1 => self.short_chain(),
            _ => return false,
        };
        id / STRIDE <= last
    }

    /// An event's recorded time.
    pub(super) fn recorded(&self, id: u64) -> Micros {
        Micros(BEGIN + id as i64 * SECOND)
    }

    /// An event's vector.
    pub(super) fn vector(&self, id: u64) -> Vec<f32> {
        vector(self.vectors, &mut random(id, 2))
    }

    /// Query vectors of the same distribution that no event has.
    pub(super) fn questions(&self, count: u64) -> Vec<Vec<f32>> {
        let question = |n| vector(self.vectors, &mut random(n, 5));
        (0..count).map(question).collect()
    }

    /// An event's text.
    pub(super) fn text(&self, id: u64) -> String {
        data::text(&mut random(id, 1))
    }

    /// An event without its vector.
    pub(super) fn bare(&self, id: u64) -> Event {
        let mut random = random(id, 0);
        Event {
            id: NodeId(id),
            event_type: EventType(random.below(6) as u8),
            flags: Flags::default(),
            created_at: self.recorded(id),
            event_time: None,
            session: SessionId((id / 100) as u32 + 1),
            confidence: random.unit(),
            access_count: 0,
            last_accessed: self.recorded(id),
            decay_score: random.unit(),
            lambda: 0.0,
            text: self.text(id),
            vector: None,
            attributes: None,
        }
    }

    /// An event's outgoing edges, by target and type.
    pub(super) fn edges(&self, id: u64) -> Vec<Edge> {
        let mut random = random(id, 3);
        let mut edges: Vec<Edge> = Vec::with_capacity(3);
        if let Some(target) = self.replaces(id) {
            edges.push(self.edge(id, target, EdgeType::SUPERSEDES, random.unit()));
        }
        while edges.len() < 3 {
            let target = random.below(self.nodes);
            let edge_type = EdgeType(random.below(7) as u8);
            let forks = edge_type == EdgeType::SUPERSEDES && self.is_chained(target);
            if target == id || forks || edges.iter().any(|edge| edge.target.0 == target) {
                continue;
            }
            edges.push(self.edge(id, target, edge_type, random.unit()));
        }
        edges.sort_unstable_by_key(Edge::key);
        edges
    }

    fn edge(&self, source: u64, target: u64, edge_type: EdgeType, weight: f32) -> Edge {
        Edge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type,
            weight,
            created_at: self.recorded(source),
        }
    }
}

impl Graph for Corpus {
    fn dimension(&self) -> u32 {
        DIMENSION
    }

    fn event_count(&self) -> u64 {
        self.nodes
    }

    fn event_at(&self, position: u64) -> amem_format::Result<Event> {
        let mut event = self.bare(position);
        event.flags = Flags::VECTOR;
        event.vector = Some(self.vector(position));
        Ok(event)
    }

    fn edges_at(&self, position: u64) -> amem_format::Result<Vec<Edge>> {
        Ok(self.edges(position))
    }
}

/// The random numbers for one purpose and one event.
fn random(id: u64, matter: u64) -> Random {
    Random::new(Random::new(id * 8 + matter).number())
}

fn vector(vectors: Vectors, random: &mut Random) -> Vec<f32> {
    match vectors {
        Vectors::Uniform => (0..DIMENSION).map(|_| 2.0 * random.unit() - 1.0).collect(),
        Vectors::Clustered => {
            let centre = gaussians(&mut self::random(random.below(CLUSTERS), 4));
            let spread = gaussians(random);
            centre
                .iter()
                .zip(spread)
                .map(|(c, s)| c + SPREAD * s)
                .collect()
        }
    }
}

/// Normally distributed numbers (Box and Muller, 1958).
fn gaussians(random: &mut Random) -> Vec<f32> {
    let mut out = Vec::with_capacity(DIMENSION as usize);
    while out.len() < DIMENSION as usize {
        let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
        let (sin, cos) = (std::f32::consts::TAU * random.unit()).sin_cos();
        out.extend([radius * cos, radius * sin]);
    }
    out
}
