//! What the medium damages under a store that is open.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::Arc;

use amem_doctor::verify;
use amem_format::NodeId;
use amem_store::disk::os::OsDisk;
use amem_store::{Checkpoint, Folder, NewBrain, Store, create};

use crate::{fact, ingest, run};

#[test]
fn a_checkpoint_gives_damage_no_checksum_that_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.amem");
    let disk = Arc::new(OsDisk::new(folder.path()).unwrap());
    let opened = Folder::open(disk, "a test").unwrap();
    create(&opened, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&opened, "b").unwrap();
    run(&mut store, ingest(vec![fact("folded")])).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    // As if its page had come back from the medium with another bit.
    let flip = |text: &str| {
        let file = fs::File::options().read(true).write(true).open(&path);
        let (file, bytes) = (file.unwrap(), fs::read(&path).unwrap());
        let mut found = bytes.windows(text.len());
        let at = found.position(|part| part == text.as_bytes()).unwrap();
        file.write_all_at(&[bytes[at] ^ 1], at as u64).unwrap();
    };
    flip("folded");
    let refused = store.checkpoint().unwrap_err().to_string();
    assert!(refused.contains("checksum"), "{refused}");
    assert!(!verify::file(&path).unwrap().is_whole());
    flip("golded");

    // The same of what is carried behind the new base.
    let mut checkpoint = Checkpoint::begin(&store).unwrap();
    checkpoint.build().unwrap();
    run(&mut store, ingest(vec![fact("carried")])).unwrap();
    flip("carried");
    let refused = checkpoint.carry(store.brain()).unwrap_err().to_string();
    assert!(refused.contains("checksum"), "{refused}");
    drop(checkpoint);
    flip("barried");
    store.checkpoint().unwrap();
    let view = store.view();
    let texts = [0, 1].map(|id| view.node(NodeId(id)).unwrap().text().unwrap().into_owned());
    assert_eq!(texts, ["folded", "carried"]);
    assert!(verify::file(&path).unwrap().is_whole());
}
