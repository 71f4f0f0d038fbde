//! The ledgers report what is wrong: a brain compared with invented answers.

use std::sync::Arc;

use amem_format::{EdgeType, EventType};
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create};
use amem_tests::ledger::{Receipt, Verdict};

#[test]
fn a_ledger_names_lost_duplicated_foreign_and_disordered_writes() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let disk = Arc::new(OsDisk::new(folder.path()).unwrap());
    let own = Folder::open(disk, "a test").unwrap();
    create(&own, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&own, "b").unwrap();
    let texts = ["once", "twice", "twice", "nobody knows"];
    let events = texts.map(|text| NewEvent::new(EventType::FACT, text));
    let ingest = Ingest {
        events: events.into(),
        ..Ingest::default()
    };
    let request = Request::new(Mutation::Ingest(ingest));
    let lsn = store.execute(request).unwrap().lsn.0;

    let told = |lsn, id, text: &str, edges: &[(u64, u64, u8)]| Receipt {
        lsn,
        events: vec![(id, text.to_owned())],
        edges: edges.to_vec(),
        ..Receipt::default()
    };
    let edge = (1, 0, EdgeType::SUPPORTS.0);
    let ledgers = [
        vec![
            told(lsn, 0, "once", &[]),
            told(lsn + 1, 1, "twice", &[edge]),
        ],
        vec![told(lsn, 9, "never", &[])],
    ];
    let verdict = Verdict::of(&store.view(), &ledgers).unwrap();
    assert_eq!((verdict.acknowledged, verdict.events), (3, 3));
    assert_eq!(verdict.doubled, ["2 times \"twice\""]);
    assert_eq!(verdict.strange, ["nobody knows"]);
    let lost = [
        "edge from 1 to 0 of type 1".to_owned(),
        "event 9 \"never\"".to_owned(),
    ];
    assert_eq!(verdict.lost, lost);
    assert_eq!(verdict.disordered.len(), 1, "an LSN was given to two");
    assert!(!verdict.is_right());
}
