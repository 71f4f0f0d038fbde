//! What a brain's file keeps of each operation for good, however often a checkpoint is made.

use std::fs;

use amem_format::base::section::tag;
use amem_format::{EdgeType, NodeId};
use amem_store::mutation::NewEdge;
use amem_store::{Mutation, NewBrain, Request, Store};
use serde_json::Map;

use crate::{fact, ingest};

/// Operations of each kind: the bytes are in proportion to them.
const OPERATIONS: u64 = 1_000;
/// Operations with one sync.
const GROUP: usize = 250;
/// Events that are there before.
const EVENTS: u64 = 10;

/// Kinds of operations with the bytes that each keeps for good.
const KINDS: [(&str, u64); 8] = [
    ("a use of an event", 16),
    ("a decay run", 16),
    ("a change of a flag (pin, forget) or of the confidence", 88),
    ("a change of attributes of 24 bytes", 112),
    ("a new weight of an edge", 96),
    (
        "a commit by an agent that was never there, with a name of 24 bytes",
        65,
    ),
    ("a session with a key of 24 bytes, opened and closed", 128),
    ("an event that is added and erased", 210),
];

/// The bytes of a base that stay: without what is stored of the newest commits and requests, which is bounded.
fn lasting_bytes(store: &Store) -> u64 {
    let brain = store.brain();
    let base = brain.base();
    let table = base.table();
    let bounded = [tag::COMMITS, tag::REQUESTS];
    let sections = table.places.iter();
    let lasting = sections.filter(|place| !bounded.contains(&place.tag));
    let tables = 72 * base.header().nodes + 32 * base.header().edges;
    lasting.map(|place| place.len).sum::<u64>() + tables
}

/// The operation with this number of a kind.
fn requests(kind: usize, n: u64) -> Vec<Request> {
    let event = NodeId(n % EVENTS);
    let mutations = match kind {
        0 => vec![Mutation::Touch(vec![(event, 1)])],
        1 => vec![Mutation::Decay],
        2 if n % (2 * EVENTS) < EVENTS => vec![Mutation::Pin(event)],
        2 => vec![Mutation::Unpin(event)],
        3 => {
            let text = format!("{n:015}");
            let attributes = Map::from_iter([("k".to_owned(), text.into())]);
            vec![Mutation::SetAttributes {
                target: event,
                attributes: Some(attributes.into_iter().collect()),
            }]
        }
        4 => vec![Mutation::Link(NewEdge {
            source: NodeId(0),
            target: NodeId(1),
            edge_type: EdgeType::RELATED_TO,
            weight: (n % 100) as f32 / 100.0,
        })],
        5 => {
            let touch = Request::new(Mutation::Touch(vec![(event, 1)]));
            return vec![touch.by("uid:1", &format!("agent-{n:018}"))];
        }
        6 => vec![Mutation::OpenSession {
            key: format!("session-{n:016}"),
        }],
        _ => vec![ingest(vec![fact("what is erased")])],
    };
    mutations.into_iter().map(Request::new).collect()
}

/// What follows the operations of a kind, so that each is whole.
fn rest(store: &mut Store, kind: usize, answers: &[amem_store::Answer]) {
    let close = |answer: &amem_store::Answer| {
        let session = answer.session.unwrap();
        Request::new(Mutation::CloseSession {
            session,
            outcome: String::new(),
        })
    };
    let requests: Vec<_> = match kind {
        6 => answers.iter().map(close).collect(),
        7 => {
            let erase = |answer: &amem_store::Answer| Mutation::Erase(answer.ids.clone());
            answers.iter().map(erase).map(Request::new).collect()
        }
        _ => return,
    };
    for answer in store.commit(&requests) {
        answer.unwrap();
    }
}

/// The bytes that an operation of a kind keeps.
fn kept(kind: usize) -> u64 {
    let disk = std::sync::Arc::new(amem_tests::disk::SimDisk::new(kind as u64));
    let folder = amem_store::Folder::open(disk, "a test").unwrap();
    let mut options = NewBrain {
        dimension: 0,
        space: uuid::Uuid::nil(),
        ..NewBrain::default()
    };
    options.settings.embed = false;
    amem_store::create(&folder, "b", &options).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    let events = (0..EVENTS).map(|_| fact("an event of before")).collect();
    store.execute(Request::new(ingest(events))).unwrap();
    // What the first of each makes is there before.
    for request in requests(kind, OPERATIONS) {
        store.execute(request).unwrap();
    }
    store.checkpoint().unwrap();
    let before = lasting_bytes(&store);
    let all: Vec<_> = (0..OPERATIONS).flat_map(|n| requests(kind, n)).collect();
    for group in all.chunks(GROUP) {
        let answers: Vec<_> = store
            .commit(group)
            .into_iter()
            .map(Result::unwrap)
            .collect();
        rest(&mut store, kind, &answers);
    }
    store.checkpoint().unwrap();
    let once = lasting_bytes(&store);
    store.checkpoint().unwrap();
    assert_eq!(lasting_bytes(&store), once, "checkpoints take nothing");
    (once - before + OPERATIONS / 2) / OPERATIONS
}

#[test]
fn each_operation_keeps_its_documented_bytes_for_good() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/RELIABILITY.md");
    let text = fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    for (kind, (name, bytes)) in KINDS.iter().enumerate() {
        let found = kept(kind);
        let megabytes = *bytes as f64 * 100_000.0 / 1e6;
        let row = format!("| {name} | {bytes} | {megabytes:.1} |");
        println!("{row} measured {found}");
        if found != *bytes {
            wrong.push(format!("{name}: {found} bytes, not {bytes}"));
        }
        if !text.contains(&row) {
            wrong.push(format!("docs/RELIABILITY.md lacks: {row}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
