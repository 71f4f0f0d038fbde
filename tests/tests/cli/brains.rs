//! Brains to ask: made by a store, on a disk whose clock and chance are always the same.

use std::sync::Arc;

use amem_format::event::Attributes;
use amem_format::{EdgeType, EventType, Micros, NodeId};
use amem_store::disk::Disk;
use amem_store::mutation::{Correct, End, Ingest, NewEvent, NewLink};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create};
use amem_tests::disk::SimDisk;
use uuid::Uuid;

/// A brain of six events with a correction, a forgotten event, a named session, attributes, and a journal
/// that goes on behind a checkpoint.
pub(crate) fn story() -> Vec<u8> {
    let disk = Arc::new(SimDisk::new(1));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    fill(&mut store);
    drop(store);
    disk.contents("b.amem").unwrap()
}

/// The events of the example.
pub(crate) fn fill(store: &mut Store) {
    let mut ask = |mutation: Mutation| {
        let request = Request::new(mutation).by("token:ci", "ada");
        store.execute(request).unwrap()
    };
    let key = "conv/1".to_owned();
    let session = ask(Mutation::OpenSession { key }).session;
    let event = |event_type, text: &str| NewEvent {
        session,
        ..NewEvent::new(event_type, text)
    };
    let speaker = Attributes::from_iter([("speaker".to_owned(), "Ada".into())]);
    let events = vec![
        NewEvent {
            attributes: Some(speaker),
            event_time: Some(Micros(1_600_000_000_000_000)),
            ..event(EventType::FACT, "The build server has 8 cores")
        },
        event(EventType::FACT, "Tests take 40 minutes"),
        NewEvent {
            confidence: 0.8,
            ..event(EventType::DECISION, "Split the tests over two machines")
        },
        event(EventType::FACT, "The password is hunter2"),
    ];
    let link = |source, target, edge_type| NewLink {
        source: End::New(source),
        target: End::New(target),
        edge_type,
        weight: 0.5,
    };
    ask(Mutation::Ingest(Ingest {
        events,
        links: vec![
            link(2, 1, EdgeType::CAUSED_BY),
            link(2, 0, EdgeType::SUPPORTS),
        ],
        ..Ingest::default()
    }));
    ask(Mutation::Forget(NodeId(3)));
    ask(Mutation::Correct(Correct {
        target: NodeId(1),
        to_head: false,
        event: event(EventType::CORRECTION, "Tests take 15 minutes"),
        target_confidence: Some(0.25),
        reason: Some("measured".to_owned()),
    }));
    store.checkpoint().unwrap();
    let mut ask = |mutation: Mutation| {
        let request = Request::new(mutation).by("token:ci", "ada");
        store.execute(request).unwrap()
    };
    ask(Mutation::Correct(Correct {
        target: NodeId(4),
        to_head: true,
        event: event(EventType::CORRECTION, "Tests take 5 minutes"),
        target_confidence: None,
        reason: None,
    }));
    ask(Mutation::Pin(NodeId(2)));
}

/// A store of the story on a real disk; its file is `b.amem` in the folder.
pub(crate) fn live(folder: &std::path::Path) -> Store {
    let disk = Arc::new(amem_store::disk::os::OsDisk::new(folder).unwrap());
    let folder = Folder::open(disk, "a test").unwrap();
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    fill(&mut store);
    store
}

/// A brain without vectors, of some events in its journal.
pub(crate) fn plain(texts: &[&str]) -> Vec<u8> {
    let disk = Arc::new(SimDisk::new(2));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
    let mut options = NewBrain {
        dimension: 0,
        space: Uuid::nil(),
        ..NewBrain::default()
    };
    options.settings.embed = false;
    create(&folder, "b", &options).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    let event = |text: &&str| NewEvent::new(EventType::FACT, *text);
    let events = texts.iter().map(event).collect();
    let ingest = Ingest {
        events,
        ..Ingest::default()
    };
    store
        .execute(Request::new(Mutation::Ingest(ingest)))
        .unwrap();
    drop(store);
    disk.contents("b.amem").unwrap()
}
