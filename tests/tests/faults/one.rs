//! What one failure means: to a checkpoint, to the next request, to a brain whose file is gone.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

use std::sync::Arc;

use amem_format::{EventType, NodeId};
use amem_store::Ownership;
use amem_store::disk::Disk;
use amem_store::folder::{RECOVERED, TMP};
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Error, Folder, Mutation, NewBrain, Request, SavedFile, Store, create};
use amem_tests::disk::{Among, Chance, EDQUOT, EIO, ENOSPC, Effect, Fault, Kind, SimDisk};

fn brain(disk: &Arc<SimDisk>) -> Store {
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "pid 1").unwrap();
    let options = NewBrain {
        dimension: 0,
        space: Default::default(),
        ..NewBrain::default()
    };
    match create(&folder, "b", &options) {
        Ok(()) | Err(Error::Exists { .. }) => {}
        Err(e) => panic!("{e}"),
    }
    Store::open(&folder, "b").unwrap()
}

fn fact(text: &str) -> Request {
    Request::new(Mutation::Ingest(Ingest {
        events: vec![NewEvent::new(EventType::FACT, text)],
        ..Ingest::default()
    }))
}

#[test]
fn a_full_disk_stops_a_checkpoint_and_not_the_brain() {
    for error in [ENOSPC, EDQUOT] {
        for kind in [Kind::Create, Kind::Write, Kind::Sync] {
            for after in 0..3 {
                let disk = Arc::new(SimDisk::new(1));
                let mut store = brain(&disk);
                store.execute(fact("one")).unwrap();
                disk.fail(Fault {
                    after,
                    among: Among::Only(kind),
                    error,
                    effect: Effect::Half,
                    lasting: true,
                });
                let done = store.checkpoint();
                let struck = disk.struck_at().is_some();
                disk.heal();
                let what = format!("{kind:?} {after} {error}");
                assert_eq!(done.is_err(), struck, "{what}: {done:?}");
                assert_eq!(store.poisoned(), None, "{what}");
                store.execute(fact("two")).unwrap();
                store.checkpoint().unwrap();
                drop(store);
                let store = brain(&disk);
                assert_eq!(disk.list(TMP).unwrap(), [""; 0], "{what}");
                assert_eq!(store.view().nodes(), 2, "{what}");
                assert_eq!(store.view().node(NodeId(1)).unwrap().text().unwrap(), "two");
            }
        }
    }
}

#[test]
fn a_brain_killed_on_a_full_disk_is_read_and_recovered_once_there_is_room() {
    for (error, kind) in [
        (ENOSPC, Kind::Create),
        (ENOSPC, Kind::Write),
        (EDQUOT, Kind::Write),
    ] {
        for is_removed in [false, true] {
            let disk = Arc::new(SimDisk::new(1));
            let mut store = brain(&disk);
            let folder = store.folder().clone();
            store.execute(fact("one")).unwrap();
            // Killed: not closed in order.
            drop(store);
            disk.fail(Fault {
                after: 0,
                among: Among::Only(kind),
                error,
                effect: Effect::Nothing,
                lasting: true,
            });
            let mut store = Store::open(&folder, "b").unwrap();
            let text = store
                .view()
                .node(NodeId(0))
                .unwrap()
                .text()
                .unwrap()
                .into_owned();
            assert_eq!(text, "one", "{kind:?}");
            let refused = store.execute(fact("two")).unwrap_err();
            let Error::NoRoom { bytes, .. } = refused else {
                panic!("{kind:?}: {refused}")
            };
            assert!(bytes > 8192, "{kind:?}");
            assert!(
                refused.to_string().contains(&format!("{bytes} bytes")),
                "{refused}"
            );
            if is_removed {
                store.remove().unwrap();
                assert!(matches!(
                    Store::open(&folder, "b"),
                    Err(Error::NotFound { .. })
                ));
                continue;
            }
            assert!(store.checkpoint().is_err());
            store.close().unwrap();
            let mut store = Store::open(&folder, "b").unwrap();
            disk.heal();
            store.execute(fact("two")).unwrap();
            drop(store);
            let store = Store::open(&folder, "b").unwrap();
            assert_eq!(store.view().nodes(), 2, "{kind:?}");
        }
    }
}

#[test]
fn a_failed_write_of_a_large_base_stops_the_checkpoint_and_not_the_brain() {
    let disk = Arc::new(SimDisk::new(1));
    let mut store = brain(&disk);
    // Written out in more than one part.
    let mut chance = Chance::new(1);
    let mut text = || -> String { (0..64).map(|_| format!("{:016x}", chance.word())).collect() };
    let events = (0..2 << 10).map(|_| NewEvent::new(EventType::FACT, text()));
    let ingest = Ingest {
        events: events.collect(),
        ..Ingest::default()
    };
    store
        .execute(Request::new(Mutation::Ingest(ingest)))
        .unwrap();
    for after in 0..2 {
        disk.fail(Fault {
            after,
            among: Among::Only(Kind::WriteOut),
            error: EIO,
            effect: Effect::Nothing,
            lasting: false,
        });
        let done = store.checkpoint();
        assert!(
            matches!(
                &done,
                Err(Error::Disk {
                    action: "write",
                    ..
                })
            ),
            "{after}: {done:?}"
        );
        assert!(disk.struck_at().is_some(), "{after}");
        disk.heal();
        assert_eq!(disk.list(TMP).unwrap(), [""; 0], "{after}");
        assert_eq!(store.poisoned(), None);
    }
    store.checkpoint().unwrap();
    store.execute(fact("goes on")).unwrap();
}

