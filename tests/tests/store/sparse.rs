//! Files with holes, which claim more bytes than they take.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use amem_store::disk::os::OsDisk;
use amem_store::{Error, Folder, NewBrain, Store, adopt, create};
use amem_tests::disk::{About, HookedDisk};
use tempfile::TempDir;

use crate::{fact, ingest, run};

/// A folder whose writes are counted, and in it a copy of a brain, `c.amem`, of a length.
fn copy_of_length(bytes: u64) -> (TempDir, Folder, Arc<AtomicU64>) {
    let path = tempfile::tempdir().unwrap();
    let writes = Arc::new(AtomicU64::new(0));
    let counted = writes.clone();
    let inner = Arc::new(OsDisk::new(path.path()).unwrap());
    let disk = HookedDisk::new(inner, move |about| {
        if about == About::Write {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let folder = Folder::open(Arc::new(disk), "a test").unwrap();
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    run(&mut store, ingest(vec![fact("one")])).unwrap();
    store.close().unwrap();
    let copy = path.path().join("c.amem");
    fs::write(&copy, fs::read(path.path().join("b.amem")).unwrap()).unwrap();
    fs::File::options()
        .write(true)
        .open(&copy)
        .unwrap()
        .set_len(bytes)
        .unwrap();
    writes.store(0, Ordering::Relaxed);
    (path, folder, writes)
}

fn adopted(folder: &Folder) -> Result<(), Error> {
    let stamp = folder
        .disk()
        .source("c.amem", true)
        .unwrap()
        .stamp()
        .unwrap();
    adopt(folder, "c", stamp, true).map(drop)
}

#[test]
fn a_sparse_file_with_a_journal_beyond_the_limit_is_refused_before_it_is_copied() {
    let (_path, folder, writes) = copy_of_length(60 << 30);
    let refused = adopted(&folder).unwrap_err().to_string();
    assert!(refused.contains("its journal has"), "{refused}");
    assert_eq!(writes.load(Ordering::Relaxed), 0);
}

#[test]
fn a_sparse_file_of_zeros_is_refused_before_it_is_copied() {
    let (path, folder, writes) = copy_of_length(0);
    let file = fs::File::options()
        .write(true)
        .open(path.path().join("c.amem"));
    file.unwrap().set_len(60 << 30).unwrap();
    let refused = adopted(&folder).unwrap_err().to_string();
    assert!(refused.contains("not an .amem file"), "{refused}");
    assert_eq!(writes.load(Ordering::Relaxed), 0);
}

#[test]
fn the_holes_of_an_adopted_file_are_not_written() {
    let (_path, folder, writes) = copy_of_length(512 << 20);
    adopted(&folder).unwrap();
    let writes = writes.load(Ordering::Relaxed);
    assert!(writes < 200, "{writes} writes");
    let store = Store::open(&folder, "c").unwrap();
    assert_eq!(store.view().nodes(), 1);
}
