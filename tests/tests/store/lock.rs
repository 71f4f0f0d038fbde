//! A folder whose lock another program removes, or that is moved away, under an open store.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use amem_store::disk::os::OsDisk;
use amem_store::{Error, Folder, NewBrain, Store, create};

use crate::{fact, ingest, run};

fn lock(path: &Path) -> Folder {
    Folder::open(Arc::new(OsDisk::new(path).unwrap()), "a test").unwrap()
}

/// Removes the lock of an open folder as a program does, opens it a second time, and writes from the first.
fn write_after(damage: impl FnOnce(&Path)) -> (Error, u64) {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("brains");
    fs::create_dir(&path).unwrap();
    let folder = lock(&path);
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    run(&mut store, ingest(vec![fact("before")])).unwrap();
    damage(&path);
    let second = lock(&path);
    match create(&second, "b", &NewBrain::default()) {
        Ok(()) | Err(Error::Exists { .. }) => {}
        Err(e) => panic!("{e}"),
    }
    let mut other = Store::open(&second, "b").unwrap();
    run(&mut other, ingest(vec![fact("of the second")])).unwrap();
    let refused = run(&mut store, ingest(vec![fact("of the first")])).unwrap_err();
    // Nothing else is written from there either.
    assert!(store.checkpoint().is_err());
    assert!(create(&folder, "c", &NewBrain::default()).is_err());
    assert!(Store::open(&folder, "b").is_err());
    let again = run(&mut other, ingest(vec![fact("of the second")]));
    again.unwrap();
    (refused, other.view().nodes())
}

#[test]
fn a_store_whose_lock_was_removed_writes_nothing_more_and_says_so() {
    let (refused, events) = write_after(|path| fs::remove_file(path.join(".amemd/lock")).unwrap());
    let text = refused.to_string();
    assert!(text.contains(".amemd/lock"), "{text}");
    assert!(text.contains("restart"), "{text}");
    assert_eq!(events, 3);
}

#[test]
fn a_store_whose_folder_was_moved_and_made_again_writes_nothing_more() {
    let (refused, events) = write_after(|path| {
        fs::rename(path, path.with_extension("moved")).unwrap();
        fs::create_dir(path).unwrap();
    });
    let text = refused.to_string();
    assert!(text.contains(".amemd/lock"), "{text}");
    assert_eq!(events, 2);
}
