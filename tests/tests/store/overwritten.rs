//! Another program writes over the file of an open brain, as `cp` does: same name, same inode, other content.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use amem_format::NodeId;
use amem_format::brain::Brain;
use amem_format::journal::live;
use amem_format::mapping::Map;
use amem_store::disk::Disk;
use amem_store::disk::os::OsDisk;
use amem_store::{Error, Folder, NewBrain, Store, create};
use amem_tests::disk::{About, HookedDisk};

use crate::{fact, ingest, open, run};

/// How many texts, of as many bytes, make a file grow past the room that it has in advance.
const LONG_TEXTS: usize = 8;
const LONG_TEXT_BYTES: usize = 1 << 19;

/// Where a copy goes, and its bytes.
type WaitingCopy = (PathBuf, Vec<u8>);

/// A folder of a real file system, with a brain "b" that has one event.
struct World {
    folder: Folder,
    path: PathBuf,
    _dir: tempfile::TempDir,
}

impl World {
    fn new() -> (Self, Store) {
        Self::with(|disk| disk)
    }

    fn with(disk: impl FnOnce(Arc<dyn Disk>) -> Arc<dyn Disk>) -> (Self, Store) {
        let dir = tempfile::tempdir().unwrap();
        let disk = disk(Arc::new(OsDisk::new(dir.path()).unwrap()));
        let folder = Folder::open(disk, "a test").unwrap();
        create(&folder, "b", &NewBrain::default()).unwrap();
        let mut store = Store::open(&folder, "b").unwrap();
        run(&mut store, ingest(vec![fact("first")])).unwrap();
        let path = dir.path().join("b.amem");
        let world = Self {
            folder,
            path,
            _dir: dir,
        };
        (world, store)
    }

