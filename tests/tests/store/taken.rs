//! A brain that is taken away, or was made in vain: what has its name in the last moment is checked, and a foreign
//! file stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use amem_store::disk::Disk;
use amem_store::folder::{CONFLICTS, RECOVERED, TMP};
use amem_store::{Error, Folder, NewBrain, Store, create, quarantine};
use amem_tests::disk::{About, Among, EIO, Effect, Fault, HookedDisk, Kind, SimDisk};

use crate::{fact, ingest, run};

const FILE: &str = "b.amem";
const THEIRS: &[u8] = b"another's";
const SECRET: &str = "what the brain has, in these bytes";

/// A disk on each kind of file system: one that can exchange names and give second ones, one that can only give second
/// names, one that can only exchange names.
fn disks() -> [SimDisk; 3] {
    [
        SimDisk::new(1),
        SimDisk::new(1).without_exchange(),
        SimDisk::new(1).without_links(),
    ]
}

/// A disk on which a foreign file takes the brain's name right before that is taken away, if that is asked for.
fn contested(disk: &SimDisk) -> (Arc<dyn Disk>, Arc<AtomicBool>) {
    let (inner, armed) = (disk.clone(), Arc::new(AtomicBool::new(false)));
    let is_armed = armed.clone();
    let hook = move |about| {
        if about == About::Unname && is_armed.swap(false, Ordering::SeqCst) {
            let theirs = inner.create("another").unwrap();
            theirs.write_at(0, THEIRS).unwrap();
            inner.replace("another", FILE).unwrap();
        }
    };
    let hooked = HookedDisk::new(Arc::new(disk.clone()), hook);
    (Arc::new(hooked), armed)
}

/// A brain with one event.
fn brain(disk: Arc<dyn Disk>) -> Store {
    let folder = Folder::open(disk, "a test").unwrap();
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    run(&mut store, ingest(vec![fact(SECRET)])).unwrap();
    store
}

#[test]
fn a_file_under_the_name_of_a_removed_brain_stays_and_the_brain_is_saved() {
    for disk in disks() {
        let (hooked, armed) = contested(&disk);
        let store = brain(hooked);
        let folder = store.folder().clone();
        armed.store(true, Ordering::SeqCst);
        let refused = store.remove().unwrap_err();
        let Error::Replaced { saved, .. } = refused else {
            panic!("{refused}")
        };
        assert!(!armed.load(Ordering::SeqCst));
        assert_eq!(disk.contents(FILE).as_deref(), Some(THEIRS));
        assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
        let (view, _) = quarantine::read(&folder, quarantine::listed(saved.path())).unwrap();
        assert_eq!(view.nodes(), 1);
    }
}

#[test]
fn a_file_under_the_name_of_a_failed_creation_stays() {
    for disk in disks() {
        let (hooked, armed) = contested(&disk);
        let folder = Folder::open(hooked, "a test").unwrap();
        armed.store(true, Ordering::SeqCst);
        disk.fail(Fault {
            after: 0,
            among: Among::Only(Kind::SyncFolder),
            error: EIO,
            effect: Effect::Nothing,
            lasting: false,
        });
        let refused = create(&folder, "b", &NewBrain::default()).unwrap_err();
        assert!(matches!(refused, Error::Disk { .. }), "{refused}");
        assert!(!armed.load(Ordering::SeqCst));
        assert_eq!(disk.contents(FILE).as_deref(), Some(THEIRS));
        assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
    }
}

#[test]
fn a_removal_during_a_disk_failure_leaves_no_brain_or_a_whole_one() {
    let (mut gone, mut whole, mut unknown) = (0, 0, 0);
    for (fault, disk) in faults().flat_map(|fault| disks().map(|disk| (fault, disk))) {
        let store = brain(Arc::new(disk.clone()));
        disk.fail(fault);
        let removed = store.remove();
        let is_struck = disk.struck_at().is_some();
        disk.heal();
        let folder = Folder::open(Arc::new(disk.clone()), "the next run").unwrap();
        let found = match Store::open(&folder, "b") {
            Ok(store) => Some(store.view().nodes()),
            Err(Error::NotFound { .. }) => None,
            Err(error) => panic!("{fault:?}: {error}"),
        };
        match removed {
            Ok(()) => {
                assert_eq!(found, None, "{fault:?}");
                assert_eq!(disk.files_with(SECRET.as_bytes()), [""; 0], "{fault:?}");
                gone += 1;
            }
            Err(Error::OutcomeUnknown { .. }) => unknown += 1,
            Err(_) => {
                assert!(is_struck, "{fault:?}");
                assert_eq!(found, Some(1), "{fault:?}");
                whole += 1;
            }
        }
        for place in [CONFLICTS, RECOVERED, TMP] {
            assert_eq!(disk.list(place).unwrap(), [""; 0], "{fault:?}");
        }
    }
    println!("removed {gone} times, {whole} times not, {unknown} times unknown");
    assert!(gone > 0 && whole > 0 && unknown > 0);
}

/// Each of the first operations fails, with nothing done or all.
fn faults() -> impl Iterator<Item = Fault> {
    let effects = [Effect::Nothing, Effect::Everything];
    let rows = (0..12).flat_map(move |after| effects.map(|effect| (after, effect)));
    rows.map(|(after, effect)| Fault {
        after,
        among: Among::All,
        error: EIO,
        effect,
        lasting: false,
    })
}
