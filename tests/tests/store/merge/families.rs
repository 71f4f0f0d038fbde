//! Families of brains that merge until nothing is left to merge: three or more of them settle, on the same, whatever
//! the order.
//!
//! A family has up to five brains: copies of each other, and unrelated ones that merged once. Each changes fields,
//! edges and sessions under a clock of its own, merges now and then, and makes a checkpoint between. Then they merge in
//! random orders: every brain with every other, around a ring, or by a hub. `AMEM_MERGE_FAMILIES` sets how many
//! families are tried; the short form has `FAMILIES`.

use std::collections::BTreeMap;

use amem_format::event::Attributes;
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, Flags, Lsn, Micros, NodeId, SessionId};
use amem_store::disk::Disk;
use amem_store::mutation::{End, Ingest, NewEdge, NewEvent, NewLink};
use amem_store::{Mutation, ORIGIN, Request, Store};
use amem_tests::random::Random;

use super::World;
use crate::{correction, fact, ingest, run};

/// Families in the short form.
const FAMILIES: u64 = 200;
/// Rounds of merges after which a family of five has settled, whatever its orders: a value goes around a ring of five
/// in four rounds at most, and one round more finds nothing.
const ROUNDS_MAX: usize = 5;

fn set(target: u64, value: &str) -> Mutation {
    Mutation::SetAttributes {
        target: NodeId(target),
        attributes: Some(Attributes::from_iter([(
            "said".to_owned(),
            value.to_owned().into(),
        )])),
    }
}

fn said(store: &Store, id: u64) -> String {
    let view = store.view();
    let attributes = view.node(NodeId(id)).unwrap().attributes().unwrap();
    attributes.map_or_else(String::new, |of| of["said"].as_str().unwrap().to_owned())
}

fn lsns(world: &World) -> Vec<Lsn> {
    let of = |brain: &Store| brain.view().lsn();
    world.brains.iter().map(of).collect()
}

fn merge_at(world: &mut World, into: usize, from: usize) {
    world.disk.advance(1_000_000);
    world.merge(into, from);
}

#[test]
fn three_brains_that_merge_around_a_ring_settle_on_the_last_value() {
    let mut world = World::of(3, 90);
    for (who, value) in ["first", "second", "third"].into_iter().enumerate() {
        world.disk.advance(1_000_000);
        run(&mut world.brains[who], set(0, value)).unwrap();
    }
    let mut seen = Vec::new();
    for round in 0..6 {
        let before = lsns(&world);
        for who in 0..3 {
            merge_at(&mut world, who, (who + 1) % 3);
        }
        let of = |brain: &Store| said(brain, 0);
        seen.push(world.brains.iter().map(of).collect::<Vec<_>>());
        if lsns(&world) == before {
            assert!(round <= 2, "{seen:?}");
            assert_eq!(seen.last().unwrap(), &["third"; 3], "{seen:?}");
            return;
        }
    }
    panic!("the ring never settles: {seen:?}");
}

#[test]
fn an_older_value_of_ones_own_does_not_come_back_over_a_newer_one() {
    for with_checkpoints in [false, true] {
        let mut world = World::of(3, 91);
        run(&mut world.brains[0], set(0, "older")).unwrap();
        merge_at(&mut world, 1, 0);
        world.disk.advance(1_000_000);
        run(&mut world.brains[0], set(0, "newer")).unwrap();
        if with_checkpoints {
            world.brains[1].checkpoint().unwrap();
        }
        // The second still has the older value, and hands it on.
        merge_at(&mut world, 2, 1);
        if with_checkpoints {
            world.brains[2].checkpoint().unwrap();
        }
        merge_at(&mut world, 0, 2);
        assert_eq!(said(&world.brains[0], 0), "newer");
        merge_at(&mut world, 2, 0);
        assert_eq!(said(&world.brains[2], 0), "newer");
    }
}

#[test]
fn a_change_after_a_merge_wins_under_a_clock_that_is_behind() {
    for with_checkpoint in [false, true] {
        let mut world = World::of(3, 92);
        let now = world.disk.now();
        world.disk.set_clock(Micros(now.0 + 3_600_000_000));
        run(&mut world.brains[0], set(0, "from the future")).unwrap();
        world.disk.set_clock(Micros(now.0 + 1_000_000));
        merge_at(&mut world, 1, 0);
        run(&mut world.brains[1], set(0, "knew better")).unwrap();
        if with_checkpoint {
            world.brains[1].checkpoint().unwrap();
        }
        merge_at(&mut world, 2, 1);
        merge_at(&mut world, 0, 2);
        let of = |brain: &Store| said(brain, 0);
        let all: Vec<_> = world.brains.iter().map(of).collect();
        assert_eq!(all, ["knew better"; 3]);
    }
}

