//! Brains that went their own ways and are made one again.
//!
//! What two brains must agree on is compared by where events were first recorded, not by their ids: the naive picture of
//! a brain is a map of everything that can be seen of it, under such names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use amem_core::event::Attributes;
use amem_core::verify;
use amem_core::view::{Direction, View};
use amem_core::{EdgeType, EventType, NodeId};
use amem_store::adoption::{self, Standing};
use amem_store::disk::{Disk, File};
use amem_store::merge::ORIGIN;
use amem_store::mutation::{Ingest, NewEdge, NewEvent};
use amem_store::{Folder, Merged, Mutation, Other, Request, Store};
use amem_tests::disk::SimDisk;
use amem_tests::random::Random;

use crate::{correction, fact, ingest, open, run};

/// Brains on one disk.
struct World {
    disk: Arc<SimDisk>,
    folder: Folder,
    brains: Vec<Store>,
}

/// When and as what an event was first recorded.
type Name = (i64, u8);

impl World {
    /// A brain with a past, and copies of it.
    fn of(copies: usize, seed: u64) -> Self {
        let (disk, mut first) = open(seed);
        let events = (0..12).map(|at| fact(&format!("of old {at}"))).collect();
        run(&mut first, ingest(events)).unwrap();
        run(
            &mut first,
            Mutation::Correct(correction(3, "corrected of old")),
        )
        .unwrap();
        first.checkpoint().unwrap();
        run(&mut first, ingest(vec![fact("the last before the copies")])).unwrap();
        let folder = first.folder().clone();
        let mut world = Self {
            disk,
            folder,
            brains: vec![first],
        };
        for copy in 1..copies {
            world.copy(&format!("copy-{copy}"));
        }
        world
    }

    fn copy(&mut self, name: &str) {
        let bytes = self.disk.contents("b.amem").unwrap();
        let file = self.disk.create(&format!("{name}.amem")).unwrap();
        file.write_at(0, &bytes).unwrap();
        let Standing::Other(stamp) = adoption::standing(&self.folder, name).unwrap() else {
            panic!("a copy is nobody's")
        };
        adoption::adopt(&self.folder, name, stamp, false).unwrap();
        self.brains.push(Store::open(&self.folder, name).unwrap());
    }

    fn merge(&mut self, into: usize, from: usize) -> Merged {
        let other = self.other(from);
        let answer = run(&mut self.brains[into], Mutation::Merge(other)).unwrap();
        let file = self
            .disk
            .open(&format!("{}.amem", self.brains[into].name()))
            .unwrap();
        check(&*file);
        answer.merged.unwrap()
    }

    fn other(&self, from: usize) -> Other {
        Other::new(self.brains[from].view())
    }

    fn pictures(&self) -> Vec<BTreeMap<String, String>> {
        self.brains
            .iter()
            .map(|brain| picture(&brain.view()))
            .collect()
    }
}

fn check(file: &dyn File) {
    let map = file.map(file.len().unwrap()).unwrap();
    let report = verify::native(Arc::new(map), None).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

fn name(view: &View, id: NodeId) -> Name {
    let node = view.node(id).unwrap();
    let attributes = node.attributes().unwrap().unwrap_or_default();
    let time = match attributes.get(ORIGIN) {
        Some(origin) => origin["time"].as_i64().unwrap(),
        None => node.created_at().0,
    };
    (time, node.event_type().0)
}

/// All that is seen of a brain, under names that do not depend on it.
fn picture(view: &View) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id).unwrap();
        let mut attributes = node.attributes().unwrap().unwrap_or_default();
        attributes.remove(ORIGIN);
        let session = view.session(node.session()).unwrap();
        let flags = (node.is_forgotten(), node.is_compressed(), node.is_erased());
        let what = format!(
            "{:?} {:?} {flags:?} {} {} {:?} {}",
            node.text().unwrap(),
            session.map(|session| (session.key.to_owned(), session.closed.is_some())),
            node.confidence(),
            node.access_count(),
            node.vector().unwrap().map(<[f32]>::to_vec),
            serde_json::to_string(&attributes).unwrap(),
        );
        let own = name(view, id);
        assert!(
            seen.insert(format!("event {own:?}"), what).is_none(),
            "{own:?} twice"
        );
        for tie in view.ties(id, Direction::Outgoing).unwrap().iter() {
            let edge = view.edge(id, Direction::Outgoing, &tie).unwrap();
            let key = format!("edge {own:?} {} {:?}", tie.edge_type, name(view, tie.other));
            seen.insert(key, edge.weight.to_string());
        }
    }
    seen
}

