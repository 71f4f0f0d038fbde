//! Merges that are large, and merges that a disk stops: all of one is there, or nothing.

use amem_format::Lsn;
use amem_format::journal::frame::Kind as Commit;
use amem_format::view::View;
use amem_store::disk::Disk;
use amem_store::folder::TMP;
use amem_store::{Error, IncomingFile, MergeSource, Mutation, Request};
use amem_tests::disk::{Among, EDQUOT, EIO, ENOSPC, EROFS, Effect, Fault};

use super::{World, check, restarted};
use crate::{fact, ingest, run};

/// LSNs of the commits that merges made after an LSN.
fn merges(view: &View, mut lsn: Lsn) -> Vec<Lsn> {
    let mut found = Vec::new();
    while let Some(next) = view.commit_after(lsn).unwrap() {
        lsn = next.commit.lsn;
        if next.commit.kind == Commit::Merge {
            found.push(lsn);
        }
    }
    found
}

#[test]
fn a_merge_of_any_size_is_one_commit() {
    let mut world = World::of(2, 60);
    let text = |at: u64| format!("{at} {}", "large ".repeat(100_000));
    for from in (0..120).step_by(20) {
        let events = (from..from + 20).map(|at| fact(&text(at))).collect();
        run(&mut world.brains[1], ingest(events)).unwrap();
    }
    let before = world.brains[0].view();
    let request = Request::new(Mutation::Merge(world.other(1))).with_id(world.request_id());
    let first = world.brains[0].execute(request.clone()).unwrap();
    let view = world.brains[0].view();
    assert_eq!(merges(&view, before.lsn()), [first.lsn]);
    assert_eq!((before.nodes(), view.nodes()), (14, 14 + 120));
    assert!(world.brains[0].journal_bytes() > 64 << 20);
    check(&*world.disk.open("b.amem").unwrap());
    // A retry is answered, now and after a restart; and there is nothing more to merge.
    assert!(world.brains[0].execute(request.clone()).unwrap().replayed);
    assert_eq!(world.merge(0, 1).events, 0);
    let (_world, mut store) = restarted(world);
    assert_eq!(store.view().nodes(), 14 + 120);
    assert_eq!(store.view().lsn(), first.lsn);
    assert!(store.execute(request).unwrap().replayed);
    store.checkpoint().unwrap();
    let last = store.view();
    let last = last.node(amem_format::NodeId(133)).unwrap();
    assert_eq!(last.text().unwrap(), text(119));
}

/// A merge, some of whose operations on the disk fail; none if it is over before that many.
fn struck(journal_bytes: usize, fault: Fault) -> Option<()> {
    let what = format!("{journal_bytes} {fault:?}");
    let mut world = World::of(2, 61);
    run(&mut world.brains[1], ingest(vec![fact("one"), fact("two")])).unwrap();
    let other = MergeSource {
        journal_bytes,
        ..world.other(1)
    };
    let request = Request::new(Mutation::Merge(other)).with_id(world.request_id());
    let request = request.by("uid:1", "a merger");
    world.disk.fail(fault);
    let done = world.brains[0].execute(request.clone());
    let was_struck = world.disk.struck_at().is_some();
    world.disk.heal();
    match &done {
        Ok(_) => {}
        Err(Error::Disk { source, .. }) => {
            assert!(world.brains[0].poisoned().is_none(), "{what}");
            assert_eq!(world.brains[0].view().nodes(), 14, "{what}");
            let said = std::io::Error::from_raw_os_error(fault.error);
            assert_eq!(source.kind(), said.kind(), "{what}: {done:?}");
        }
        Err(Error::OutcomeUnknown { .. }) => {}
        Err(e) => panic!("{what}: an error of the disk is reported as {e:?}"),
    }
    let (_world, mut store) = restarted(world);
    let nodes = store.view().nodes();
    // What was answered is so: of a merge that was refused nothing is there, not even after a restart.
    match &done {
        Ok(_) => assert_eq!(nodes, 16, "{what}"),
        Err(Error::OutcomeUnknown { .. }) => assert!(nodes == 14 || nodes == 16, "{what}: {nodes}"),
        Err(e) => assert_eq!(nodes, 14, "{what}: {e}"),
    }
    // To repeat it is to have it once.
    let again = store.execute(request).unwrap();
    assert_eq!(again.replayed, nodes == 16, "{what}");
    assert_eq!(store.view().nodes(), 16, "{what}");
    was_struck.then_some(())
}

#[test]
fn a_disk_failure_during_a_merge_is_reported_and_a_retry_merges_once() {
    for (journal_bytes, least) in [(usize::MAX, 3), (0, 10)] {
        for (error, effect) in [
            (EIO, Effect::Nothing),
            (ENOSPC, Effect::Half),
            (EDQUOT, Effect::Nothing),
            (EROFS, Effect::Everything),
        ] {
            for lasting in [false, true] {
                let fault = |after| Fault {
                    after,
                    among: Among::All,
                    error,
                    effect,
                    lasting,
                };
                let struck = (0..).map_while(|after| struck(journal_bytes, fault(after)));
                let operations = struck.count();
                assert!(operations >= least, "only {operations} operations failed");
            }
        }
    }
}

#[test]
fn a_file_with_an_oversized_journal_is_refused_before_replay() {
    let mut world = World::of(1, 81);
    let long = "long ".repeat(10_000);
    run(&mut world.brains[0], ingest(vec![fact(&long)])).unwrap();
    let bytes = world.disk.contents("b.amem").unwrap();
    let read = |bytes: &[u8], max| {
        let mut file = IncomingFile::read_only(&world.folder, bytes.len() as u64).unwrap();
        file.push(bytes).unwrap();
        file.into_view_within(max)
    };
    let refused = read(&bytes, 400_000).unwrap_err();
    assert!(matches!(refused, Error::MergeTooLarge { .. }), "{refused}");
    let max = 16 * bytes.len() as u64;
    assert_eq!(read(&bytes, max).unwrap().0.nodes(), 15);
    // Damage is reported as damage.
    let damaged = read(&bytes[..4096], 0).unwrap_err();
    assert!(!matches!(damaged, Error::MergeTooLarge { .. }), "{damaged}");
}

#[test]
fn a_file_with_an_oversized_journal_makes_no_brain() {
    let mut world = World::of(1, 83);
    run(
        &mut world.brains[0],
        ingest(vec![fact(&"long ".repeat(10_000))]),
    )
    .unwrap();
    let bytes = world.disk.contents("b.amem").unwrap();
    let become_brain = |name: &str, max| {
        let mut file = IncomingFile::begin(&world.folder, name, bytes.len() as u64).unwrap();
        file.push(&bytes).unwrap();
        file.finish_within(false, max)
    };
    let refused = become_brain("refused", 40_000).unwrap_err().to_string();
    assert!(
        refused.contains("journal") && refused.contains("export"),
        "{refused}"
    );
    assert_eq!(world.disk.list(TMP).unwrap(), [""; 0]);
    assert!(world.disk.contents("refused.amem").is_none());
    become_brain("made", bytes.len() as u64).unwrap();
}