/// Brains of one family, and what each may do.
struct Family {
    world: World,
    random: Random,
    now: i64,
    /// How far each clock is off.
    skews: Vec<i64>,
    /// Events are erased, or replace each other in circles: such a family settles, but not all on the same.
    is_odd: bool,
}

/// When and as what an event was first recorded, and its text.
type Identity = (i64, u8, String);

fn identity(view: &View, id: NodeId) -> Identity {
    let (time, event_type) = super::name(view, id);
    let text = view.node(id).unwrap().text().unwrap().into_owned();
    (time, event_type, text)
}

/// All that brains of a family agree on in the end.
fn canonical(view: &View) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id).unwrap();
        let own = identity(view, id);
        let mut attributes = node.attributes().unwrap().unwrap_or_default();
        attributes.remove(ORIGIN);
        let session = view.session(node.session()).unwrap();
        let session = session.filter(|session| session.explicit);
        let flags = [Flags::PINNED, Flags::FORGOTTEN, Flags::COMPRESSED];
        let what = format!(
            "{attributes:?} {:?} λ {} {:?} confidence {} session {:?}",
            node.vector().unwrap().map(<[f32]>::to_vec),
            node.lambda(),
            flags.map(|flag| node.flags().has(flag)),
            node.confidence(),
            session.map(|of| of.closed.map(|_| of.outcome)),
        );
        out.insert(format!("event {own:?}"), what);
        for tie in view.edges_of(id, Direction::Outgoing).unwrap().iter() {
            let edge = view.edge(id, Direction::Outgoing, &tie).unwrap();
            let key = format!(
                "edge {own:?} {} {:?}",
                tie.edge_type,
                identity(view, tie.other)
            );
            out.insert(key, edge.weight.to_string());
        }
    }
    out
}

