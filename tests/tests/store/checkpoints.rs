//! A base that takes over what did not change is, byte for byte, one that is made from scratch.

use amem_doctor::verify::native;
use amem_format::base::section::tag;
use amem_format::base::settings::Settings;
use amem_format::base::values::VALUES_VERSION;
use amem_format::base_builder::{BuildMode, Inline, Options, journal, write_base_with};
use amem_format::event::Attributes;
use amem_format::limits::RECENT_COMMITS_BYTES_MIN;
use amem_format::mapping::Map;
use amem_format::view::View;
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId};
use amem_store::mutation::{End, Ingest, NewEdge, NewEvent, NewLink};
use amem_store::{Mutation, Request, Store};
use amem_tests::model::{Act, World};
use amem_tests::random::Random;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::{correction, open, run};

/// The bytes of the next base of a view, its journal behind it.
pub(crate) fn folded(view: &View, from_scratch: bool) -> Vec<u8> {
    let options = Options::next(view, view.time());
    let how = BuildMode {
        workers: &Inline,
        from_scratch,
    };
    let mut bytes = Vec::new();
    let end = write_base_with(view, &options, how, &mut bytes).unwrap();
    journal(&options.identity, 7, end, &mut bytes).unwrap();
    bytes
}

/// Where two files differ first, by section.
fn compare(store: &Store, seed: u64) {
    let view = store.view();
    let (copied, rebuilt) = (folded(&view, false), folded(&view, true));
    if copied != rebuilt {
        let at = copied.iter().zip(&rebuilt).position(|(a, b)| a != b);
        let brain = amem_format::brain::Brain::open(Map::owned(&rebuilt)).unwrap();
        let places = &brain.base().table().places;
        panic!(
            "seed {seed}: {} bytes and {} from byte {at:?} on: {:?} {places:?}",
            copied.len(),
            rebuilt.len(),
            brain.base().header(),
        );
    }
    let report = native(std::sync::Arc::new(Map::owned(&copied)), None).unwrap();
    assert!(report.findings.is_empty(), "seed {seed}: {report:?}");
}

fn event(random: &mut Random, sessions: &[amem_format::SessionId]) -> NewEvent {
    let words = ["deploy", "rollback", "größe", "cat", "dogs", "日本"];
    let len = random.pick(&[1, 3, 12, 70]);
    let text: Vec<_> = (0..len).map(|_| random.pick(&words)).collect();
    let some = |random: &mut Random| random.below(3) == 0;
    NewEvent {
        session: (!sessions.is_empty() && some(random)).then(|| random.pick(sessions)),
        confidence: random.unit(),
        event_time: some(random).then(|| Micros(random.below(1 << 50) as i64)),
        lambda: some(random).then(|| random.unit()),
        attributes: some(random).then(|| attributes(random)),
        vector: some(random).then(|| vector(random)),
        ..NewEvent::new(EventType(random.below(6) as u8), text.join(" "))
    }
}

fn attributes(random: &mut Random) -> Attributes {
    let mut all = Attributes::new();
    all.insert("n".into(), random.below(1000).into());
    match random.below(6) {
        // More values than the index holds.
        0 if random.below(4) == 0 => all.insert("n".into(), (0..300).collect()),
        0 => all.insert("n".into(), serde_json::json!([{"b": random.below(3)}, 7.0])),
        1..=3 => all.insert("project".into(), format!("x{}", random.below(4)).into()),
        _ => None,
    };
    all
}

fn vector(random: &mut Random) -> Vec<f32> {
    (0..128).map(|_| random.unit() - 0.5).collect()
}

fn batch(
    random: &mut Random,
    view: &View,
    count: u64,
    sessions: &[amem_format::SessionId],
) -> Mutation {
    let nodes = view.nodes();
    let shown = |id| !view.node(NodeId(id)).unwrap().is_forgotten();
    let events = (0..count).map(|_| event(random, sessions)).collect();
    let links = (0..count * 3)
        .filter_map(|_| {
            let source = random.below(count) as usize;
            let target = random.below(nodes + count);
            let end = match target.checked_sub(nodes) {
                None if !shown(target) => return None,
                None => End::Event(NodeId(target)),
                Some(at) if at as usize == source => return None,
                Some(at) => End::New(at as usize),
            };
            Some(NewLink {
                source: End::New(source),
                target: end,
                edge_type: EdgeType(random.pick(&[0, 1, 2, 4, 5, 6])),
                weight: random.unit(),
            })
        })
        .collect();
    Mutation::Ingest(Ingest {
        events,
        links,
        ..Ingest::default()
    })
}

