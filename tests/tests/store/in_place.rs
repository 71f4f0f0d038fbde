//! A received file takes the place of a brain: what stood there is quarantined first, whatever fails.

use std::sync::Arc;

use amem_store::disk::Disk;
use amem_store::folder::TMP;
use amem_store::quarantine::{self, QuarantineReason};
use amem_store::{Error, Folder, IncomingFile, NewBrain, Ownership, Store, create};
use amem_tests::crash::CrashState;
use amem_tests::disk::{Among, Chance, EIO, Effect, Fault, SimDisk};

use super::{fact, ingest, run};

const FILE: &str = "b.amem";
/// What only the brain has that stood there, and what only the received file has.
const STOOD: &str = "qwertzuiop";
const COMES: &str = "yxcvbnmasd";

/// Power cuts tried at each moment.
const STATES_EACH: usize = 3;

fn folder(disk: &Arc<SimDisk>) -> Folder {
    Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap()
}

/// The bytes of a brain that has what comes.
fn received() -> Vec<u8> {
    let disk = Arc::new(SimDisk::new(8));
    drop(brain(&folder(&disk), COMES));
    disk.contents(FILE).unwrap()
}

fn brain(folder: &Folder, text: &str) -> Store {
    create(folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(folder, "b").unwrap();
    run(&mut store, ingest(vec![fact(text)])).unwrap();
    store
}

/// Disks that can do everything, that cannot exchange names, and on which a file has one name.
fn disks() -> [Arc<SimDisk>; 3] {
    let new = || SimDisk::new(3);
    [new(), new().without_exchange(), new().without_links()].map(Arc::new)
}

fn put(folder: &Folder, bytes: &[u8]) -> Result<Option<String>, Error> {
    let mut incoming = IncomingFile::begin_in_place(folder, "b", bytes.len() as u64)?;
    incoming.push(bytes)?;
    incoming.finish_in_place(false).map(|(_, kept)| kept)
}

fn texts(folder: &Folder) -> Vec<String> {
    let store = Store::open(folder, "b").unwrap();
    let view = store.view();
    let text = |id| view.node(amem_format::NodeId(id)).unwrap().text();
    (0..view.nodes())
        .map(|id| text(id).unwrap().into_owned())
        .collect()
}

#[test]
fn a_received_file_takes_the_place_and_what_stood_there_is_kept() {
    for (which, disk) in disks().iter().enumerate() {
        let folder = folder(disk);
        brain(&folder, STOOD).close_superseded().unwrap();
        let before = disk.contents(FILE).unwrap();
        let kept = put(&folder, &received()).unwrap().unwrap();
        assert_eq!(texts(&folder), [COMES], "disk {which}");
        let listed = quarantine::find(&folder, &kept).unwrap();
        assert_eq!(listed.reason, QuarantineReason::Recovered);
        let path = format!(".amemd/{kept}");
        assert!(disk.contents(&path).unwrap() == before, "disk {which}");
        assert_eq!(disk.list(TMP).unwrap(), [""; 0], "disk {which}");
        // It is taken back as any other.
        let back = quarantine::take(&folder, &kept, "b", false);
        back.unwrap();
        assert_eq!(texts(&folder), [STOOD], "disk {which}");
    }
}

#[test]
fn whatever_has_the_name_is_kept_and_nothing_need_have_it() {
    // Nothing, a file of another program, an empty one.
    for stands in [None, Some(&b"what another has written"[..]), Some(b"")] {
        for (which, disk) in disks().iter().enumerate() {
            let folder = folder(disk);
            if let Some(bytes) = stands {
                disk.create(FILE).unwrap().write_at(0, bytes).unwrap();
            }
            let kept = put(&folder, &received()).unwrap();
            assert_eq!(texts(&folder), [COMES], "disk {which}, {stands:?}");
            let kept = kept.map(|kept| disk.contents(&format!(".amemd/{kept}")).unwrap());
            assert_eq!(kept.as_deref(), stands, "disk {which}");
        }
    }
}

#[test]
fn a_file_that_another_program_overwrote_is_kept_as_a_conflict() {
    let [disk, ..] = disks();
    let folder = folder(&disk);
    let mut store = brain(&folder, STOOD);
    let copy = disk.contents(FILE).unwrap();
    run(&mut store, ingest(vec![fact("lost")])).unwrap();
    disk.open(FILE).unwrap().write_at(0, &copy).unwrap();
    let refused = run(&mut store, ingest(vec![fact("refused")])).unwrap_err();
    assert!(matches!(refused, Error::Overwritten { .. }), "{refused}");
    drop(store);
    let kept = put(&folder, &copy).unwrap().unwrap();
    assert_eq!(texts(&folder), [STOOD]);
    let listed = quarantine::find(&folder, &kept).unwrap();
    assert_eq!(listed.reason, QuarantineReason::Conflict);
    let mut store = Store::open(&folder, "b").unwrap();
    run(&mut store, ingest(vec![fact("goes on")])).unwrap();
    store.close().unwrap();
    assert_eq!(texts(&folder), [STOOD, "goes on"]);
}

#[test]
fn a_damaged_file_changes_nothing() {
    let [disk, ..] = disks();
    let folder = folder(&disk);
    brain(&folder, STOOD).close().unwrap();
    let before = disk.contents(FILE).unwrap();
    let mut flipped = received();
    flipped[8192] ^= 1;
    let cut = &received()[..5000];
    for bytes in [&flipped[..], cut, b"no brain at all"] {
        put(&folder, bytes).unwrap_err();
        assert!(disk.contents(FILE).unwrap() == before);
        assert_eq!(quarantine::list(&folder).unwrap(), []);
        assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
    }
    assert_eq!(texts(&folder), [STOOD]);
}

/// After a run: the name has one of the two brains, whole, and what stood there is in some file.
fn check(disk: &Arc<SimDisk>, may_be_missing: bool, must_be_new: bool, what: &str) {
    let after = folder(disk);
    after.clear_leftovers("b").unwrap();
    assert!(
        !disk.files_with(STOOD.as_bytes()).is_empty(),
        "{what}: what stood there is gone"
    );
    match amem_store::ownership(&after, "b").unwrap() {
        Ownership::Missing if may_be_missing => return,
        Ownership::Own => {}
        other => panic!("{what}: {other:?}"),
    }
    let found = texts(&after);
    let is_new = found == [COMES];
    assert!(is_new || found == [STOOD], "{what}: {found:?}");
    assert!(is_new || !must_be_new, "{what}: {found:?}");
}

#[test]
fn no_fault_and_no_power_cut_loses_either_brain() {
    let bytes = received();
    let (mut struck, mut states) = (0, 0);
    let effects = [Effect::Nothing, Effect::Half, Effect::Everything];
    for (which, disk) in disks().iter().enumerate() {
        brain(&folder(disk), STOOD).close_superseded().unwrap();
        // Where a file has one name, the brain's is free for a moment.
        let may_be_missing = which == 2;
        for after in 0.. {
            let mut any = false;
            for (effect, lasting) in effects.iter().flat_map(|e| [(*e, false), (*e, true)]) {
                let disk = Arc::new(disk.cloned());
                let folder = folder(&disk);
                disk.fail(Fault {
                    after,
                    among: Among::Changes,
                    error: EIO,
                    effect,
                    lasting,
                });
                let done = put(&folder, &bytes);
                any |= disk.struck_at().is_some();
                struck += usize::from(disk.struck_at().is_some());
                disk.heal();
                drop(folder);
                let what = format!("disk {which}, {after} {effect:?} {lasting}: {done:?}");
                check(&disk, may_be_missing, done.is_ok(), &what);
            }
            if !any {
                break;
            }
        }
        let disk = Arc::new(disk.cloned());
        let at = folder(&disk);
        let from = disk.position();
        put(&at, &bytes).unwrap();
        let (log, chance) = (Arc::new(disk.log()), &mut Chance::of(1, 0));
        for number in from..=disk.position() {
            for _ in 0..STATES_EACH {
                let state = CrashState::by_chance(&log, number, false, chance);
                let must_be_new = number == disk.position();
                let what = format!("disk {which}, power cut at {number}: {}", state.choice);
                check(&state.open(), may_be_missing, must_be_new, &what);
                states += 1;
            }
        }
    }
    println!("{struck} faults struck, {states} states");
    assert!(struck > 100, "only {struck} faults struck");
}
