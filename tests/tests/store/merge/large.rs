//! Merges that a disk stops: all of one is there, or nothing.

use std::sync::Arc;

use amem_store::disk::Disk;
use amem_store::{Error, Folder, Mutation, Other, Request, Store};
use amem_tests::disk::{Among, EDQUOT, EIO, ENOSPC, EROFS, Effect, Fault};

use super::World;
use crate::{fact, ingest, run};

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

/// A merge, some of whose operations on the disk fail; none if it is over before that many.
fn struck(journal_bytes: usize, fault: Fault) -> Option<()> {
    let what = format!("{journal_bytes} {fault:?}");
    let mut world = World::of(2, 61);
    run(&mut world.brains[1], ingest(vec![fact("one"), fact("two")])).unwrap();
    let other = Other {
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
        Err(e) => panic!("{what}: an error of the disk is told as {e:?}"),
    }
    let (_world, mut store) = restarted(world);
    let nodes = store.view().nodes();
    assert!(
        nodes == 14 && done.is_err() || nodes == 16,
        "{what}: {nodes} events, {done:?}"
    );
    // To repeat it is to have it once.
    let again = store.execute(request).unwrap();
    assert_eq!(again.replayed, nodes == 16, "{what}");
    assert_eq!(store.view().nodes(), 16, "{what}");
    was_struck.then_some(())
}

#[test]
fn a_disk_that_fails_during_a_merge_is_told_as_that_and_to_repeat_it_is_to_have_it_once() {
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