    fn copy(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

/// As `sudo cp` does it: the file is emptied and written again, whatever its mode.
fn overwrite(path: &Path, bytes: &[u8]) {
    let before = fs::metadata(path).unwrap().permissions();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, before).unwrap();
}

/// Everything that is asked of the store afterwards is refused, and nothing is written.
fn expect_end(world: &World, mut store: Store, copy: &[u8], what: &str) {
    let refused = |error: Error| {
        assert!(
            matches!(error, Error::Overwritten { .. }),
            "{what}: {error}"
        );
        let text = error.to_string();
        for part in ["b.amem", "another program", "amemctl brain restore b FILE"] {
            assert!(text.contains(part), "{what}: {text}");
        }
    };
    for _ in 0..2 {
        refused(run(&mut store, ingest(vec![fact("after the copy")])).unwrap_err());
    }
    assert!(store.overwritten().is_some(), "{what}");
    refused(store.checkpoint().unwrap_err());
    refused(store.check_path().unwrap_err());
    refused(store.close().unwrap_err());
    refused(Store::open(&world.folder, "b").unwrap_err());
    assert!(world.copy() == copy, "{what}: the store wrote to the file");
    let left = |folder: &str| world.folder.disk().list(folder).unwrap();
    assert_eq!(left(".amemd/recovered"), [""; 0], "{what}");
}

#[test]
fn a_copy_over_the_open_file_ends_writing_before_the_next_answer() {
    let grow = |store: &mut Store| {
        for n in 0..LONG_TEXTS {
            let text = format!("text {n} ").repeat(LONG_TEXT_BYTES / 7);
            run(store, ingest(vec![fact(&text)])).unwrap();
        }
    };
    let kinds = ["shorter", "longer", "of the same size"];
    for kind in kinds {
        let (world, mut store) = World::new();
        if kind == "longer" {
            grow(&mut store);
        }
        let copy = world.copy();
        match kind {
            "shorter" => grow(&mut store),
            "longer" => store.checkpoint().unwrap(),
            _ => {}
        }
        run(&mut store, ingest(vec![fact("second")])).unwrap();
        let (before, after) = (world.copy().len(), copy.len());
        let is_so = match kind {
            "shorter" => after < before,
            "longer" => after > before,
            _ => after == before,
        };
        assert!(is_so, "{kind}: {before} bytes, then {after}");
        overwrite(&world.path, &copy);
        expect_end(&world, store, &copy, kind);
    }
}

#[test]
fn another_brain_over_the_open_file_ends_writing_too() {
    let (other, mut theirs) = World::new();
    run(&mut theirs, ingest(vec![fact("of another brain")])).unwrap();
    let (world, store) = World::new();
    overwrite(&world.path, &other.copy());
    expect_end(&world, store, &other.copy(), "another brain");
    let (world, store) = World::new();
    overwrite(&world.path, b"");
    expect_end(&world, store, b"", "an empty file");
}

#[test]
fn a_copy_of_this_moment_changes_nothing() {
    let (world, mut store) = World::new();
    let copy = world.copy();
    overwrite(&world.path, &copy);
    run(&mut store, ingest(vec![fact("second")])).unwrap();
    store.checkpoint().unwrap();
    run(&mut store, ingest(vec![fact("third")])).unwrap();
    store.close().unwrap();
    let store = Store::open(&world.folder, "b").unwrap();
    let view = store.view();
    let texts = [0, 1, 2].map(|id| view.node(NodeId(id)).unwrap().text().unwrap().into_owned());
    assert_eq!(texts, ["first", "second", "third"]);
}

#[test]
fn a_copy_between_the_write_and_the_sync_of_a_group_is_not_answered() {
    let copy: Arc<Mutex<Option<WaitingCopy>>> = Arc::default();
    let is_due = Arc::new(AtomicBool::new(false));
    let (waiting, due) = (copy.clone(), is_due.clone());
    let (world, mut store) = World::with(|disk| {
        let hook = move |about| {
            if about == About::Sync && due.swap(false, Ordering::Relaxed) {
                let copy = waiting.lock().unwrap().take();
                let (path, bytes) = copy.unwrap();
                overwrite(&path, &bytes);
            }
        };
        Arc::new(HookedDisk::new(disk, hook))
    });
    let bytes = world.copy();
    *copy.lock().unwrap() = Some((world.path.clone(), bytes));
    run(&mut store, ingest(vec![fact("second")])).unwrap();
    is_due.store(true, Ordering::Relaxed);
    let refused = run(&mut store, ingest(vec![fact("third")])).unwrap_err();
    assert!(matches!(refused, Error::OutcomeUnknown { .. }), "{refused}");
    assert!(refused.to_string().contains("brain restore"), "{refused}");
    let now = world.copy();
    expect_end(&world, store, &now, "in the middle of a group");
}

#[test]
fn a_copy_in_the_last_moment_of_a_group_is_found_by_the_next() {
    let (world, mut store) = World::new();
    let copy = world.copy();
    for text in ["second", "third"] {
        run(&mut store, ingest(vec![fact(text)])).unwrap();
    }
    // The group's own frames, and the cell that says how far the journal reaches, came behind the copy.
    let mut mixed = world.copy();
    let brain = Brain::open(Map::owned(&copy)).unwrap();
    let page = brain.live_page().unwrap() as usize;
    let end = |bytes: &[u8]| {
        let cell = page + live::COMMITTED as usize;
        u64::from_le_bytes(bytes[cell..cell + 8].try_into().unwrap()) as usize
    };
    let log = &store.brain().delta().log;
    let last = log.get(log.published() - 1).unwrap();
    assert_eq!(end(&mixed), last.end as usize);
    mixed[end(&copy)..last.position as usize].fill(0);
    overwrite(&world.path, &mixed);
    expect_end(&world, store, &mixed, "in the last moment");
}

#[test]
fn a_checkpoint_that_finds_commits_lost_ends_writing() {
    let (world, mut store) = World::new();
    for text in ["second", "third", "fourth"] {
        run(&mut store, ingest(vec![fact(text)])).unwrap();
    }
    let bytes = world.copy();
    let at = bytes.windows(6).position(|part| part == b"second").unwrap();
    let file = {
        fs::set_permissions(&world.path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::File::options().write(true).open(&world.path).unwrap()
    };
    file.write_all_at(&[0; 6], at as u64).unwrap();
    store.checkpoint().unwrap_err();
    let lost = store.check_journal().unwrap_err();
    assert!(matches!(lost, Error::Overwritten { .. }), "{lost}");
    let now = world.copy();
    expect_end(&world, store, &now, "a checkpoint found it");
}

#[test]
fn a_text_of_zeros_is_damage_and_no_text() {
    let (world, mut store) = World::new();
    run(&mut store, ingest(vec![fact("second")])).unwrap();
    let (copy, view) = (world.copy(), store.view());
    let first = store.brain().start().unwrap().at as usize;
    let mut zeros = copy.clone();
    zeros[first..].fill(0);
    overwrite(&world.path, &zeros);
    for id in [0, 1] {
        let refused = view.node(NodeId(id)).unwrap().text().unwrap_err();
        assert!(refused.to_string().contains("damaged journal"), "{refused}");
    }
    overwrite(&world.path, &copy);
    assert_eq!(view.node(NodeId(1)).unwrap().text().unwrap(), "second");
}

#[test]
fn a_file_that_is_written_to_through_the_simulated_disk_is_noticed() {
    let (disk, mut store) = open(1);
    run(&mut store, ingest(vec![fact("first")])).unwrap();
    let copy = disk.contents("b.amem").unwrap();
    run(&mut store, ingest(vec![fact("second")])).unwrap();
    disk.open("b.amem").unwrap().write_at(0, &copy).unwrap();
    let refused = run(&mut store, ingest(vec![fact("third")])).unwrap_err();
    assert!(matches!(refused, Error::Overwritten { .. }), "{refused}");
    assert!(disk.contents("b.amem").unwrap() == copy);
}
