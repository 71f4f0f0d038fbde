//! How a brain behaves at a size: every step once, with its time.

use std::path::Path;
use std::time::Instant;

use amem_format::reader::Reader;
use amem_format::view::{AsOf, View};
use amem_format::{EventType, Lsn, NodeId};
use amem_query::{
    Get, Impact, ListConflicts, ListSessions, Order, Pattern, Resolve, Search, Selection,
    ShortestPath as Shortest, Similar, SimilarityTarget, TextSearch, Timeline, Traverse, Why,
    Window,
};
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create};

use crate::batch::batch;
use crate::data::{self, Question, Random};
use crate::empty;
use crate::memory::Peak;

/// Events in one request.
const BATCH: u64 = 1_000;
/// Bytes of journal after which the brain is checkpointed.
const JOURNAL_MAX: u64 = 1 << 30;

/// Makes a brain of `nodes` events below `folder` and measures.
pub(crate) fn run(nodes: u64, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir_in(folder)?;
    let (own, mut store) = empty::brain(dir.path())?;
    let mut random = Random::new(1);

    let memory = Peak::watch();
    let started = Instant::now();
    let mut writing = std::time::Duration::ZERO;
    while store.view().nodes() < nodes {
        let ingest = batch(
            &mut random,
            store.view().nodes(),
            BATCH.min(nodes - store.view().nodes()),
        );
        let at = Instant::now();
        store.execute(Request::new(Mutation::Ingest(ingest)))?;
        writing += at.elapsed();
        if store.journal_bytes() > JOURNAL_MAX {
            step("checkpoint on the way", || store.checkpoint())?;
        }
    }
    let rate = nodes as f64 / writing.as_secs_f64();
    println!(
        "ingest, durable, batches of {BATCH}: {rate:.0} events/s ({:.1} s with making the data)",
        started.elapsed().as_secs_f64()
    );
    println!(
        "  memory beyond the mapping, at most: {:.0} MiB",
        memory.take()
    );
    step("checkpoint of all", || store.checkpoint())?;
    println!(
        "  memory beyond the mapping, at most: {:.0} MiB",
        memory.take()
    );
    let path = dir.path().join("b.amem");
    let size = std::fs::metadata(&path)?.len();
    println!(
        "file: {size} bytes, {:.0} an event",
        size as f64 / nodes as f64
    );
    for place in &store.brain().base().table().places {
        println!(
            "  {:<22}{:>12} bytes",
            amem_format::base::section::name(place.tag),
            place.len
        );
    }
    let reader = step("open to first answer", || -> amem_format::Result<Reader> {
        let reader = Reader::open(&path)?;
        reader.view()?.node(NodeId(nodes / 2))?.text()?;
        Ok(reader)
    })?;
    let question = data::Question::of(&mut random);
    memory.take();
    ask("folded", &reader.view()?, &question)?;
    println!(
        "  memory beyond the mapping, at most: {:.0} MiB",
        memory.take()
    );
    drop(memory);
    step("one more event, durable", || {
        store.execute(Request::new(Mutation::Ingest(batch(&mut random, nodes, 1))))
    })?;
    store.execute(Request::new(Mutation::Ingest(batch(
        &mut random,
        nodes + 1,
        1_000,
    ))))?;
    ask("with a journal of 1,001 events", &store.view(), &question)?;
    let then = store
        .view()
        .as_of(AsOf::Lsn(Lsn(store.view().lsn().0 / 2)))?;
    ask("as of half the commits", &then, &question)?;
    store.close()?;
    equals(nodes, &own)
}

/// Searches a brain of short texts that all say one word once, so that all have the same score.
fn equals(nodes: u64, own: &Folder) -> Result<(), Box<dyn std::error::Error>> {
    let mut options = NewBrain::default();
    options.settings.embed = false;
    create(own, "equals", &options)?;
    let mut store = Store::open(own, "equals")?;
    while store.view().nodes() < nodes {
        let first = store.view().nodes();
        let events = (first..nodes.min(first + BATCH))
            .map(|id| NewEvent::new(EventType::FACT, format!("deploy {}", data::word(id))));
        let ingest = Ingest {
            events: events.collect(),
            ..Ingest::default()
        };
        store.execute(Request::new(Mutation::Ingest(ingest)))?;
    }
    store.checkpoint()?;
    println!("queries, {nodes} events that say one word:");
    let view = store.view();
    time("search, equal scores, 10", || {
        let query = Search {
            question: "deploy".into(),
            ..Search::default()
        };
        Ok(query.run(&view)?.hits.len())
    })?;
    store.close()?;
    Ok(())
}