/// Any change to what is there.
fn change(random: &mut Random, store: &Store, sessions: &[amem_format::SessionId]) -> Mutation {
    let view = store.view();
    let any = |random: &mut Random| NodeId(random.below(view.nodes()));
    let edge = |random: &mut Random, edge_type| NewEdge {
        source: any(random),
        target: any(random),
        edge_type,
        weight: random.unit(),
    };
    match random.below(18) {
        0 => Mutation::Correct(correction(any(random).0, "it was otherwise")),
        1..=3 => {
            let edge_type = EdgeType(random.pick(&[0, 1, 2, 2, 3, 3, 6]));
            Mutation::Link(edge(random, edge_type))
        }
        4..=6 => {
            // One that is there, if the event has any.
            let source = any(random);
            let all = amem_format::Graph::edges_at(&view, source.0).unwrap();
            let Some(edge) = all.get(random.below(all.len().max(1) as u64) as usize) else {
                return Mutation::Touch(vec![(source, 1)]);
            };
            if random.below(2) == 0 {
                return Mutation::Link(NewEdge {
                    source,
                    target: edge.target,
                    edge_type: edge.edge_type,
                    weight: random.unit(),
                });
            }
            Mutation::Unlink {
                source,
                target: edge.target,
                edge_type: edge.edge_type,
            }
        }
        7 => Mutation::Touch((0..5).map(|_| (any(random), 1)).collect()),
        8 => Mutation::Pin(any(random)),
        9 => Mutation::Forget(any(random)),
        10 => Mutation::Restore(any(random)),
        11 => Mutation::Erase(vec![any(random), any(random)]),
        12 | 13 => Mutation::SetVector {
            target: any(random),
            vector: (random.below(3) > 0).then(|| vector(random)),
            space: None,
        },
        14 | 15 => Mutation::SetAttributes {
            target: any(random),
            attributes: (random.below(3) > 0).then(|| attributes(random)),
        },
        16 if random.below(4) == 0 => Mutation::Decay,
        16 => match sessions.first() {
            Some(&session) if random.below(2) == 0 => Mutation::CloseSession {
                session,
                outcome: "done".into(),
            },
            _ => Mutation::OpenSession {
                key: format!("key {}", random.below(20)),
            },
        },
        _ => Mutation::SetSettings(Settings::default()),
    }
}

/// A brain that lives: it grows, it changes, it is folded, again and again.
fn live(seed: u64, rounds: u64, grown: u64, changed: u64) {
    let random = &mut Random::new(seed);
    let (_disk, mut store) = open(seed);
    let (mut sessions, mut asked, mut done) = (Vec::new(), 0, 0);
    for round in 0..rounds {
        let view = store.view();
        // Some go on after a close.
        sessions.retain(|id| {
            view.session(*id).unwrap().unwrap().closed.is_none() || random.below(3) == 0
        });
        if round % 3 != 2 {
            let count = 1 + random.below(grown);
            let new = batch(random, &store.view(), count, &sessions);
            run(&mut store, new).unwrap();
        }
        for _ in 0..random.below(changed) {
            let mutation = change(random, &store, &sessions);
            let millis = store.folder().disk().now().0 as u128 / 1000;
            let id = Uuid::from_u128(millis << 80 | 7 << 76 | u128::from(random.number()));
            // Some are refused: a touch of what is hidden, a cycle, what is there already.
            asked += 1;
            if let Ok(answer) = store.execute(Request::new(mutation).with_id(id).by("uid:1", "a")) {
                done += 1;
                sessions.extend(answer.session.filter(|id| !sessions.contains(id)));
            }
        }
        compare(&store, seed);
        store.checkpoint().unwrap();
    }
    assert!(store.view().nodes() > rounds / 2, "seed {seed}: it grew");
    assert!(done >= asked / 2, "seed {seed}: {done} of {asked} changes");
}

#[test]
fn sections_copied_by_a_checkpoint_equal_rebuilt_ones() {
    for seed in 0..12 {
        live(seed, 12, 30, 25);
    }
}

#[test]
fn copied_sections_equal_rebuilt_ones_when_few_of_many_events_change() {
    live(99, 5, 5_000, 30);
    live(100, 3, 5_000, 1);
}

#[test]
fn a_checkpoint_after_erasing_everything_copies_nothing() {
    let random = &mut Random::new(5);
    let (_disk, mut store) = open(5);
    let new = batch(random, &store.view(), 40, &[]);
    run(&mut store, new).unwrap();
    store.checkpoint().unwrap();
    run(&mut store, Mutation::Erase((0..40).map(NodeId).collect())).unwrap();
    compare(&store, 5);
    store.checkpoint().unwrap();
    let header = *store.brain().base().header();
    assert_eq!(
        header.vectors - header.content,
        (64 - header.content % 64) % 64
    );
    assert!((0..40).all(|id| {
        let flags = store.view().node(NodeId(id)).unwrap().flags();
        flags.has(Flags::ERASED)
    }));
}

/// A base with a bit of its file turned, as the store would map it.
fn with_flip(bytes: &[u8], at: u64) -> View {
    let mut bytes = bytes.to_vec();
    bytes[at as usize] ^= 1;
    let brain = std::sync::Arc::new(amem_format::brain::Brain::open(Map::owned(&bytes)).unwrap());
    brain.view()
}

