//! A store on a disk in memory: what a brain's writer promises, apart from crashes.

use std::sync::Arc;

use amem_core::view::AsOf;
use amem_core::{EdgeType, EventType, Lsn, NodeId};
use amem_store::disk::Disk;
use amem_store::mutation::{Correct, End, Ingest, NewEvent, NewLink};
use amem_store::{Create, Folder, Mutation, Request, Store, create};
use amem_tests::disk::SimDisk;

fn open(seed: u64) -> (Arc<SimDisk>, Store) {
    let disk = Arc::new(SimDisk::new(seed));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
    create(&folder, "b", &Create::default()).unwrap();
    (disk, Store::open(&folder, "b").unwrap())
}

fn ingest(texts: &[&str]) -> Mutation {
    Mutation::Ingest(Ingest {
        events: texts
            .iter()
            .map(|t| NewEvent::new(EventType::FACT, *t))
            .collect(),
        ..Ingest::default()
    })
}

#[test]
fn what_is_ingested_is_read_before_and_after_a_checkpoint() {
    let (_disk, mut store) = open(1);
    let answer = store
        .execute(Request::new(ingest(&["the sky is blue", "water is wet"])))
        .unwrap();
    assert_eq!(answer.ids, [NodeId(0), NodeId(1)]);
    let link = Mutation::Ingest(Ingest {
        events: vec![NewEvent::new(EventType::DECISION, "we go out")],
        links: vec![NewLink {
            source: End::New(0),
            target: End::Event(NodeId(0)),
            edge_type: EdgeType::CAUSED_BY,
            weight: 0.5,
        }],
        ..Ingest::default()
    });
    store
        .execute(Request::new(link).by("uid:1", "agent"))
        .unwrap();
    let correct = Mutation::Correct(Correct {
        target: NodeId(0),
        to_head: false,
        event: NewEvent::new(EventType::CORRECTION, "the sky is grey"),
        target_confidence: None,
        reason: Some("I looked".into()),
    });
    let corrected = store.execute(Request::new(correct)).unwrap();
    let check = |store: &Store| {
        let view = store.view();
        assert_eq!(view.nodes(), 4);
        assert_eq!(view.edges(), 2);
        assert_eq!(
            view.node(NodeId(0)).unwrap().text().unwrap(),
            "the sky is blue"
        );
        assert_eq!(view.node(NodeId(0)).unwrap().confidence(), 0.0);
        assert_eq!(
            view.node(NodeId(3)).unwrap().text().unwrap(),
            "the sky is grey"
        );
        assert!(
            view.find_edge(NodeId(3), NodeId(0), EdgeType::SUPERSEDES)
                .unwrap()
                .is_some()
        );
        let before = view.as_of(AsOf::Lsn(Lsn(corrected.lsn.0 - 1))).unwrap();
        assert_eq!(before.nodes(), 3);
        assert_eq!(before.node(NodeId(0)).unwrap().confidence(), 1.0);
        let before = view.as_of(AsOf::Time(answer.time)).unwrap();
        assert_eq!(before.nodes(), 2);
    };
    check(&store);
    store.checkpoint().unwrap();
    assert_eq!(store.journal_bytes(), 0);
    check(&store);
    store.execute(Request::new(ingest(&["more"]))).unwrap();
    let folder = store_folder(&store);
    store.close().unwrap();
    let mut again = Store::open(&folder, "b").unwrap();
    assert_eq!(again.view().nodes(), 5);
    again.execute(Request::new(ingest(&["and more"]))).unwrap();
    drop(again);
    let again = Store::open(&folder, "b").unwrap();
    assert_eq!(again.view().nodes(), 6);
}

fn store_folder(store: &Store) -> Folder {
    store.folder().clone()
}