impl Family {
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (disk, mut first) = crate::open(seed);
        let events = (0..4).map(|at| fact(&format!("old {at}"))).collect();
        run(&mut first, ingest(events)).unwrap();
        let folder = first.folder().clone();
        let now = disk.now().0 + 3 * 24 * 3_600_000_000;
        let mut family = Self {
            world: World {
                disk,
                folder,
                brains: vec![first],
            },
            now,
            skews: vec![0],
            is_odd: random.below(5) == 0,
            random,
        };
        family.act(0);
        for who in 1..2 + family.random.below(4) as usize {
            let name = format!("brain-{who}");
            if family.random.below(3) == 0 {
                amem_store::create(
                    &family.world.folder,
                    &name,
                    &amem_store::NewBrain::default(),
                )
                .unwrap();
                let brain = Store::open(&family.world.folder, &name).unwrap();
                family.add(brain);
                family.act(who);
                family.merge(who, 0);
                family.act(who);
            } else {
                family.world.copy(&name);
                let brain = family.world.brains.pop().unwrap();
                family.add(brain);
            }
        }
        let len = family.skews.len() as u64;
        for _ in 0..3 + family.random.below(6) * len {
            let who = family.random.below(len) as usize;
            match family.random.below(10) {
                0 => family.world.brains[who].checkpoint().unwrap(),
                1 => family.merge(who, (who + 1) % len as usize),
                _ => family.act(who),
            }
        }
        family
    }

    fn add(&mut self, brain: Store) {
        self.world.brains.push(brain);
        let skews = [0, 1, -2, 5_000_000, -3_600_000_000, 86_400_000_000];
        self.skews.push(self.random.pick(&skews));
    }

    /// Does something in a brain under its clock; returns the session that it opened.
    fn execute(&mut self, who: usize, mutation: Mutation) -> Option<SessionId> {
        self.now += self.random.below(3) as i64;
        self.world
            .disk
            .set_clock(Micros(self.now + self.skews[who]));
        // What cannot be done, to what is forgotten or closed, is not done.
        let done = self.world.brains[who].execute(Request::new(mutation));
        match done {
            Err(error @ amem_store::Error::OutcomeUnknown { .. }) => panic!("{error}"),
            done => done.ok()?.session,
        }
    }

    fn merge(&mut self, into: usize, from: usize) {
        let other = self.world.other(from);
        self.now += 1;
        self.world
            .disk
            .set_clock(Micros(self.now + self.skews[into]));
        run(&mut self.world.brains[into], Mutation::Merge(other)).unwrap();
    }

    fn event(&mut self, who: usize) -> NodeId {
        let count = self.world.brains[who].view().nodes();
        NodeId(self.random.below(count.max(1)))
    }

    fn edge(&mut self, who: usize) -> (NodeId, NodeId, EdgeType) {
        let (mut source, mut target) = (self.event(who), self.event(who));
        let view = self.world.brains[who].view();
        let types = [EdgeType::SUPPORTS, EdgeType::SUPPORTS, EdgeType::SUPERSEDES];
        if !self.is_odd && view.nodes() > 0 && identity(&view, source) < identity(&view, target) {
            (source, target) = (target, source);
        }
        (source, target, self.random.pick(&types))
    }

    fn act(&mut self, who: usize) {
        let target = self.event(who);
        let at = self.random.below(3);
        let mutation = match self.random.below(16) {
            0..=1 => {
                let text = format!("{who} says {}", self.random.number());
                let mut event = NewEvent::new(EventType::DECISION, text);
                event.lambda = Some(self.random.pick(&[0.0, 0.5]));
                let last = self.world.brains[who].view().next_session().unwrap();
                event.session = Some(SessionId(self.random.below(u64::from(last.0)) as u32))
                    .filter(|session| session.0 > 0);
                ingest(vec![event])
            }
            2..=3 => set(target.0, &format!("value {at}")),
            4 => Mutation::SetAttributes {
                target,
                attributes: None,
            },
            5 => {
                let dimension = self.world.brains[who].view().vector_dimension();
                Mutation::SetVector {
                    target,
                    vector: Some((0..dimension).map(|_| at as f32).collect()),
                    space: None,
                }
            }
            6 => Mutation::Pin(target),
            7 => Mutation::Unpin(target),
            8 => Mutation::Forget(target),
            9 => Mutation::Restore(target),
            10..=11 => {
                let (source, target, edge_type) = self.edge(who);
                Mutation::Link(NewEdge {
                    source,
                    target,
                    edge_type,
                    weight: self.random.pick(&[0.25, 0.5, 1.0]),
                })
            }
            12 => {
                let (source, target, edge_type) = self.edge(who);
                Mutation::Unlink {
                    source,
                    target,
                    edge_type,
                }
            }
            13 => {
                let key = format!("key {at}");
                let session = self.execute(who, Mutation::OpenSession { key });
                // A session is known again by its events.
                let text = format!("{who} begins {}", self.random.number());
                let mut event = fact(&text);
                event.session = session;
                ingest(vec![event])
            }
            14 => Mutation::CloseSession {
                session: SessionId(1 + self.random.below(2) as u32),
                outcome: format!("outcome {at}"),
            },
            _ if self.is_odd => Mutation::Erase(vec![target]),
            _ => {
                let text = format!("{who} corrects {}", self.random.number());
                Mutation::Correct(correction(target.0, &text))
            }
        };
        self.execute(who, mutation);
    }

    /// The merges of a round: into which brain, from which.
    fn pairs(&self, shape: u64) -> Vec<(usize, usize)> {
        let len = self.world.brains.len();
        let all = (0..len).flat_map(|into| (0..len).map(move |from| (into, from)));
        let is_in = |&(into, from): &(usize, usize)| {
            into != from
                && match shape {
                    0 => true,
                    1 => from == (into + 1) % len,
                    _ => into == 0 || from == 0,
                }
        };
        all.filter(is_in).collect()
    }

    /// Merges until a round commits nothing; returns the number of rounds, the last one included.
    fn settle(&mut self, seed: u64, shape: u64) -> usize {
        let mut order = Random::new(seed);
        for round in 1.. {
            let before = lsns(&self.world);
            let mut pairs = self.pairs(shape);
            while !pairs.is_empty() {
                let (into, from) = pairs.swap_remove(order.below(pairs.len() as u64) as usize);
                self.merge(into, from);
                if order.below(10) == 0 {
                    self.world.brains[into].checkpoint().unwrap();
                }
            }
            if lsns(&self.world) == before {
                return round;
            }
            assert!(
                round < 20,
                "seed {seed}, shape {shape}: it does not settle in {round} rounds"
            );
        }
        unreachable!("the rounds are bounded")
    }

    fn pictures(&self) -> Vec<BTreeMap<String, String>> {
        let of = |brain: &Store| canonical(&brain.view());
        self.world.brains.iter().map(of).collect()
    }
}

