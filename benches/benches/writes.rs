//! How long do durable changes take on a brain of 20,000 events? `cargo bench -p amem-benches --bench writes`
//!
//! Most of each is the medium's time: `report` compares it with a bare sync.

#![forbid(unsafe_code)]

#[path = "../src/batch.rs"]
mod batch;
mod brain;
#[path = "../src/data.rs"]
#[expect(dead_code, reason = "questions are asked elsewhere")]
mod data;
#[path = "../src/empty.rs"]
mod empty;

use std::time::Duration;

use amem_format::{EventType, NodeId};
use amem_store::mutation::{Correct, NewEvent};
use amem_store::{Mutation, Request};
use batch::batch;
use brain::Brain;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn writes(criterion: &mut Criterion) {
    let mut brain = Brain::new().expect("a brain can be made here");
    let (store, random) = (&mut brain.store, &mut brain.random);
    criterion.bench_function("200 events more, and a checkpoint", |bencher| {
        bencher.iter(|| {
            let ingest = batch(random, store.view().nodes(), 200);
            let written = store.execute(Request::new(Mutation::Ingest(ingest)));
            written.expect("the request is right");
            store.checkpoint().expect("there is room");
        });
    });
    for (name, requests, events) in [
        ("one event", 1, 1),
        ("a group of 64 single events", 64, 1),
        ("a batch of 1,000 events", 1, 1_000),
    ] {
        criterion.bench_function(name, |bencher| {
            let nodes = store.view().nodes();
            let make = || -> Vec<_> {
                let one = |_| Request::new(Mutation::Ingest(batch(random, nodes, events)));
                (0..requests).map(one).collect()
            };
            let commit = |group: Vec<Request>| {
                for answer in store.commit(&group) {
                    answer.expect("the request is right");
                }
            };
            bencher.iter_batched(make, commit, BatchSize::PerIteration);
        });
    }
    let mut target = 0;
    criterion.bench_function("correct", |bencher| {
        let make = || {
            target += 1;
            Request::new(Mutation::Correct(Correct {
                target: NodeId(target),
                to_head: true,
                event: NewEvent::new(EventType::CORRECTION, "it is otherwise"),
                target_confidence: None,
                reason: None,
            }))
        };
        let correct = |request| store.execute(request).expect("the request is right");
        bencher.iter_batched(make, correct, BatchSize::PerIteration);
    });
}

criterion_group! {
    name = benches;
    // The journal only grows, without checkpoints: a second of each is enough.
    config = Criterion::default().measurement_time(Duration::from_secs(1));
    targets = writes
}
criterion_main!(benches);