/// What an agent does to its brain.
fn act(store: &mut Store, random: &mut Random, who: usize, at: u64) {
    let count = store.view().nodes();
    let id = NodeId(random.below(count));
    let other = NodeId(random.below(count));
    let visible = |id| !store.view().node(id).unwrap().is_forgotten();
    let mutation = match random.below(9) {
        0..=2 => {
            let mut event = NewEvent::new(EventType::DECISION, format!("agent {who} says {at}"));
            let mut attributes = Attributes::new();
            attributes.insert("by".into(), who.into());
            event.attributes = Some(attributes);
            ingest(vec![event, fact(&format!("agent {who} saw {at}"))])
        }
        3 if visible(id) => {
            let mut correct = correction(id.0, &format!("agent {who} corrects {at}"));
            correct.target_confidence = None;
            Mutation::Correct(correct)
        }
        4 if visible(id) && visible(other) && id != other => Mutation::Link(NewEdge {
            source: id,
            target: other,
            edge_type: random.pick(&[
                EdgeType::SUPPORTS,
                EdgeType::RELATED_TO,
                EdgeType::CONTRADICTS,
            ]),
            weight: random.unit(),
        }),
        5 if visible(id) => {
            let mut attributes = Attributes::new();
            attributes.insert("changed".into(), format!("{who}-{at}").into());
            Mutation::SetAttributes {
                target: id,
                attributes: Some(attributes),
            }
        }
        6 => Mutation::Forget(id),
        7 => Mutation::Restore(id),
        _ => Mutation::Touch(vec![(id, 1 + random.below(3) as u32)]),
    };
    match run(store, mutation) {
        Ok(_) => {}
        Err(error) => panic!("agent {who}: {error}"),
    }
}

/// Every order of three things.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

#[test]
fn three_agents_that_go_their_own_ways_agree_after_they_have_met_in_any_order() {
    for (seed, order) in (0..).zip(ORDERS.repeat(4)) {
        let mut world = World::of(3, seed);
        let mut random = Random::new(seed);
        for at in 0..25 {
            for who in 0..3 {
                act(&mut world.brains[who], &mut random, who, at);
            }
        }
        if seed % 2 == 0 {
            world.brains[1].checkpoint().unwrap();
        }
        let names = |pictures: &[BTreeMap<String, String>]| -> BTreeSet<String> {
            let all = pictures.iter().flat_map(BTreeMap::keys);
            all.filter(|key| key.starts_with("event"))
                .cloned()
                .collect()
        };
        let before = names(&world.pictures());
        // One collects all, and gives all back.
        let [hub, second, third] = order;
        world.merge(hub, second);
        world.merge(hub, third);
        world.merge(second, hub);
        world.merge(third, hub);
        let pictures = world.pictures();
        assert_eq!(
            names(&pictures[..1]),
            before,
            "seed {seed}: nothing is lost, nothing doubled"
        );
        for (at, picture) in pictures.iter().enumerate() {
            assert_eq!(picture, &pictures[hub], "seed {seed}, brain {at}");
        }
        // Whoever meets now has nothing to tell.
        for (into, from) in [(0, 1), (1, 2), (2, 0), (1, 0)] {
            let lsn = world.brains[into].view().lsn();
            let merged = world.merge(into, from);
            let matched = world.brains[from].view().nodes();
            assert_eq!(
                merged,
                Merged {
                    matched,
                    ..Merged::default()
                },
                "seed {seed}"
            );
            assert_eq!(world.brains[into].view().lsn(), lsn, "nothing is committed");
        }
    }
}