/// The first difference of two brains.
fn difference(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Option<String> {
    let mut keys: Vec<_> = one.keys().chain(other.keys()).collect();
    keys.sort();
    let key = keys
        .into_iter()
        .find(|key| one.get(*key) != other.get(*key))?;
    Some(format!("{key}: {:?}, {:?}", one.get(key), other.get(key)))
}

#[test]
fn families_of_brains_settle_on_the_same_in_any_order() {
    let asked = std::env::var("AMEM_MERGE_FAMILIES").ok();
    let count: u64 = asked.map_or(FAMILIES, |asked| asked.parse().unwrap());
    let (mut rounds, mut orders, mut same, mut brains) = ([0u64; 21], 0, 0, 0);
    for seed in 0..count {
        let mut settled: Option<BTreeMap<String, String>> = None;
        for shape in [seed % 3, (seed + 1) % 3] {
            let mut family = Family::of(seed);
            let took = family.settle(seed * 7 + shape, shape);
            rounds[took] += 1;
            orders += 1;
            assert!(
                took <= ROUNDS_MAX,
                "seed {seed}, shape {shape}: {took} rounds"
            );
            for brain in &family.world.brains {
                let file = family
                    .world
                    .disk
                    .contents(&format!("{}.amem", brain.name()));
                if seed % 10 == 0 {
                    let map = amem_format::mapping::Map::owned(&file.unwrap());
                    let report = amem_doctor::verify::native(map.into(), None).unwrap();
                    assert!(report.findings.is_empty(), "{:?}", report.findings);
                }
            }
            if family.is_odd {
                continue;
            }
            let pictures = family.pictures();
            brains += pictures.len();
            for picture in &pictures {
                let expected = settled.get_or_insert_with(|| picture.clone());
                let found = difference(expected, picture);
                assert_eq!(found, None, "seed {seed}, shape {shape}");
            }
            same += 1;
        }
    }
    println!(
        "{orders} orders of {count} families, {same} of them with {brains} equal brains; rounds {rounds:?}"
    );
}

#[test]
fn an_edge_that_a_merge_brings_takes_its_stamp_and_little_more() {
    let asked = std::env::var("AMEM_MERGE_EDGES").ok();
    let edges: usize = asked.map_or(2_000, |asked| asked.parse().unwrap());
    let mut world = World::of(1, 93);
    amem_store::create(&world.folder, "other", &amem_store::NewBrain::default()).unwrap();
    let mut other = Store::open(&world.folder, "other").unwrap();
    let count = 200;
    let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
    let links = pairs.filter(|(a, b)| a != b).take(edges);
    let batch = Ingest {
        events: (0..count).map(|at| fact(&format!("event {at}"))).collect(),
        links: links
            .map(|(a, b)| NewLink {
                source: End::New(a),
                target: End::New(b),
                edge_type: EdgeType::RELATED_TO,
                weight: 0.5,
            })
            .collect(),
        ..Ingest::default()
    };
    run(&mut other, Mutation::Ingest(batch)).unwrap();
    world.brains.push(other);
    let before = world.brains[0].journal_bytes();
    let begun = std::time::Instant::now();
    let other = world.other(1);
    run(&mut world.brains[0], Mutation::Merge(other)).unwrap();
    let took = begun.elapsed();
    let journal = world.brains[0].journal_bytes() - before;
    world.brains[0].checkpoint().unwrap();
    let view = world.brains[0].view();
    let base = view.brain().base();
    let stamps = base
        .table()
        .find(amem_format::base::section::tag::CHANGE_STAMPS);
    let stamps = stamps.map_or(0, |place| place.len);
    println!(
        "{edges} edges: {journal} bytes of journal, {stamps} of stamps, {} of base, {took:?}",
        base.table().end
    );
    assert!(
        journal < count as u64 * 1_200 + edges as u64 * 60,
        "{journal}"
    );
    assert_eq!(stamps, 8 + 24 * edges as u64);
    // The stamps are those of the other brain, so nothing is left to merge.
    let lsn = view.lsn();
    world.merge(0, 1);
    assert_eq!(world.brains[0].view().lsn(), lsn);
}
