//! The brain that is damaged: 128 KiB, with every section and a journal, made by the store from a seed.

use std::sync::Arc;

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::{EdgeType, EventType, Micros, NodeId, SessionId};
use amem_store::disk::Disk;
use amem_store::mutation::{Correct, End, Ingest, NewEdge, NewEvent, NewLink};
use amem_store::{Folder, MergeSource, Mutation, NewBrain, Request, Result, Store, create};
use serde_json::json;
use uuid::{NoContext, Timestamp, Uuid};

use crate::disk::SimDisk;
use crate::random::Random;

/// Bytes of the file.
pub const BYTES: usize = 128 << 10;

/// Numbers in a vector.
const DIMENSION: u32 = 8;
/// Events of the base, before corrections and episodes, of which as many are made as fit.
const EVENTS_MAX: u64 = 160;
/// Sessions that are opened.
const SESSIONS: u64 = 9;

/// The file of a brain of this seed, closed in order, the zeros behind its journal cut to `BYTES`.
///
/// # Panics
/// If the store refuses, or no brain fits.
pub fn brain(seed: u64) -> Vec<u8> {
    let used = |bytes: &[u8]| bytes.iter().rposition(|&b| b != 0).unwrap_or(0);
    for events in (0..EVENTS_MAX).rev().step_by(8) {
        let mut bytes =
            made(seed, events).unwrap_or_else(|e| panic!("the brain of seed {seed}: {e}"));
        if used(&bytes) < BYTES {
            assert!(
                used(&bytes) > BYTES * 7 / 8,
                "{} bytes are used",
                used(&bytes)
            );
            bytes.truncate(BYTES);
            return bytes;
        }
    }
    panic!("no brain of seed {seed} has {BYTES} bytes")
}

fn made(seed: u64, events: u64) -> Result<Vec<u8>> {
    let disk = Arc::new(SimDisk::new(seed));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test")?;
    let options = NewBrain {
        dimension: DIMENSION,
        space: Uuid::from_u128(0xA11CE),
        settings: Settings::default(),
    };
    create(&folder, "b", &options)?;
    let mut life = Life {
        store: Store::open(&folder, "b")?,
        random: Random::new(seed),
        disk,
        closed: 0,
    };
    life.begin()?;
    life.grow(events)?;
    life.change()?;
    life.store.checkpoint()?;
    life.change()?;
    create(&folder, "other", &options)?;
    let mut other = Store::open(&folder, "other")?;
    life.meet(&mut other)?;
    life.run(Mutation::Erase(vec![NodeId(5), NodeId(7)]))?;
    // An erase is done with by the checkpoint, and what follows stays in the journal.
    life.store.checkpoint()?;
    life.grow(14)?;
    life.change()?;
    life.meet(&mut other)?;
    let disk = life.disk.clone();
    life.store.close()?;
    Ok(disk.contents("b.amem").unwrap_or_default())
}

/// A brain while it is made.
struct Life {
    store: Store,
    random: Random,
    disk: Arc<SimDisk>,
    /// The sessions that are closed; nothing is said in them.
    closed: u32,
}

impl Life {
    fn run(&mut self, mutation: Mutation) -> Result<()> {
        self.disk.advance(3_600_000_000);
        let now = self.disk.now().0 as u64;
        let agent = self.random.pick(&["", "planner", "critic"]);
        let mut request = Request::new(mutation).by("uid:1000", agent);
        if self.random.below(3) == 0 {
            let stamp = Timestamp::from_unix(NoContext, now / 1_000_000, 0);
            let mut id = *Uuid::new_v7(stamp).as_bytes();
            // All but its time and its version comes from the seed.
            id[8..].copy_from_slice(&(self.random.number() >> 2 | 1 << 63).to_be_bytes());
            (id[6], id[7]) = (0x70, 0);
            request = request.with_id(Uuid::from_bytes(id));
        }
        self.store.execute(request).map(drop)
    }

    /// Another brain gets an event, changes it, links it and retracts an edge; the first merges it.
    fn meet(&mut self, other: &mut Store) -> Result<()> {
        let first = other.view().nodes();
        let [one, two] = [NodeId(first), NodeId(first + 1)];
        let events =
            [one, two].map(|id| NewEvent::new(EventType::FACT, format!("of another {id}")));
        let edge = NewEdge {
            source: one,
            target: two,
            edge_type: EdgeType::SUPPORTS,
            weight: 0.5,
        };
        let told = json!({"told": first}).as_object().cloned();
        let ingest = Ingest {
            events: events.into(),
            ..Ingest::default()
        };
        for mutation in [
            Mutation::Ingest(ingest),
            Mutation::SetAttributes {
                target: one,
                attributes: told.map(Attributes::from_iter),
            },
            Mutation::Pin(two),
            Mutation::Link(edge),
        ] {
            self.disk.advance(1_000_000);
            other.execute(Request::new(mutation))?;
        }
        self.run(Mutation::Merge(MergeSource::new(other.view())))
    }

    /// Sessions with keys.
    fn begin(&mut self) -> Result<()> {
        for at in 1..=SESSIONS {
            let key = format!("conversation/{at}");
            self.run(Mutation::OpenSession { key })?;
        }
        Ok(())
    }

    fn session(&mut self) -> SessionId {
        SessionId(self.random.below(SESSIONS - 2) as u32)
    }

