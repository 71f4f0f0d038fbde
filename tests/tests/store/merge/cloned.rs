//! One brain on two machines, the disk of one being a clone of the other's: one instance, and what each wrote since.

use std::sync::Arc;

use amem_core::NodeId;
use amem_store::disk::Disk;
use amem_store::mutation::NewEvent;
use amem_store::{Error, Folder, Incoming, Merged, Mutation, Other, Request, Store};
use amem_tests::disk::SimDisk;

use super::World;
use super::agents::picture;
use crate::{correction, fact, ingest, run};

/// A brain, and the same on a machine whose disk was cloned while the first ran on.
fn cloned(seed: u64) -> (World, Arc<SimDisk>, Store) {
    let world = World::of(1, seed);
    let disk = Arc::new(world.disk.cloned());
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "the clone").unwrap();
    let clone = Store::open(&folder, "b").unwrap();
    (world, disk, clone)
}

fn merge(into: &mut Store, other: Other) -> Merged {
    run(into, Mutation::Merge(other)).unwrap().merged.unwrap()
}

/// What is told of every event, whatever its id.
fn texts(store: &Store) -> Vec<String> {
    let view = store.view();
    let text = |id| view.node(NodeId(id)).unwrap().text().unwrap().into_owned();
    let mut texts: Vec<_> = (0..view.nodes()).map(text).collect();
    texts.sort();
    texts
}

#[test]
fn clones_that_both_went_on_are_merged_by_what_they_have() {
    // Clocks that agree to the microsecond, so that both record at the same moments, and clocks that do not.
    for ahead in [0, 1_000_000] {
        both_went_on(ahead);
    }
}

fn both_went_on(ahead: i64) {
    let (mut world, disk, mut clone) = cloned(70);
    disk.advance(ahead);
    let ours = &mut world.brains[0];
    assert_eq!(ours.view().instance(), clone.view().instance());
    for (store, who) in [(&mut *ours, "first"), (&mut clone, "second")] {
        let said: Vec<NewEvent> = (0..5)
            .map(|at| fact(&format!("{at} by the {who}")))
            .collect();
        run(store, ingest(said)).unwrap();
        let corrected = correction(5, &format!("corrected by the {who}"));
        run(store, Mutation::Correct(corrected)).unwrap();
    }
    run(&mut clone, Mutation::Forget(NodeId(7))).unwrap();
    let id = NodeId(14);
    assert_ne!(
        ours.view().node(id).unwrap().text().unwrap(),
        clone.view().node(id).unwrap().text().unwrap(),
        "one id, two events"
    );
    // As a file it says no less.
    let bytes = disk.contents("b.amem").unwrap();
    let mut file = Incoming::to_be_read(&world.folder, bytes.len() as u64).unwrap();
    file.push(&bytes).unwrap();
    let file = Other::new(file.into_view().unwrap().0);
    let there = Other::new(clone.view());
    assert_eq!(
        file.would_do(&ours.view()).unwrap(),
        there.would_do(&ours.view()).unwrap()
    );
    let merged = merge(ours, file);
    assert_eq!(
        (merged.matched, merged.events, merged.edges, merged.changed),
        (14, 6, 1, 1)
    );
    let back = merge(&mut clone, Other::new(ours.view()));
    assert_eq!((back.matched, back.events), (20, 6));
    assert_eq!(texts(ours), texts(&clone));
    if ahead > 0 {
        assert_eq!(picture(&ours.view()), picture(&clone.view()));
    }
    let known = Merged {
        matched: 26,
        ..Merged::default()
    };
    assert_eq!(merge(ours, Other::new(clone.view())), known);
}

#[test]
fn moments_of_two_clones_under_one_number_are_two_requests() {
    let (mut world, disk, mut clone) = cloned(71);
    disk.advance(1_000_000);
    run(&mut world.brains[0], ingest(vec![fact("by the first")])).unwrap();
    run(&mut clone, ingest(vec![fact("by the second")])).unwrap();
    let moments = [world.brains[0].view(), clone.view()];
    let [one, two] = moments.each_ref().map(|view| (view.instance(), view.lsn()));
    assert_eq!(one, two);
    amem_store::create(&world.folder, "third", &amem_store::Create::default()).unwrap();
    let mut third = Store::open(&world.folder, "third").unwrap();
    let id = world.request_id();
    let [first, second] =
        moments.map(|view| Request::new(Mutation::Merge(Other::new(view))).with_id(id));
    third.execute(first).unwrap();
    let refused = third.execute(second).unwrap_err();
    assert!(matches!(refused, Error::RequestReused { .. }), "{refused}");
}