#[test]
fn a_poisoned_brain_says_so_until_it_is_recovered() {
    let disk = Arc::new(SimDisk::new(1));
    let mut store = brain(&disk);
    store.execute(fact("one")).unwrap();
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Sync),
        error: EIO,
        effect: Effect::Nothing,
        lasting: false,
    });
    let answers = store.commit(&[fact("two"), fact("")]);
    assert!(
        matches!(answers[0], Err(Error::OutcomeUnknown { .. })),
        "{answers:?}"
    );
    assert!(
        matches!(answers[1], Err(Error::Format(_))),
        "a refusal stands: {answers:?}"
    );
    for _ in 0..2 {
        assert!(matches!(
            store.execute(fact("three")),
            Err(Error::Poisoned { .. })
        ));
    }
    assert!(matches!(store.checkpoint(), Err(Error::Poisoned { .. })));
    assert!(matches!(store.close(), Err(Error::Poisoned { .. })));
    // What was not answered is there, as it was in the cache; it is durable now.
    assert_eq!(brain(&disk).view().nodes(), 2);
}

/// Adopts what was saved when a brain's file was taken away, under a name of its own.
fn saved(disk: &Arc<SimDisk>, saved: &SavedFile) -> Store {
    let file = saved.path().strip_prefix(".amemd/recovered/").unwrap();
    disk.publish(saved.path(), file).unwrap();
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "pid 2").unwrap();
    let name = file.strip_suffix(".amem").unwrap();
    let Ownership::Untracked(stamp) = amem_store::ownership(&folder, name).unwrap() else {
        panic!("a saved file has no owner")
    };
    amem_store::adopt(&folder, name, stamp, false).unwrap();
    Store::open(&folder, name).unwrap()
}

#[test]
fn a_removed_file_is_noticed_and_the_brain_is_saved() {
    let removed = |disk: &SimDisk| disk.remove("b.amem").unwrap();
    let moved = |disk: &SimDisk| disk.publish("b.amem", "elsewhere").unwrap();
    let commit = |store: &mut Store| store.execute(fact("refused")).map(drop);
    let checkpoint = |store: &mut Store| store.checkpoint();
    type Take<'t> = &'t dyn Fn(&SimDisk);
    type Then<'t> = &'t dyn Fn(&mut Store) -> amem_store::Result<()>;
    let rows: [(Take<'_>, Then<'_>); 4] = [
        (&removed, &commit),
        (&removed, &checkpoint),
        (&moved, &commit),
        (&moved, &checkpoint),
    ];
    for (row, (take, then)) in rows.into_iter().enumerate() {
        let disk = Arc::new(SimDisk::new(1));
        let mut store = brain(&disk);
        for text in ["one", "two"] {
            store.execute(fact(text)).unwrap();
        }
        take(&disk);
        let answer = then(&mut store);
        let Err(Error::Replaced { saved: name, .. }) = answer else {
            panic!("row {row}: {answer:?}")
        };
        assert!(matches!(
            store.execute(fact("refused")),
            Err(Error::Poisoned { .. })
        ));
        drop(store);
        let mut store = saved(&disk, &name);
        assert_eq!(store.view().nodes(), 2, "row {row}");
        assert_eq!(store.view().node(NodeId(1)).unwrap().text().unwrap(), "two");
        store.execute(fact("three")).unwrap();
    }
}

