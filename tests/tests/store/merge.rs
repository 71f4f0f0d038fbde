//! Brains that went their own ways and are made one again.
//!
//! What two brains must agree on is compared by where events were first recorded, not by their ids (`agents`); `again`
//! has what a second merge must find, `cloned` brains that are one instance twice, `families` three and more brains,
//! `files` files of other layouts, `large` what becomes of merges that are large, and of those that a disk stops,
//! `spans` sessions that went on in both.

mod again;
mod agents;
mod authors;
mod cloned;
mod families;
mod files;
mod large;
mod spans;

use std::sync::Arc;

use amem_doctor::verify;
use amem_format::event::{Event, MemoryGraph};
use amem_format::view::View;
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};
use amem_store::ORIGIN;
use amem_store::Ownership;
use amem_store::disk::{Disk, File};
use amem_store::mutation::{Ingest, NewEdge};
use amem_store::{Folder, MergeReport, MergeSource, Mutation, Request, Store};
use amem_tests::disk::SimDisk;
use uuid::Uuid;

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
        let Ownership::Untracked(stamp) = amem_store::ownership(&self.folder, name).unwrap() else {
            panic!("a copy is nobody's")
        };
        amem_store::adopt(&self.folder, name, stamp, false).unwrap();
        self.brains.push(Store::open(&self.folder, name).unwrap());
    }

    fn merge(&mut self, into: usize, from: usize) -> MergeReport {
        let other = self.other(from);
        let answer = run(&mut self.brains[into], Mutation::Merge(other)).unwrap();
        let file = self
            .disk
            .open(&format!("{}.amem", self.brains[into].name()))
            .unwrap();
        check(&*file);
        answer.merged.unwrap()
    }

    /// An id for a request of now.
    fn request_id(&self) -> Uuid {
        let time = u128::from(self.disk.now().0 as u64 / 1000) << 80;
        Uuid::from_u128(0x7000_8000_0000_0000_0001 | time)
    }

    fn other(&self, from: usize) -> MergeSource {
        MergeSource::new(self.brains[from].view())
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

/// The brain that a world's first is after a restart.
fn restarted(world: World) -> (World, Store) {
    let World {
        disk,
        folder,
        brains,
    } = world;
    drop((brains, folder));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "the next").unwrap();
    let store = Store::open(&folder, "b").unwrap();
    let world = World {
        disk,
        folder,
        brains: Vec::new(),
    };
    (world, store)
}

#[test]
fn both_corrections_of_one_belief_stay_and_the_belief_is_contested() {
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
    let resolve = amem_query::Resolve {
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
fn a_merged_event_has_its_origin_and_its_event_time() {
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
fn erased_events_do_not_return_and_those_erased_in_the_other_are_reported() {
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

/// A brain of facts that were recorded in so many seconds.
fn recorded(world: &mut World, name: &str, facts: &[(i64, &str)]) {
    let event = |(at, (second, text)): (usize, &(i64, &str))| Event {
        id: NodeId(at as u64),
        event_type: EventType::FACT,
        flags: Flags::default(),
        created_at: Micros(second * 1_000_000),
        event_time: None,
        session: SessionId(0),
        confidence: 1.0,
        access_count: 0,
        last_accessed: Micros(second * 1_000_000),
        decay_score: 1.0,
        lambda: 0.0,
        text: (*text).to_owned(),
        vector: None,
        attributes: None,
    };
    let graph = MemoryGraph {
        dimension: 0,
        events: facts.iter().enumerate().map(event).collect(),
        edges: Vec::new(),
    };
    let create = amem_store::NewBrain {
        dimension: 0,
        space: Uuid::nil(),
        ..amem_store::NewBrain::default()
    };
    amem_store::import(&world.folder, name, &create, &graph).unwrap();
    let store = Store::open(&world.folder, name).unwrap();
    world.brains.push(store);
}

#[test]
fn events_that_may_have_been_erased_are_withheld_and_counted() {
    let mut world = World::of(1, 13);
    recorded(&mut world, "ours", &[(100, "stays"), (105, "a secret")]);
    run(&mut world.brains[1], Mutation::Erase(vec![NodeId(1)])).unwrap();
    world.brains[1].checkpoint().unwrap();
    // Of one second, as files of others tell time.
    let theirs = [(90, "earlier"), (105, "new"), (105, "a secret")];
    recorded(&mut world, "theirs", &theirs);
    let merged = world.merge(1, 2);
    assert_eq!((merged.events, merged.withheld), (1, 1));
    let view = world.brains[1].view();
    let texts: Vec<_> = (0..view.nodes())
        .map(|id| view.node(NodeId(id)).unwrap().text().unwrap().into_owned())
        .collect();
    assert_eq!(texts, ["stays", "", "earlier"]);
}

#[test]
fn unrelated_brains_are_merged_and_a_brain_is_not_merged_with_itself() {
    let mut world = World::of(1, 10);
    amem_store::create(&world.folder, "stranger", &amem_store::NewBrain::default()).unwrap();
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
fn a_merge_that_would_close_a_cycle_omits_the_edge_and_reports_it() {
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
fn a_retried_merge_is_executed_once() {
    let mut world = World::of(2, 12);
    run(&mut world.brains[1], ingest(vec![fact("once")])).unwrap();
    let request = Request::new(Mutation::Merge(world.other(1))).with_id(world.request_id());
    let first = world.brains[0].execute(request.clone()).unwrap();
    let again = world.brains[0].execute(request).unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!((again.lsn, again.merged), (first.lsn, first.merged));
    assert!(first.merged.unwrap().events == 1);
}

#[test]
fn a_merge_is_as_large_as_what_is_new() {
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
    assert_eq!(world.merge(1, 0).events, 0);
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
    let (_world, store) = restarted(world);
    let view = store.view();
    assert_eq!(view.nodes(), 14 + 1 + 360 + 1);
    let last = view.node(NodeId(view.nodes() - 2)).unwrap();
    assert_eq!(last.text().unwrap(), text(359));
}
