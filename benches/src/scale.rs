//! How a brain behaves at a size: every step once, with its time.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use amem_core::reader::Reader;
use amem_core::{EdgeType, EventType, NodeId};
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};
use amem_store::{Create, Folder, Mutation, Request, Store, create};

use crate::data::{self, Random};

/// Events in one request.
const BATCH: u64 = 1_000;
/// Bytes of journal after which the brain is folded.
const JOURNAL_MAX: u64 = 1 << 30;

/// Makes a brain of `nodes` events below `folder` and measures.
pub(crate) fn run(nodes: u64, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir_in(folder)?;
    let disk = Arc::new(OsDisk::new(dir.path())?);
    let own = Folder::open(disk, "a measurement")?;
    let mut options = Create {
        space: uuid::Uuid::from_u128(1),
        ..Create::default()
    };
    options.settings.embed = false;
    create(&own, "b", &options)?;
    let mut store = Store::open(&own, "b")?;
    let mut random = Random::new(1);

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
    step("checkpoint of all", || store.checkpoint())?;
    let path = dir.path().join("b.amem");
    let size = std::fs::metadata(&path)?.len();
    println!(
        "file: {size} bytes, {:.0} an event",
        size as f64 / nodes as f64
    );
    for place in &store.brain().base().table().places {
        println!(
            "  {:<22}{:>12} bytes",
            amem_core::base::section::name(place.tag),
            place.len
        );
    }
    let reader = step("open to first answer", || -> amem_core::Result<Reader> {
        let reader = Reader::open(&path)?;
        reader.view()?.node(NodeId(nodes / 2))?.text()?;
        Ok(reader)
    })?;
    let _ = reader;
    step("one more event, durable", || {
        store.execute(Request::new(Mutation::Ingest(batch(&mut random, nodes, 1))))
    })?;
    store.close()?;
    Ok(())
}

fn step<T, E>(name: &str, run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let started = Instant::now();
    let out = run()?;
    println!("{name}: {:.3} ms", started.elapsed().as_secs_f64() * 1e3);
    Ok(out)
}

fn batch(random: &mut Random, first: u64, count: u64) -> Ingest {
    let events = (0..count)
        .map(|_| NewEvent {
            confidence: random.unit(),
            vector: Some(data::vector(random)),
            ..NewEvent::new(EventType(random.below(6) as u8), data::text(random))
        })
        .collect();
    let mut links = Vec::new();
    for i in 0..count {
        for _ in 0..3 {
            let target = random.below(first + count);
            if target == first + i {
                continue;
            }
            links.push(NewLink {
                source: End::New(i as usize),
                target: if target < first {
                    End::Event(NodeId(target))
                } else {
                    End::New((target - first) as usize)
                },
                // Not supersedes: its targets would lose their confidence.
                edge_type: [0, 1, 2, 4, 5, 6].map(EdgeType)[random.below(6) as usize],
                weight: random.unit(),
            });
        }
    }
    Ingest {
        events,
        links,
        ..Ingest::default()
    }
}