#[test]
fn damage_of_a_table_stays_damage_and_a_damaged_index_is_rebuilt() {
    let random = &mut Random::new(6);
    let (_disk, mut store) = open(6);
    let new = batch(random, &store.view(), 3_000, &[]);
    run(&mut store, new).unwrap();
    let bytes = folded(&store.view(), false);
    let view = with_flip(&bytes, 64);
    let base = view.brain().base();
    let h = *base.header();
    let place = |tag| base.table().find(tag).unwrap().offset;
    let carried = [
        ("texts", h.content + 6),
        ("vectors", h.vectors + 3),
        ("vectors", h.sections() - 3),
    ];
    for (part, at) in carried {
        let again = folded(&with_flip(&bytes, at), false);
        let report = native(std::sync::Arc::new(Map::owned(&again)), None).unwrap();
        assert!(
            report.findings.iter().any(|f| f.part == part),
            "{part}: {report:?}"
        );
    }
    for tag in [0x4C, 0x4E, 0x50, 0x52] {
        // In the arrays, behind what says how long they are.
        let at = place(tag) + 1_200;
        let again = folded(&with_flip(&bytes, at), false);
        let report = native(std::sync::Arc::new(Map::owned(&again)), None).unwrap();
        assert!(report.findings.is_empty(), "{tag:#x}: {report:?}");
    }
}

/// Has the checksums that stand at a place agree with the bytes.
fn seal(bytes: &mut [u8], at: usize, len: usize) {
    let own = at + len - 8;
    let number = |bytes: &[u8], at: usize| {
        let raw = bytes[at..at + 8].try_into().unwrap();
        u64::from_le_bytes(raw) as usize
    };
    for range in (at + 8..own).step_by(24) {
        let (offset, len) = (number(bytes, range), number(bytes, range + 8));
        let sum = xxh3_64(&bytes[offset..offset + len]);
        bytes[range + 16..range + 24].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = xxh3_64(&bytes[at..own]);
    bytes[own..own + 8].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_missing_index_of_attributes_is_built_from_the_stored_attributes() {
    let mut world = World::new(8).unwrap();
    world.ingest_many(400).unwrap();
    world.checkpoint().unwrap();
    for id in 0..40 {
        let attributes = world.attributes();
        let act = match id % 8 {
            0 => Act::Erase(id),
            _ => Act::Attributes(id, attributes),
        };
        world.commit(vec![act]).unwrap();
    }
    world.ingest_many(20).unwrap();
    let view = world.view();
    let find = |tag| view.brain().base().table().find(tag).unwrap();
    let (index, sums) = (find(tag::VALUES), find(tag::CHECKSUMS));
    let of_another = |bytes: &mut [u8]| {
        let at = index.offset as usize;
        bytes[at..at + 4].copy_from_slice(&(VALUES_VERSION + 1).to_le_bytes());
        seal(bytes, sums.offset as usize, sums.len as usize);
    };
    let older = world.written.copy_with(&of_another).unwrap();
    let base = older.brain().base();
    let report = native(base.map().clone(), None).unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    assert!(base.values().unwrap().is_none());
    let rebuilt = folded(&view, true);
    assert!(folded(&older, false) == rebuilt && folded(&view, false) == rebuilt);
}

#[test]
fn a_brain_without_attributes_has_no_index_of_them() {
    let (_disk, mut store) = open(9);
    let without = vec![crate::fact("nothing is said beside the text")];
    run(&mut store, crate::ingest(without)).unwrap();
    store.checkpoint().unwrap();
    let index = |store: &Store| store.brain().base().table().find(tag::VALUES);
    assert_eq!(index(&store), None);
    let set = |attributes| Mutation::SetAttributes {
        target: NodeId(0),
        attributes,
    };
    let some = attributes(&mut Random::new(1));
    run(&mut store, set(Some(some))).unwrap();
    store.checkpoint().unwrap();
    assert!(index(&store).is_some());
    run(&mut store, set(None)).unwrap();
    compare(&store, 9);
    store.checkpoint().unwrap();
    assert_eq!(index(&store), None);
}

#[test]
fn recent_commits_take_a_share_of_the_brain() {
    let random = &mut Random::new(7);
    let (_disk, mut store) = open(7);
    for _ in 0..20 {
        let new = batch(random, &store.view(), 300, &[]);
        run(&mut store, new).unwrap();
    }
    store.checkpoint().unwrap();
    let place = store.brain().base().table().find(0x4A).unwrap();
    let kept = RECENT_COMMITS_BYTES_MIN as u64;
    assert!(kept / 2 < place.len && place.len <= kept, "{}", place.len);
    let oldest = store.view().commits_held_after().unwrap();
    assert!(oldest.0 > 0, "a small brain does not keep them all");
}
