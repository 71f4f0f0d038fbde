//! A checkpoint with one new event in a hundred, and the stall of writers beside one.
//!
//! The limit is twice a write and sync of as many bytes as the new file has, and half a microsecond an event. The
//! reference writes its file once, unsynced. While a checkpoint is built beside it, a writer commits and syncs a raw
//! file of its own in turn; what it waits for a commit more than for a raw sync, at the 99.9th percentile, is the
//! stall. Compared: the new base has every event.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use amem_store::limits::LAST_ROUND_BYTES_MAX;
use amem_store::{Checkpoint, Mutation, Request, Store};
use hdrhistogram::Histogram;

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::ingest::{Numbers, requests};
use super::new_event::batch;
use crate::latency::peers::RawLog;

/// One event in this many is new.
const SHARE: u64 = 100;
/// Seconds an event may cost beside its bytes.
const AN_EVENT: f64 = 0.5e-6;
/// Checkpoints beside a writer.
const BESIDE: u64 = 20;

/// The checkpoint.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.fresh("checkpointed")?;
    let (corpus, numbers) = (held.corpus, Numbers::after(&held.corpus));
    let mut store = held.store.borrow_mut();
    let mut nodes = store.view().nodes();
    let raw = world.path().join("raw.checkpoint");
    let medians = Contest::new()
        .turn("ours", || {
            let count = corpus.nodes / SHARE;
            let ingest = batch(&corpus, numbers.take(count), count, corpus.nodes);
            store.execute(Request::new(Mutation::Ingest(ingest)))?;
            let began = Instant::now();
            store.checkpoint()?;
            let took = began.elapsed().as_secs_f64();
            nodes += count;
            same(
                list::CHECKPOINT,
                &store.view().brain().base().nodes(),
                &nodes,
            )?;
            Ok(took)
        })
        .turn("raw", || {
            let bytes = std::fs::metadata(&held.path)?.len();
            let part = vec![0x5a; 1 << 20];
            let began = Instant::now();
            let mut file = File::create(&raw)?;
            for _ in 0..bytes.div_ceil(1 << 20) {
                file.write_all(&part)?;
            }
            file.sync_all()?;
            let took = began.elapsed().as_secs_f64();
            std::fs::remove_file(&raw)?;
            Ok(took)
        })
        .run()?;
    let written = medians.of("raw").unwrap_or_default();
    findings.add(Measurement {
        row: list::CHECKPOINT,
        ours: medians.of("ours"),
        reference: world.file_writing()?,
        limit: Some(2.0 * written + AN_EVENT * nodes as f64),
        note: format!(
            "a write and sync of the same bytes: {written:.3} s; the reference once, unsynced"
        ),
        ..Measurement::default()
    });
    Ok(())
}

/// The stall of writers.
pub(super) fn stall(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.fresh("stalled")?;
    let numbers = Numbers::after(&held.corpus);
    let mut store = held.store.borrow_mut();
    let mut raw = RawLog::new(world.path())?;
    let mut commits: Histogram<u64> = Histogram::new(3)?;
    let mut syncs: Histogram<u64> = Histogram::new(3)?;
    for _ in 0..BESIDE {
        let ready = requests(&held.corpus, numbers.take(20_000), 20_000)?;
        let mut ready = ready.into_iter();
        let mut checkpoint = Checkpoint::begin(&store)?;
        let brain = store.brain().clone();
        let built = thread::spawn(move || build(&mut checkpoint, &brain).map(|()| checkpoint));
        while !built.is_finished() {
            commit(&mut store, ready.next(), &mut commits)?;
            let (one, _) = raw.measure(world.calibration.frame_bytes, 1)?;
            syncs.add(one)?;
        }
        let checkpoint = built
            .join()
            .map_err(|_| "building a checkpoint panicked")??;
        // A commit while the new file is put in place waits for that as well.
        let began = Instant::now();
        let retired = store.install(checkpoint)?;
        // As in the daemon: no commit waits for the release of the old generation.
        let gone = thread::spawn(move || drop(retired));
        store.execute(
            ready
                .next()
                .ok_or("a checkpoint took longer than there were commits")?,
        )?;
        commits.record(began.elapsed().as_nanos() as u64)?;
        gone.join()
            .map_err(|_| "letting go of a generation panicked")?;
    }
    let seconds = |times: &Histogram<u64>| times.value_at_quantile(0.999) as f64 / 1e9;
    findings.add(Measurement {
        row: list::CHECKPOINT_STALL,
        ours: Some((seconds(&commits) - seconds(&syncs)).max(0.0)),
        limit: Some(seconds(&syncs)),
        note: format!(
            "{} commits: p50 {} µs, p99.9 {} µs, slowest {} µs; the limit column is the raw loop's p99.9",
            commits.len(),
            commits.value_at_quantile(0.5) / 1_000,
            commits.value_at_quantile(0.999) / 1_000,
            commits.max() / 1_000
        ),
        ..Measurement::default()
    });
    Ok(())
}

fn commit(store: &mut Store, request: Option<Request>, times: &mut Histogram<u64>) -> Outcome<()> {
    let request = request.ok_or("a checkpoint took longer than there were commits")?;
    let began = Instant::now();
    store.execute(request)?;
    Ok(times.record(began.elapsed().as_nanos() as u64)?)
}

/// As in the daemon: the base, then newer commits in rounds.
fn build(
    checkpoint: &mut Checkpoint,
    brain: &Arc<amem_format::brain::Brain>,
) -> amem_store::Result<()> {
    checkpoint.build()?;
    for _ in 0..16 {
        if checkpoint.carry(brain)? <= LAST_ROUND_BYTES_MAX {
            break;
        }
    }
    Ok(())
}
