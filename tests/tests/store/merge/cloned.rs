//! One brain on two machines, the disk of one being a clone of the other's: one instance, and what each wrote since.

use std::sync::Arc;

use amem_format::NodeId;
use amem_store::disk::Disk;
use amem_store::mutation::NewEvent;
use amem_store::{Error, Folder, IncomingFile, MergeReport, MergeSource, Mutation, Request, Store};
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

fn merge(into: &mut Store, other: MergeSource) -> MergeReport {
    run(into, Mutation::Merge(other)).unwrap().merged.unwrap()
}

/// What is known of every event, whatever its id.
fn texts(store: &Store) -> Vec<String> {
    let view = store.view();
    let text = |id| view.node(NodeId(id)).unwrap().text().unwrap().into_owned();
    let mut texts: Vec<_> = (0..view.nodes()).map(text).collect();
    texts.sort();
    texts
}

#[test]
fn diverged_clones_are_merged_by_content() {
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
    let mut file = IncomingFile::read_only(&world.folder, bytes.len() as u64).unwrap();
    file.push(&bytes).unwrap();
    let file = MergeSource::new(file.into_view().unwrap().0);
    let there = MergeSource::new(clone.view());
    assert_eq!(
        file.would_do(&ours.view()).unwrap(),
        there.would_do(&ours.view()).unwrap()
    );
    let merged = merge(ours, file);
    assert_eq!(
        (merged.matched, merged.events, merged.edges, merged.changed),
        (14, 6, 1, 1)
    );
    let back = merge(&mut clone, MergeSource::new(ours.view()));
    assert_eq!((back.matched, back.events), (20, 6));
    assert_eq!(texts(ours), texts(&clone));
    if ahead > 0 {
        assert_eq!(picture(&ours.view()), picture(&clone.view()));
    }
    let known = MergeReport {
        matched: 26,
        ..MergeReport::default()
    };
    assert_eq!(merge(ours, MergeSource::new(clone.view())), known);
}

/// Two clones whose clocks agree, and what each recorded at one moment.
fn at_one_moment(seed: u64) -> (World, Arc<SimDisk>, Store) {
    let (mut world, disk, mut clone) = cloned(seed);
    // To open the clone read its clock once.
    world.disk.now();
    run(&mut world.brains[0], ingest(vec![fact("first")])).unwrap();
    run(&mut clone, ingest(vec![fact("second")])).unwrap();
    let time = |store: &Store| store.view().node(NodeId(14)).unwrap().created_at();
    assert_eq!(time(&world.brains[0]), time(&clone));
    (world, disk, clone)
}

#[test]
fn an_event_erased_by_one_clone_is_distinct_from_the_others_of_that_time() {
    let (mut world, _disk, mut clone) = at_one_moment(72);
    let ours = &mut world.brains[0];
    assert_eq!(merge(ours, MergeSource::new(clone.view())).events, 1);
    run(ours, Mutation::Erase(vec![NodeId(14)])).unwrap();
    for _ in 0..2 {
        merge(&mut clone, MergeSource::new(ours.view()));
        let seconds = texts(&clone)
            .iter()
            .filter(|text| *text == "second")
            .count();
        assert_eq!(seconds, 1, "once in the other");
    }
    assert_eq!(texts(ours), texts(&clone));
    assert_eq!(merge(ours, MergeSource::new(clone.view())).events, 0);
}

#[test]
fn events_erased_before_clones_merge_stay_erased() {
    let (mut world, _disk, clone) = at_one_moment(73);
    let ours = &mut world.brains[0];
    run(ours, Mutation::Erase(vec![NodeId(14)])).unwrap();
    // Nothing is left that tells "second" from what was erased: it is reported, and not brought back.
    let merged = merge(ours, MergeSource::new(clone.view()));
    assert_eq!((merged.matched, merged.events), (15, 0));
    assert!(ours.view().node(NodeId(14)).unwrap().is_erased());
    let back = MergeSource::new(ours.view())
        .would_do(&clone.view())
        .unwrap();
    assert_eq!((back.events, back.erased_there), (0, 1));
}

#[test]
fn equal_lsns_of_two_clones_are_two_requests() {
    let (mut world, disk, mut clone) = cloned(71);
    disk.advance(1_000_000);
    run(&mut world.brains[0], ingest(vec![fact("by the first")])).unwrap();
    run(&mut clone, ingest(vec![fact("by the second")])).unwrap();
    let moments = [world.brains[0].view(), clone.view()];
    let [one, two] = moments.each_ref().map(|view| (view.instance(), view.lsn()));
    assert_eq!(one, two);
    amem_store::create(&world.folder, "third", &amem_store::NewBrain::default()).unwrap();
    let mut third = Store::open(&world.folder, "third").unwrap();
    let id = world.request_id();
    let [first, second] =
        moments.map(|view| Request::new(Mutation::Merge(MergeSource::new(view))).with_id(id));
    third.execute(first).unwrap();
    let refused = third.execute(second).unwrap_err();
    assert!(matches!(refused, Error::RequestReused { .. }), "{refused}");
}
