//! A commit costs in proportion to itself: not to the delta, not to a hub's degree.

use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_format::{EdgeType, NodeId};
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{End, Ingest, NewLink};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create};

use crate::fact;

/// Events in the delta, and edges of the hub, when the second measure is taken.
const MANY: u64 = 200_000;

fn link(source: usize, target: NodeId) -> NewLink {
    NewLink {
        source: End::New(source),
        target: End::Event(target),
        edge_type: EdgeType::RELATED_TO,
        weight: 1.0,
    }
}

/// The median of commits of one event each, tied to event 0.
fn commit_cost(store: &mut Store) -> Duration {
    let mut times: Vec<Duration> = (0..101)
        .map(|_| {
            let links = vec![link(0, NodeId(0))];
            let ingest = Ingest {
                events: vec![fact("a leaf")],
                links,
                follow: true,
                relate: None,
                forget: Vec::new(),
            };
            let started = Instant::now();
            store
                .execute(Request::new(Mutation::Ingest(ingest)))
                .unwrap();
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[50]
}

#[test]
fn a_commit_costs_no_more_on_a_large_delta_and_a_hub() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = Folder::open(Arc::new(OsDisk::new(dir.path()).unwrap()), "a test").unwrap();
    let mut options = NewBrain {
        dimension: 0,
        space: uuid::Uuid::nil(),
        ..NewBrain::default()
    };
    options.settings.embed = false;
    create(&folder, "b", &options).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    store
        .execute(Request::new(crate::ingest(vec![fact("the hub")])))
        .unwrap();
    let small = commit_cost(&mut store);
    for _ in 0..MANY / 2_000 {
        let events = (0..2_000).map(|_| fact("a leaf")).collect();
        let links = (0..2_000).map(|i| link(i, NodeId(0))).collect();
        let ingest = Ingest {
            events,
            links,
            follow: true,
            relate: None,
            forget: Vec::new(),
        };
        store
            .execute(Request::new(Mutation::Ingest(ingest)))
            .unwrap();
    }
    let large = commit_cost(&mut store);
    println!("a commit: {small:?} on an empty delta, {large:?} on one of {MANY} events at a hub");
    // A clone, a scan or a search along the hub would cost a hundred times as much. The rest is the disk's.
    assert!(
        large < 5 * small + Duration::from_millis(2),
        "{small:?} became {large:?}"
    );
}