    /// An event that can be spoken of.
    fn event(&mut self, known: u64) -> NodeId {
        let view = self.store.view();
        loop {
            let id = NodeId(self.random.below(known));
            if view
                .node(id)
                .is_ok_and(|node| !node.is_forgotten() && !node.is_erased())
            {
                return id;
            }
        }
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION)
            .map(|_| self.random.unit() * 2.0 - 1.0)
            .collect()
    }

    /// Short, long and repeating (LZ4 makes it shorter), or long and not.
    fn text(&mut self) -> String {
        const WORDS: [&str; 14] = [
            "harbour", "violin", "größe", "東京", "walking", "painted", "orchard", "kite", "lamp",
            "meadow", "stones", "the", "river", "garden",
        ];
        let count = 3 + self.random.below(9);
        let words: Vec<_> = (0..count).map(|_| self.random.pick(&WORDS)).collect();
        let words = words.join(" ");
        match self.random.below(12) {
            0 => format!("{words}. ").repeat(12),
            1 => {
                let noise = (0..24).map(|_| format!("{:x}", self.random.number()));
                noise.collect::<Vec<_>>().join(" ")
            }
            _ => words,
        }
    }

    fn attributes(&mut self) -> Attributes {
        let (rank, user) = (self.random.below(9), self.random.below(3));
        let told = json!({"rank": rank, "user": format!("u{user}"), "tags": ["old", "seen"], "at": {"page": rank * 2}});
        told.as_object().cloned().unwrap_or_default()
    }

    fn new_event(&mut self) -> NewEvent {
        let has_time = self.random.below(3) == 0;
        let days = self.random.below(90) as i64;
        NewEvent {
            session: Some(self.session()),
            confidence: self.random.pick(&[1.0, 0.9, 0.5]),
            event_time: has_time.then_some(Micros(1_650_000_000_000_000 + days * Micros::DAY)),
            lambda: (self.random.below(8) == 0).then_some(0.25),
            attributes: (self.random.below(3) == 0).then(|| self.attributes()),
            vector: (self.random.below(6) > 0).then(|| self.vector()),
            ..NewEvent::new(EventType(self.random.pick(&[0, 1, 2, 4, 5])), self.text())
        }
    }

    /// New events, some at once, tied to each other and to earlier ones.
    fn grow(&mut self, count: u64) -> Result<()> {
        let end = self.store.view().nodes() + count;
        while self.store.view().nodes() < end {
            let known = self.store.view().nodes();
            let events: Vec<_> = (0..1 + self.random.below(12))
                .map(|_| self.new_event())
                .collect();
            let mut links = Vec::new();
            for at in 0..events.len() {
                let target = match known {
                    0 => continue,
                    known => End::Event(self.event(known)),
                };
                links.push(NewLink {
                    source: End::New(at),
                    target,
                    edge_type: EdgeType(self.random.pick(&[0, 1, 2, 4, 5])),
                    weight: self.random.unit(),
                });
            }
            self.run(Mutation::Ingest(Ingest {
                events,
                links,
                follow: true,
                relate: None,
                forget: Vec::new(),
            }))?;
        }
        Ok(())
    }

    /// One of every other mutation.
    fn change(&mut self) -> Result<()> {
        for reason in [None, Some("it was measured again")] {
            // A correction of a correction is a chain.
            for to_head in [false, true, true] {
                let event = NewEvent::new(EventType::CORRECTION, self.text());
                self.run(Mutation::Correct(Correct {
                    target: NodeId(11),
                    to_head,
                    event,
                    target_confidence: to_head.then_some(0.25),
                    reason: reason.map(str::to_owned),
                }))?;
            }
        }
        let session = SessionId(1 + self.closed);
        let (first, second) = (NodeId(20 + u64::from(self.closed)), NodeId(3));
        let (vector, attributes) = (self.vector(), self.attributes());
        let edge_type = EdgeType::SUPPORTS;
        let settings = Settings {
            fading_below: 0.3,
            ..Settings::default()
        };
        let all = [
            Mutation::Link(NewEdge {
                source: NodeId(8),
                target: second,
                edge_type,
                weight: 0.5,
            }),
            Mutation::Unlink {
                source: NodeId(8),
                target: second,
                edge_type,
            },
            Mutation::Link(NewEdge {
                source: NodeId(9),
                target: second,
                edge_type: EdgeType::CONTRADICTS,
                weight: self.random.unit(),
            }),
            Mutation::Touch(vec![(first, 2), (second, 1)]),
            Mutation::Pin(first),
            Mutation::Unpin(first),
            Mutation::Forget(second),
            Mutation::Restore(second),
            Mutation::Forget(NodeId(30 + u64::from(self.closed))),
            Mutation::SetVector {
                target: NodeId(2),
                vector: Some(vector),
                space: None,
            },
            Mutation::SetAttributes {
                target: NodeId(2),
                attributes: Some(attributes),
            },
            Mutation::Compress {
                session,
                text: "what was said in it".into(),
                vector: None,
            },
            Mutation::Decay,
            Mutation::SetSettings(settings),
            Mutation::CloseSession {
                session: SessionId(SESSIONS as u32 - self.closed),
                outcome: "agreed".into(),
            },
            // It goes on, and ends again.
            Mutation::OpenSession {
                key: format!("conversation/{}", SESSIONS as u32 - self.closed),
            },
            Mutation::CloseSession {
                session: SessionId(SESSIONS as u32 - self.closed),
                outcome: "agreed again".into(),
            },
        ];
        self.closed += 1;
        all.into_iter().try_for_each(|mutation| self.run(mutation))
    }
}
