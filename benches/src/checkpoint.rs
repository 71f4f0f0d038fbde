//! Checkpoints at a size: the first one, then after changes of one in a hundred, beside a bare write and sync of
//! as many bytes; and commits while one is built, beside a bare fdatasync loop.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amem_format::NodeId;
use amem_store::limits::LAST_ROUND_BYTES_MAX;
use amem_store::mutation::Mutation;
use amem_store::{Checkpoint, Request, Store};

use crate::batch::batch;
use crate::data::Random;
use crate::empty;

/// Events in one request.
const BATCH: u64 = 1_000;
/// Bytes of one write and sync of the bare loop.
const BARE_BYTES: usize = 512;

/// Makes a brain of `nodes` events below `folder` and checkpoints it repeatedly.
pub(crate) fn run(
    nodes: u64,
    rounds: u32,
    folder: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir_in(folder)?;
    let (_, mut store) = empty::brain(dir.path())?;
    let mut random = Random::new(1);
    ingest(&mut store, &mut random, nodes)?;
    let mut goals = Vec::new();
    goals.push(fold("first", &mut store, dir.path())?);
    for _ in 0..rounds {
        change(&mut store, &mut random, nodes)?;
        goals.push(fold("1 % changed", &mut store, dir.path())?);
    }
    let mut ratios = goals.split_off(1);
    ratios.sort_by(f64::total_cmp);
    println!(
        "median of the time over the goal: {:.2} after 1 % (first: {:.2})",
        ratios[ratios.len() / 2],
        goals[0]
    );
    for round in 0..rounds {
        change(&mut store, &mut random, nodes)?;
        store = stalls(store, &mut random, dir.path(), round)?;
    }
    store.close()?;
    Ok(())
}

fn ingest(
    store: &mut Store,
    random: &mut Random,
    count: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let end = store.view().nodes() + count;
    while store.view().nodes() < end {
        let first = store.view().nodes();
        let events = batch(random, first, BATCH.min(end - first));
        store.execute(Request::new(Mutation::Ingest(events)))?;
    }
    Ok(())
}

/// One event in a hundred is new, half as many are touched, a few are pinned.
fn change(
    store: &mut Store,
    random: &mut Random,
    nodes: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    ingest(store, random, nodes / 100)?;
    let touched = (0..nodes / 200)
        .map(|_| (NodeId(random.below(nodes)), 1))
        .collect();
    store.execute(Request::new(Mutation::Touch(touched)))?;
    for _ in 0..nodes / 10_000 {
        let pinned = NodeId(random.below(nodes));
        store.execute(Request::new(Mutation::Pin(pinned)))?;
    }
    Ok(())
}

/// One checkpoint, and a bare write and sync of as many bytes. Returns its time over the goal's.
fn fold(name: &str, store: &mut Store, dir: &Path) -> Result<f64, Box<dyn std::error::Error>> {
    let started = Instant::now();
    let mut checkpoint = Checkpoint::begin(store)?;
    checkpoint.build()?;
    let built = started.elapsed();
    let retired = store.install(checkpoint)?;
    let all = started.elapsed();
    drop(retired);
    let base = store.brain().base();
    let bytes = base.journal().unwrap_or_default();
    let bare = write_bare(dir, bytes)?;
    let nodes = base.nodes();
    let goal = 2.0 * bare.as_secs_f64() + 0.5e-6 * nodes as f64;
    let ratio = all.as_secs_f64() / goal;
    println!(
        "{name}: {:.1} ms (built {:.1}); {bytes} bytes bare {:.1} ms; goal {:.1} ms, {ratio:.2} of it",
        ms(all),
        ms(built),
        ms(bare),
        goal * 1e3
    );
    if name == "first" {
        println!("bytes an event: {:.1}", bytes as f64 / nodes as f64);
        for place in &base.table().places {
            let each = place.len as f64 / nodes as f64;
            println!(
                "  {:<16}{each:>8.2}",
                amem_format::base::section::name(place.tag)
            );
        }
        let h = base.header();
        let each = (h.vectors - h.content) as f64 / nodes as f64;
        println!("  {:<16}{each:>8.2}", "texts");
    }
    Ok(ratio)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn write_bare(dir: &Path, bytes: u64) -> std::io::Result<Duration> {
    let block = vec![0x5au8; 1 << 20];
    let path = dir.join("bare");
    let started = Instant::now();
    let file = std::fs::File::create(&path)?;
    let mut at = 0;
    while at < bytes {
        let part = &block[..block.len().min((bytes - at) as usize)];
        file.write_all_at(part, at)?;
        at += part.len() as u64;
    }
    file.sync_data()?;
    let time = started.elapsed();
    std::fs::remove_file(&path)?;
    Ok(time)
}

/// Commits one event after the other while a checkpoint is built and put in place, beside a bare loop.
fn stalls(
    mut store: Store,
    random: &mut Random,
    dir: &Path,
    round: u32,
) -> Result<Store, Box<dyn std::error::Error>> {
    let stop = AtomicBool::new(false);
    let path = dir.join(format!("loop {round}"));
    let file = std::fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(&path)?;
    file.write_all_at(&vec![0; 32 << 20], 0)?;
    file.sync_all()?;
    let mut checkpoint = Checkpoint::begin(&store)?;
    let brain = store.brain().clone();
    let mut commits = Vec::new();
    let mut install = Duration::ZERO;
    let bare = std::thread::scope(
        |scope| -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
            let bare = scope.spawn(|| loop_bare(&file, &stop));
            let builder = scope.spawn(move || -> amem_store::Result<Checkpoint> {
                checkpoint.build()?;
                for _ in 0..16 {
                    if checkpoint.carry(&brain)? <= LAST_ROUND_BYTES_MAX {
                        break;
                    }
                }
                Ok(checkpoint)
            });
            while !builder.is_finished() {
                commits.push(commit(&mut store, random)?);
            }
            let built = builder.join().map_err(|_| "the builder panicked")??;
            // What the writer that comes in this moment waits for.
            let started = Instant::now();
            let retired = store.install(built)?;
            install = started.elapsed();
            let retired = scope.spawn(move || drop(retired));
            commit(&mut store, random)?;
            commits.push(started.elapsed());
            while !retired.is_finished() {
                commits.push(commit(&mut store, random)?);
            }
            stop.store(true, Ordering::Relaxed);
            Ok(bare.join().map_err(|_| "the bare loop panicked")??)
        },
    )?;
    std::fs::remove_file(&path)?;
    let (ours, raw) = (percentiles(commits), percentiles(bare));
    println!(
        "writers: {ours}; bare loop: {raw}; install {:.2} ms",
        ms(install)
    );
    Ok(store)
}

fn commit(store: &mut Store, random: &mut Random) -> Result<Duration, amem_store::Error> {
    let events = batch(random, store.view().nodes(), 1);
    let started = Instant::now();
    store.execute(Request::new(Mutation::Ingest(events)))?;
    Ok(started.elapsed())
}

fn loop_bare(file: &std::fs::File, stop: &AtomicBool) -> std::io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    let block = [1u8; BARE_BYTES];
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        file.write_all_at(&block, at)?;
        file.sync_data()?;
        times.push(started.elapsed());
        at = (at + BARE_BYTES as u64) % (32 << 20);
    }
    Ok(times)
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        let last = times.len().saturating_sub(1);
        times
            .get(((times.len() as f64 * share) as usize).min(last))
            .map_or(0.0, |t| ms(*t))
    };
    format!(
        "{} p50 {:.2} p99 {:.2} p99.9 {:.2} max {:.2} ms",
        times.len(),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    )
}
