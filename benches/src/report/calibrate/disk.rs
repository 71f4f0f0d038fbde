//! The disk: a sync of a commit's bytes, and a file's worth of bytes in order.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use amem_store::create;
use amem_store::{Request, Store};

use super::super::corpus::{Corpus, Vectors};
use super::super::measure::{Outcome, median};
use super::super::rows::new_event;
use super::super::world::{open_folder, options};
use crate::latency::peers::RawLog;

/// Bytes that one event with three edges and a vector adds to a journal.
pub(super) fn frame_bytes(folder: &Path) -> Outcome<usize> {
    let brains = open_folder(&folder.join("probe"))?;
    create(&brains, "probe", &options())?;
    let mut store = Store::open(&brains, "probe")?;
    let nodes = 100;
    let corpus = Corpus {
        nodes,
        vectors: Vectors::Clustered,
    };
    let probes = 50;
    let mut before = 0;
    for id in 0..nodes {
        if id == nodes - probes {
            before = store.journal_bytes();
        }
        store.execute(Request::new(new_event(&corpus, id, id)?))?;
    }
    let bytes = (store.journal_bytes() - before) / probes;
    store.close()?;
    Ok(bytes as usize)
}

/// The median time of a synced write of `bytes` bytes, in seconds.
pub(super) fn fdatasync(folder: &Path, bytes: usize) -> Outcome<f64> {
    let mut log = RawLog::new(folder)?;
    log.measure(bytes, 50)?;
    let (times, _) = log.measure(bytes, 1_000)?;
    Ok(times.value_at_quantile(0.5) as f64 / 1e9)
}

/// Bytes per second of a new file, written in order and synced.
pub(super) fn sequential(folder: &Path, bytes: u64) -> Outcome<f64> {
    let part = vec![0x5a; 1 << 20];
    let parts = (bytes >> 20).clamp(16, 1 << 10);
    let path = folder.join("sequential");
    let mut rates = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let mut file = File::create(&path)?;
        for _ in 0..parts {
            file.write_all(&part)?;
        }
        file.sync_all()?;
        rates.push((parts << 20) as f64 / began.elapsed().as_secs_f64());
        std::fs::remove_file(&path)?;
    }
    Ok(median(rates))
}
