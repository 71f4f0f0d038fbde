//! Bulk ingest: batches of 1,000 events with their edges and vectors, each batch durable.
//!
//! The limit is a file to which as many bytes are written in order and synced batch by batch. Compared: the brain has
//! as many events more.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use amem_store::{Mutation, Request};

use super::super::list;
use super::super::measure::{Contest, Outcome, same, slack};
use super::super::peers::{Batch, Fjall, Redb};
use super::super::sqlite::Sqlite;
use super::super::table::{Findings, Measurement, duration};
use super::super::world::World;
use super::ingest::{Numbers, batches};
use super::new_event::batch;

/// Events of a batch.
pub(super) const BATCH: u64 = 1_000;
/// Batches of a turn.
const BATCHES: u64 = 8;

/// The row.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.written()?;
    let (corpus, numbers) = (held.corpus, Numbers::after(&held.corpus));
    let mut store = held.store.borrow_mut();
    let sqlite = Sqlite::create(&world.path().join("bulk.sqlite"))?;
    let redb = Redb::create(&world.path().join("bulk.redb"))?;
    let fjall = Fjall::create(&world.path().join("bulk.fjall"))?;
    let of_peers = || batches(&corpus, numbers.take(BATCH * BATCHES), BATCHES, BATCH);
    let (before, frame) = (store.view().nodes(), world.calibration.frame_bytes);
    let path = world.path().join("bulk.raw");
    let medians = Contest::new()
        .turn("ours", || {
            let first = numbers.take(BATCH * BATCHES);
            let batch = |n| batch(&corpus, first + n * BATCH, BATCH, corpus.nodes);
            let requests: Vec<_> = (0..BATCHES)
                .map(|n| Request::new(Mutation::Ingest(batch(n))))
                .collect();
            rate(requests, |request| Ok(store.execute(request).map(drop)?))
        })
        .turn("raw", || {
            let mut file = File::create(&path)?;
            let bytes = vec![0x5a; frame * BATCH as usize];
            rate(vec![(); BATCHES as usize], |()| {
                file.write_all(&bytes)?;
                Ok(file.sync_data()?)
            })
        })
        .turn("SQLite", || {
            rate(of_peers()?, |batch: Batch| {
                sqlite.insert(&batch.events, &batch.edges)
            })
        })
        .turn("redb", || rate(of_peers()?, |batch| redb.write(&batch)))
        .turn("fjall", || rate(of_peers()?, |batch| fjall.write(&batch)))
        .run()?;
    same(
        list::BULK_STORE,
        &(store.view().nodes() - before),
        &(8 * BATCH * BATCHES),
    )?;
    let peers = ["SQLite", "redb", "fjall"].into_iter();
    let raw = medians.of("raw").unwrap_or(f64::INFINITY);
    // What a raw batch takes beside moving its bytes is a sync.
    let sync = BATCH as f64 * (1.0 / raw - frame as f64 / world.calibration.sequential);
    findings.add(Measurement {
        row: list::BULK_STORE,
        ours: medians.of("ours"),
        limit: medians.of("raw"),
        peers: peers
            .filter_map(|name| Some((name, medians.of(name)?)))
            .collect(),
        slack: slack(sync) / BATCH as f64,
        note: format!("the goal allows for a sync of {}", duration(sync)),
        ..Measurement::default()
    });
    Ok(())
}

/// Events a second, in batches.
fn rate<T>(batches: Vec<T>, mut write: impl FnMut(T) -> Outcome<()>) -> Outcome<f64> {
    let events = batches.len() as u64 * BATCH;
    let began = Instant::now();
    batches.into_iter().try_for_each(&mut write)?;
    Ok(events as f64 / began.elapsed().as_secs_f64())
}