#[test]
fn both_corrections_of_one_belief_stay_and_it_is_contested() {
    let mut world = World::of(2, 7);
    for (who, text) in ["by the first", "by the second"].into_iter().enumerate() {
        run(
            &mut world.brains[who],
            Mutation::Correct(correction(5, text)),
        )
        .unwrap();
    }
    let merged = world.merge(0, 1);
    assert_eq!((merged.events, merged.edges, merged.cycles), (1, 1, 0));
    let view = world.brains[0].view();
    let resolve = amem_core::query::Resolve {
        event: NodeId(5),
        ..Default::default()
    };
    let resolved = resolve.run(&view).unwrap();
    assert!(resolved.is_contested());
    assert_eq!(view.node(NodeId(5)).unwrap().confidence(), 0.0);
    assert_eq!(
        view.node(resolved.head).unwrap().text().unwrap(),
        "by the second"
    );
}

#[test]
fn a_merged_event_says_where_it_comes_from_and_keeps_when_it_happened() {
    let mut world = World::of(2, 8);
    run(&mut world.brains[1], ingest(vec![fact("seen elsewhere")])).unwrap();
    let there = world.brains[1].view();
    let theirs = there.node(NodeId(there.nodes() - 1)).unwrap();
    world.merge(0, 1);
    let here = world.brains[0].view();
    let ours = here.node(NodeId(here.nodes() - 1)).unwrap();
    let origin = ours.attributes().unwrap().unwrap()[ORIGIN].clone();
    assert_eq!(origin["instance"], there.instance().to_string());
    assert_eq!(origin["event"], theirs.id().0);
    assert_eq!(ours.event_time().unwrap(), Some(theirs.created_at()));
    assert!(ours.created_at() > theirs.created_at());
    assert_eq!(ours.vector().unwrap(), theirs.vector().unwrap());
}

#[test]
fn what_was_erased_does_not_come_back_and_what_is_erased_there_is_told() {
    let mut world = World::of(2, 9);
    run(&mut world.brains[0], Mutation::Erase(vec![NodeId(2)])).unwrap();
    world.brains[0].checkpoint().unwrap();
    run(&mut world.brains[1], Mutation::Erase(vec![NodeId(4)])).unwrap();
    world.brains[1].checkpoint().unwrap();
    let merged = world.merge(0, 1);
    assert_eq!((merged.events, merged.erased_there), (0, 1));
    let view = world.brains[0].view();
    assert!(view.node(NodeId(2)).unwrap().is_erased());
    assert_eq!(view.node(NodeId(4)).unwrap().text().unwrap(), "of old 4");
}

#[test]
fn strangers_are_united_and_a_brain_is_not_merged_with_itself() {
    let mut world = World::of(1, 10);
    amem_store::create(&world.folder, "stranger", &amem_store::Create::default()).unwrap();
    let mut stranger = Store::open(&world.folder, "stranger").unwrap();
    let session = run(&mut stranger, Mutation::OpenSession { key: "k".into() })
        .unwrap()
        .session;
    let mut event = fact("of a stranger");
    event.session = session;
    run(&mut stranger, ingest(vec![event, fact("another")])).unwrap();
    run(&mut stranger, Mutation::Correct(correction(1, "better"))).unwrap();
    world.brains.push(stranger);
    let before = world.brains[0].view().nodes();
    let merged = world.merge(0, 1);
    assert_eq!((merged.matched, merged.events, merged.sessions), (0, 3, 1));
    let view = world.brains[0].view();
    let node = view.node(NodeId(before)).unwrap();
    assert_eq!(view.session(node.session()).unwrap().unwrap().key, "k");
    assert_eq!(view.node(NodeId(before + 1)).unwrap().confidence(), 0.0);
    let own = world.other(0);
    let refused = run(&mut world.brains[0], Mutation::Merge(own)).unwrap_err();
    assert!(refused.to_string().contains("is this one"), "{refused}");
}