/// Every query once to warm up, then the median of seven.
fn ask(name: &str, view: &View, question: &Question) -> Result<(), Box<dyn std::error::Error>> {
    println!("queries, {name}:");
    let start = NodeId(view.nodes() / 3);
    let facts = || Selection {
        types: vec![EventType::FACT],
        ..Selection::default()
    };
    let recent = Window {
        from: Some(view.node(NodeId(view.nodes() / 2))?.created_at()),
        until: None,
    };
    time("get with its edges", || {
        Get {
            event: start,
            ..Get::default()
        }
        .run(view)
        .map(|_| 1)
    })?;
    time("traverse depth 5, outgoing", || {
        Ok(Traverse {
            start,
            depth: 5,
            ..Traverse::default()
        }
        .run(view)?
        .steps
        .len())
    })?;
    time("why", || {
        Ok(Why {
            event: start,
            ..Why::default()
        }
        .run(view)?
        .steps
        .len())
    })?;
    time("impact", || {
        Ok(Impact {
            event: start,
            ..Impact::default()
        }
        .run(view)?
        .steps
        .len())
    })?;
    time("path", || {
        let query = Shortest {
            from: start,
            to: NodeId(view.nodes() / 2),
            depth: 8,
            ..Shortest::default()
        };
        Ok(query.run(view)?.steps.len())
    })?;
    time("pattern: type and time, newest 50", || {
        let selection = Selection {
            recorded: recent,
            ..facts()
        };
        Ok(Pattern {
            selection,
            limit: 50,
            ..Pattern::default()
        }
        .run(view)?
        .ids
        .len())
    })?;
    time("pattern: strongest 50", || {
        Ok(Pattern {
            order: Order::Strongest,
            limit: 50,
            ..Pattern::default()
        }
        .run(view)?
        .ids
        .len())
    })?;
    time("pattern: keyword", || {
        let selection = Selection {
            keyword: Some(question.rare.clone()),
            ..Selection::default()
        };
        Ok(Pattern {
            selection,
            limit: 50,
            ..Pattern::default()
        }
        .run(view)?
        .ids
        .len())
    })?;
    time("timeline, 50", || {
        Ok(Timeline {
            limit: 50,
            ..Timeline::default()
        }
        .run(view)?
        .moments
        .len())
    })?;
    time("similar, exact, 10", || {
        Ok(Similar {
            like: SimilarityTarget::Vector(question.vector.clone()),
            ..Similar::default()
        }
        .run(view)?
        .hits
        .len())
    })?;
    time("similar, approximate, 10", || {
        Ok(Similar {
            like: SimilarityTarget::Vector(question.vector.clone()),
            approximate: true,
            ..Similar::default()
        }
        .run(view)?
        .hits
        .len())
    })?;
    time("text, 3 words, 10", || {
        Ok(TextSearch {
            question: question.text.clone(),
            ..TextSearch::default()
        }
        .run(view)?
        .hits
        .len())
    })?;
    time("search, 10", || {
        let query = Search {
            question: question.text.clone(),
            vector: question.vector.clone(),
            ..Search::default()
        };
        Ok(query.run(view)?.hits.len())
    })?;
    time("resolve", || {
        Ok(Resolve {
            event: start,
            ..Resolve::default()
        }
        .run(view)?
        .chain
        .len())
    })?;
    time("conflicts", || {
        Ok(ListConflicts {
            limit: 50,
            ..ListConflicts::default()
        }
        .run(view)?
        .conflicts
        .len())
    })?;
    time("sessions", || {
        Ok(ListSessions::default().run(view)?.sessions.len())
    })?;
    Ok(())
}

fn time(
    name: &str,
    mut run: impl FnMut() -> amem_format::Result<usize>,
) -> amem_format::Result<()> {
    let results = run()?;
    let mut times = Vec::with_capacity(7);
    for _ in 0..7 {
        let started = Instant::now();
        run()?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    println!(
        "  {name:<36}{:>12.1} µs  {results:>6} results",
        times[3].as_secs_f64() * 1e6
    );
    Ok(())
}

fn step<T, E>(name: &str, run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let started = Instant::now();
    let out = run()?;
    println!("{name}: {:.3} ms", started.elapsed().as_secs_f64() * 1e3);
    Ok(out)
}