#[test]
fn a_brain_whose_file_is_removed_is_saved_as_soon_as_possible() {
    let commit = |store: &mut Store| store.execute(fact("refused")).map(drop);
    let checkpoint = |store: &mut Store| store.checkpoint();
    let look = |store: &mut Store| store.check_path().map(drop);
    type Then<'t> = &'t dyn Fn(&mut Store) -> amem_store::Result<()>;
    let thens: [Then<'_>; 3] = [&look, &commit, &checkpoint];
    let kinds = [
        Kind::Create,
        Kind::Write,
        Kind::Sync,
        Kind::Publish,
        Kind::SyncFolder,
    ];
    let mut tries = 0;
    for (then, kind) in thens
        .into_iter()
        .flat_map(|then| kinds.map(|kind| (then, kind)))
    {
        for after in 0.. {
            let disk = Arc::new(SimDisk::new(1));
            let mut store = brain(&disk);
            for text in ["one", "two"] {
                store.execute(fact(text)).unwrap();
            }
            disk.remove("b.amem").unwrap();
            disk.fail(Fault {
                after,
                among: Among::Only(kind),
                error: ENOSPC,
                effect: Effect::Half,
                lasting: true,
            });
            let what = format!("{kind:?} {after}");
            for _ in 0..2 {
                let answer = then(&mut store).unwrap_err();
                if disk.struck_at().is_none() {
                    assert!(matches!(answer, Error::Replaced { .. }), "{what}: {answer}");
                    break;
                }
                assert!(
                    matches!(
                        answer,
                        Error::Unsaved { .. } | Error::Disk { .. } | Error::NoRoom { .. }
                    ),
                    "{what}: {answer}"
                );
                assert_eq!(store.poisoned(), None, "{what}");
            }
            let struck = disk.struck_at().is_some();
            disk.heal();
            let answer = store.check_path();
            let Err(Error::Replaced { saved: name, .. }) = answer else {
                panic!("{what}: {answer:?}")
            };
            assert_eq!(store.saved(), Some(&name), "{what}");
            drop(store);
            assert_eq!(disk.list(TMP).unwrap(), [""; 0], "{what}");
            assert_eq!(disk.list(RECOVERED).unwrap().len(), 1, "{what}");
            let store = saved(&disk, &name);
            assert_eq!(store.view().nodes(), 2, "{what}");
            assert_eq!(store.view().node(NodeId(1)).unwrap().text().unwrap(), "two");
            tries += 1;
            if !struck {
                break;
            }
        }
    }
    assert!(tries > 30, "only {tries} tries");
}

#[test]
fn a_file_that_takes_the_name_is_quarantined_and_the_brain_continues() {
    let commit = |store: &mut Store| store.execute(fact("two")).map(drop);
    let checkpoint = |store: &mut Store| store.checkpoint();
    let look = |store: &mut Store| store.check_path().map(|taken| assert!(taken));
    type Then<'t> = &'t dyn Fn(&mut Store) -> amem_store::Result<()>;
    let rows: [(Then<'_>, u64); 3] = [(&commit, 2), (&checkpoint, 1), (&look, 1)];
    for (row, (then, events)) in rows.into_iter().enumerate() {
        let disk = Arc::new(SimDisk::new(1));
        let mut store = brain(&disk);
        store.execute(fact("one")).unwrap();
        let file = disk.create("another").unwrap();
        file.write_at(0, b"not ours").unwrap();
        disk.exchange("another", "b.amem").unwrap();
        then(&mut store).unwrap();
        store.execute(fact("last")).unwrap();
        let kept = disk.list(".amemd/conflicts").unwrap();
        let kept = disk.contents(&format!(".amemd/conflicts/{}", kept[0]));
        assert_eq!(kept.as_deref(), Some(&b"not ours"[..]), "row {row}");
        drop(store);
        assert_eq!(brain(&disk).view().nodes(), events + 1, "row {row}");
    }
}

#[test]
fn a_closed_brain_gets_its_name_back_from_the_open_handle() {
    let disk = Arc::new(SimDisk::new(1));
    let mut store = brain(&disk);
    store.execute(fact("one")).unwrap();
    let (held, folder) = (store.open_handle(), store.folder().clone());
    let instance = store.view().instance();
    store.close().unwrap();
    drop(disk.create("another").unwrap());
    disk.exchange("another", "b.amem").unwrap();
    disk.remove("another").unwrap();
    assert!(matches!(
        Store::open(&folder, "b"),
        Err(Error::Untracked { .. })
    ));
    let mut store = Store::reopen(&folder, "b", &held).unwrap();
    assert_eq!(store.view().instance(), instance);
    store.execute(fact("two")).unwrap();
    assert_eq!(disk.list(".amemd/conflicts").unwrap().len(), 1);
    drop((store, folder));
    assert_eq!(brain(&disk).view().nodes(), 2);
}

#[test]
fn a_name_that_cannot_be_checked_refuses_writes_and_loses_nothing() {
    let disk = Arc::new(SimDisk::new(1));
    let mut store = brain(&disk);
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Identity),
        error: EIO,
        effect: Effect::Nothing,
        lasting: false,
    });
    assert!(matches!(
        store.execute(fact("one")),
        Err(Error::Disk { .. })
    ));
    assert_eq!(store.poisoned(), None);
    store.execute(fact("one")).unwrap();
    assert_eq!(disk.list(".amemd/recovered").unwrap(), [""; 0]);
}

#[test]
fn a_second_daemon_on_the_folder_gets_the_name_of_the_holder() {
    let disk = Arc::new(SimDisk::new(1));
    let store = brain(&disk);
    let second = || Folder::open(disk.clone() as Arc<dyn Disk>, "pid 2");
    let refused = second();
    assert!(
        matches!(&refused, Err(Error::Locked { holder }) if holder == "pid 1"),
        "{refused:?}"
    );
    // The refused one has cleared nothing away.
    let file = disk.create(&format!("{TMP}/of-the-first")).unwrap();
    drop(second());
    assert_eq!(
        disk.identity(&format!("{TMP}/of-the-first")).unwrap(),
        file.id()
    );
    drop(store);
    assert!(second().is_ok());
}