#[test]
fn a_merge_that_would_close_a_cycle_leaves_the_edge_out_and_says_so() {
    let mut world = World::of(2, 11);
    for (who, (source, target)) in [(6, 7), (7, 6)].into_iter().enumerate() {
        let edge = NewEdge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type: EdgeType::SUPERSEDES,
            weight: 1.0,
        };
        run(&mut world.brains[who], Mutation::Link(edge)).unwrap();
    }
    let merged = world.merge(0, 1);
    assert_eq!((merged.edges, merged.cycles), (0, 1));
    let view = world.brains[0].view();
    assert_eq!(view.node(NodeId(6)).unwrap().confidence(), 1.0);
}

#[test]
fn a_retried_merge_is_done_once() {
    let mut world = World::of(2, 12);
    run(&mut world.brains[1], ingest(vec![fact("once")])).unwrap();
    let id = uuid::Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);
    let time = u128::from(world.disk.now().0 as u64 / 1000) << 80;
    let id = uuid::Uuid::from_u128(id.as_u128() & ((1 << 80) - 1) | time);
    let request = Request::new(Mutation::Merge(world.other(1))).with_id(id);
    let first = world.brains[0].execute(request.clone()).unwrap();
    let again = world.brains[0].execute(request).unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!((again.lsn, again.merged), (first.lsn, first.merged));
    assert!(first.merged.unwrap().events == 1);
}

#[test]
fn a_merge_is_of_the_size_of_what_is_new() {
    let mut world = World::of(2, 13);
    let batch = Ingest {
        events: (0..500).map(|at| fact(&format!("bulk {at}"))).collect(),
        follow: true,
        ..Ingest::default()
    };
    run(&mut world.brains[1], Mutation::Ingest(batch)).unwrap();
    let before = world.brains[0].journal_bytes();
    let merged = world.merge(0, 1);
    assert_eq!(merged.events, 500);
    let grown = world.brains[0].journal_bytes() - before;
    assert!(grown < 500 * 1000, "{grown} bytes");
    world.merge(1, 0);
    assert_eq!(
        picture(&world.brains[0].view()),
        picture(&world.brains[1].view())
    );
}

#[test]
fn a_merge_that_is_too_large_for_a_transaction_is_a_new_generation() {
    let mut world = World::of(2, 14);
    let text = |at: u64| format!("{at} {}", "large ".repeat(20_000));
    for from in (0..360).step_by(60) {
        let events = (from..from + 60).map(|at| fact(&text(at))).collect();
        run(&mut world.brains[1], ingest(events)).unwrap();
    }
    let generation = |store: &Store| store.view().identity().generation.0;
    let before = generation(&world.brains[0]);
    let other = Request::new(Mutation::Merge(world.other(1)));
    let requests = [
        Request::new(ingest(vec![fact("before")])),
        other.by("uid:1", "a merger"),
        Request::new(ingest(vec![fact("after")])),
    ];
    let answers = world.brains[0].commit(&requests);
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers[1].merged.unwrap().events, 360);
    assert!(answers[0].lsn < answers[1].lsn && answers[1].lsn < answers[2].lsn);
    assert_eq!(generation(&world.brains[0]), before + 1);
    assert_eq!(world.brains[0].view().lsn(), answers[2].lsn);
    let file = world.disk.open("b.amem").unwrap();
    check(&*file);
    // It is there after a crash, and the other has nothing to tell any more.
    let World {
        disk,
        folder,
        brains,
    } = world;
    drop((brains, folder));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "the next").unwrap();
    let store = Store::open(&folder, "b").unwrap();
    let view = store.view();
    assert_eq!(view.nodes(), 14 + 1 + 360 + 1);
    let last = view.node(NodeId(view.nodes() - 2)).unwrap();
    assert_eq!(last.text().unwrap(), text(359));
}
