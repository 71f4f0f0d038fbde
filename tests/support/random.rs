//! Random graphs from a seed: the same seed makes the same graph on every machine.

use amem_format::event::{Edge, Event, MemoryGraph};
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};

use crate::graphs::sort_edges;

/// The splitmix64 generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator; print the seed when a test fails.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// One of the choices.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f32 {
        (self.number() >> 40) as f32 / (1 << 24) as f32
    }

    /// A text: empty, odd, of words, of noise, or long.
    pub fn text(&mut self) -> String {
        const WORDS: [&str; 12] = [
            "the",
            "decision",
            "größe",
            "日本語",
            "e\u{301}",
            "ΣΑΣ",
            "v1.2",
            "İstanbul",
            "a",
            "🦀",
            "of",
            "naïve",
        ];
        let words = |random: &mut Self, count: u64| {
            let words: Vec<_> = (0..count).map(|_| random.pick(&WORDS)).collect();
            words.join(random.pick(&[" ", "\n", "-", "\0"]))
        };
        match self.below(10) {
            0 => String::new(),
            1 => (0..self.below(50))
                .filter_map(|_| char::from_u32(self.below(0x11_0000) as u32))
                .collect(),
            2 => "repeat ".repeat(self.below(2000) as usize),
            3 => {
                let count = self.below(3000);
                words(self, count)
            }
            _ => {
                let count = self.below(20);
                words(self, count)
            }
        }
    }
}

/// A graph that the reference can hold: ids are positions, each edge once, in the order of a file.
pub fn graph(seed: u64) -> MemoryGraph {
    let random = &mut Random::new(seed);
    let count = random.pick(&[0, 1, 2, 7, 30, 100]);
    let dimension = random.pick(&[0, 1, 3, 128]);
    let events = (0..count).map(|id| event(random, id, dimension)).collect();
    let mut graph = MemoryGraph {
        dimension,
        events,
        edges: Vec::new(),
    };
    if count > 1 {
        for _ in 0..random.below(4 * count) {
            let source = random.below(count);
            let target = (source + 1 + random.below(count - 1)) % count;
            graph.edges.push(Edge {
                source: NodeId(source),
                target: NodeId(target),
                edge_type: random.pick(&EdgeType::ALL),
                weight: random.unit(),
                created_at: Micros(random.below(1 << 57) as i64),
            });
        }
    }
    sort_edges(&mut graph);
    graph.edges.dedup_by_key(|e| e.key());
    graph
}

fn event(random: &mut Random, id: u64, dimension: u32) -> Event {
    let has_vector = dimension > 0 && random.below(3) > 0;
    // 1 is added, as a vector of zeros is none in the reference's layout.
    let vector = has_vector.then(|| (0..dimension).map(|_| random.unit() + 1.0).collect());
    Event {
        id: NodeId(id),
        event_type: random.pick(&EventType::ALL),
        flags: Flags::default().set(Flags::VECTOR, has_vector),
        created_at: Micros(random.below(1 << 57) as i64),
        event_time: None,
        session: SessionId(random.below(5) as u32),
        confidence: random.unit(),
        access_count: random.number() as u32,
        last_accessed: Micros(random.below(1 << 57) as i64),
        decay_score: random.unit(),
        lambda: 0.0,
        text: random.text(),
        vector,
        attributes: None,
    }
}
