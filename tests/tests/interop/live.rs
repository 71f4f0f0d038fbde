//! What the reference implementation makes of the files that a store writes: it sees the base, whole, whatever
//! stands behind it; what is folded, it sees all of.

use std::collections::BTreeSet;
use std::sync::Arc;

use amem_format::base::section::tag;
use amem_format::event::{Edge, Graph, MemoryGraph};
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId};
use amem_interop::foreign;
use amem_interop::foreign::CompatOptions;
use amem_store::disk::Disk;
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create, import};
use amem_tests::disk::SimDisk;
use amem_tests::graphs::{assert_same, collect};
use amem_tests::random;

use crate::reference;

const FILE: &str = "b.amem";
/// Sections begin at multiples of 64, so a base can end at 64 places within a page.
const ALIGNMENTS: usize = 64;

fn folder(seed: u64) -> (Arc<SimDisk>, Folder) {
    let disk = Arc::new(SimDisk::new(seed));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
    (disk, folder)
}

/// What of a graph the reference can show: none of our flags, rates, times of happening and attributes.
fn as_the_reference_sees(graph: &dyn Graph) -> MemoryGraph {
    let mut out = collect(graph);
    for event in &mut out.events {
        let vector = event
            .vector
            .as_ref()
            .is_some_and(|v| v.iter().any(|&x| x != 0.0));
        event.flags = Flags::default().set(Flags::VECTOR, vector);
        event.vector = event.vector.take().filter(|_| vector);
        (event.event_time, event.lambda, event.attributes) = (None, 0.0, None);
    }
    out
}

fn some_events(n: u64) -> Mutation {
    let events: Vec<_> = (0..n)
        .map(|i| NewEvent::new(EventType::SKILL, format!("a new skill, {i}")))
        .collect();
    let links = vec![NewLink {
        source: End::New(0),
        target: End::Event(NodeId(0)),
        edge_type: EdgeType::RELATED_TO,
        weight: 0.25,
    }];
    Mutation::Ingest(Ingest {
        events,
        links,
        follow: true,
        relate: None,
        forget: Vec::new(),
    })
}

#[test]
fn a_live_file_is_its_base_to_the_reference_at_every_alignment_of_the_journal() {
    let mut alignments = BTreeSet::new();
    for step in 0..1_000u64 {
        if alignments.len() == ALIGNMENTS {
            break;
        }
        let (disk, folder) = folder(step);
        create(&folder, "b", &NewBrain::default()).unwrap();
        let mut store = Store::open(&folder, "b").unwrap();
        // Bytes that do not shrink, so that the base grows by as many.
        let text: String = (0..64 * (step % 80) + step + 1)
            .map(|i| char::from(33 + (i * i * 7 + i / 90) as u8 % 90))
            .collect();
        let first = Ingest {
            events: vec![NewEvent::new(EventType::FACT, text)],
            ..Ingest::default()
        };
        store
            .execute(Request::new(Mutation::Ingest(first)))
            .unwrap();
        store.execute(Request::new(some_events(3))).unwrap();
        store.checkpoint().unwrap();
        let base = as_the_reference_sees(&store.view());
        let bytes = disk.contents(FILE).unwrap();
        assert_same(
            &reference::read_sorted(&bytes),
            &base,
            "a file without frames",
        );
        store.execute(Request::new(some_events(2))).unwrap();
        let bytes = disk.contents(FILE).unwrap();
        assert_same(&reference::read_sorted(&bytes), &base, "a live file");
        let last = store.brain().base().table().find(tag::CHECKSUMS).unwrap();
        alignments.insert((last.offset + last.len) % 4096);
    }
    assert_eq!(alignments.len(), ALIGNMENTS, "{alignments:?}");
}

#[test]
fn a_checkpointed_file_and_its_compatible_export_are_whole_to_the_reference() {
    for seed in 0..40 {
        let (disk, folder) = folder(seed);
        let (graph, _) = foreign::to_dense(&random::graph(seed)).unwrap();
        let options = NewBrain {
            dimension: graph.dimension,
            space: uuid::Uuid::nil(),
            ..NewBrain::default()
        };
        import(&folder, "b", &options, &graph).unwrap();
        let mut store = Store::open(&folder, "b").unwrap();
        if store.view().nodes() > 0 {
            store.execute(Request::new(some_events(5))).unwrap();
        }
        store.checkpoint().unwrap();
        let all = as_the_reference_sees(&store.view());
        let bytes = disk.contents(FILE).unwrap();
        assert_same(
            &reference::read_sorted(&bytes),
            &all,
            &format!("folded, seed {seed}"),
        );
        let mut compatible = Vec::new();
        foreign::write_compatible(
            &store.view(),
            CompatOptions { map_unknown: false },
            &mut compatible,
        )
        .unwrap();
        assert_same(
            &reference::read_sorted(&compatible),
            &all,
            &format!("compatible, seed {seed}"),
        );
    }
}

#[test]
fn more_edges_than_sixteen_bits_count_are_whole_for_us() {
    const EDGES: u64 = 70_000;
    let (_disk, folder) = folder(7);
    create(
        &folder,
        "b",
        &NewBrain {
            dimension: 0,
            space: uuid::Uuid::nil(),
            ..NewBrain::default()
        },
    )
    .unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    let mut events = vec![NewEvent::new(EventType::FACT, "the hub")];
    events.extend((0..EDGES).map(|_| NewEvent::new(EventType::FACT, "a leaf")));
    let links = (0..EDGES)
        .map(|i| NewLink {
            source: End::New(0),
            target: End::New(1 + i as usize),
            edge_type: EdgeType::RELATED_TO,
            weight: 1.0,
        })
        .collect();
    store
        .execute(Request::new(Mutation::Ingest(Ingest {
            events,
            links,
            ..Ingest::default()
        })))
        .unwrap();
    let check = |store: &Store| {
        let edges = store.view().edges_at(0).unwrap();
        assert_eq!(edges.len() as u64, EDGES);
        assert!(
            edges
                .iter()
                .zip(1..)
                .all(|(e, target)| e.target == NodeId(target))
        );
    };
    check(&store);
    store.checkpoint().unwrap();
    check(&store);
    assert_eq!(
        store.brain().base().record(NodeId(0)).unwrap().edge_count as u64,
        EDGES
    );
}

#[test]
fn an_imported_edge_keeps_its_time() {
    let (_disk, folder) = folder(8);
    let mut graph = random::graph(3);
    graph.edges.truncate(1);
    let (dense, _) = foreign::to_dense(&graph).unwrap();
    let options = NewBrain {
        dimension: dense.dimension,
        space: uuid::Uuid::nil(),
        ..NewBrain::default()
    };
    import(&folder, "b", &options, &dense).unwrap();
    let store = Store::open(&folder, "b").unwrap();
    let times = |edges: &[Edge]| edges.iter().map(|e| e.created_at).collect::<Vec<Micros>>();
    assert_eq!(times(&collect(&store.view()).edges), times(&dense.edges));
}
