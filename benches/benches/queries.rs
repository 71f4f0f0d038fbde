//! How long does each query take on a brain of 20,000 events after a checkpoint?
//!
//! `cargo bench -p amem-benches --bench queries`
//!
//! Shows the effect of a change; `report` has the goals of queries, beside peers.

#![forbid(unsafe_code)]

#[path = "../src/batch.rs"]
mod batch;
mod brain;
#[path = "../src/data.rs"]
#[expect(dead_code, reason = "not everything is asked here")]
mod data;
#[path = "../src/empty.rs"]
mod empty;

use std::hint::black_box;

use amem_format::view::View;
use amem_format::{EventType, NodeId};
use amem_query::{
    Follow, Get, Order, Pattern, Resolve, Search, Selection, Similar, SimilarityTarget, TextSearch,
    Traverse, Why,
};
use brain::Brain;
use criterion::{Criterion, criterion_group, criterion_main};
use data::Question;

fn queries(criterion: &mut Criterion) {
    let mut brain = Brain::new().expect("a brain can be made here");
    let question = Question::of(&mut brain.random);
    let view = brain.store.view();
    let start = NodeId(view.nodes() / 3);
    let mut query = |name: &str, run: &dyn Fn(&View) -> amem_format::Result<usize>| {
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| black_box(run(&view)).expect("the query is right"));
        });
    };
    query("get", &|view| {
        let get = Get {
            event: start,
            ..Get::default()
        };
        get.run(view).map(|_| 1)
    });
    for (name, follow) in [
        ("traverse depth 5, outgoing", Follow::Outgoing),
        ("traverse depth 5, both", Follow::Both),
    ] {
        let traverse = Traverse {
            start,
            depth: 5,
            follow,
            ..Traverse::default()
        };
        query(name, &|view| Ok(traverse.run(view)?.steps.len()));
    }
    let why = Why {
        event: start,
        ..Why::default()
    };
    query("why", &|view| Ok(why.run(view)?.steps.len()));
    for (name, order) in [
        ("pattern: newest 50 facts", Order::default()),
        ("pattern: strongest 50 facts", Order::Strongest),
    ] {
        let pattern = Pattern {
            selection: Selection {
                types: vec![EventType::FACT],
                ..Selection::default()
            },
            order,
            limit: 50,
            ..Pattern::default()
        };
        query(name, &|view| Ok(pattern.run(view)?.ids.len()));
    }
    for (name, approximate) in [("similar, exact", false), ("similar, approximate", true)] {
        let similar = Similar {
            like: SimilarityTarget::Vector(question.vector.clone()),
            approximate,
            ..Similar::default()
        };
        query(name, &|view| Ok(similar.run(view)?.hits.len()));
    }
    let text = TextSearch {
        question: question.text.clone(),
        ..TextSearch::default()
    };
    query("text, 3 words", &|view| Ok(text.run(view)?.hits.len()));
    let search = Search {
        question: question.text.clone(),
        vector: question.vector.clone(),
        ..Search::default()
    };
    query("search", &|view| Ok(search.run(view)?.hits.len()));
    let resolve = Resolve {
        event: start,
        ..Resolve::default()
    };
    query("resolve", &|view| Ok(resolve.run(view)?.chain.len()));
}

criterion_group!(benches, queries);
criterion_main!(benches);
