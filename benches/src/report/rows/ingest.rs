//! Durable ingest of one event with three edges and a vector: by one caller, and by 64 at once.
//!
//! The limit of one caller is a write and an fdatasync of as many bytes as the commit adds to the journal; of many, a
//! raw log that writes all waiting requests as one group. The peers commit each request by itself, as their users do:
//! fjall with as many threads as there are callers, SQLite and redb, which have one writer at a time, with eight.
//! Compared: every request is accepted, and the brain has as many events more.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use amem_format::event::Graph;
use amem_store::Request;

use super::super::corpus::Corpus;
use super::super::list;
use super::super::measure::{Contest, Outcome, each, same};
use super::super::peers::{Batch, Fjall, Redb};
use super::super::sqlite::Sqlite;
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::{group, new_event};
use crate::latency::peers::RawLog;

/// Commits of one caller in a turn.
const ONE: u64 = 100;
/// Requests of all callers in a turn.
const MANY: u64 = 64 * 40;
/// The same of a peer that commits each by itself.
const MANY_OF_PEERS: u64 = 64 * 5;
/// Threads of peers that have one writer at a time.
const FEW: u64 = 8;

/// Unused numbers of events.
pub(super) struct Numbers(Cell<u64>);

impl Numbers {
    pub(super) fn after(corpus: &Corpus) -> Self {
        Self(Cell::new(corpus.nodes))
    }

    /// Reserves `count` numbers; returns the first.
    pub(super) fn take(&self, count: u64) -> u64 {
        let first = self.0.get();
        self.0.set(first + count);
        first
    }
}

/// Requests of one event each.
pub(super) fn requests(corpus: &Corpus, first: u64, count: u64) -> Outcome<Vec<Request>> {
    let request = |number| Ok(Request::new(new_event(corpus, number, corpus.nodes)?));
    (first..first + count).map(request).collect()
}

/// The same for peers: batches of `size` events with their edges.
pub(super) fn batches(corpus: &Corpus, first: u64, count: u64, size: u64) -> Outcome<Vec<Batch>> {
    let batch = |first: u64| {
        let events: Result<Vec<_>, _> = (first..first + size)
            .map(|id| corpus.event_at(id))
            .collect();
        let edges = (first..first + size)
            .flat_map(|id| corpus.edges(id))
            .collect();
        Ok(Batch {
            events: events?,
            edges,
        })
    };
    (first..first + count * size)
        .step_by(size as usize)
        .map(batch)
        .collect()
}

/// One caller.
pub(super) fn one(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.written()?;
    let (corpus, numbers) = (held.corpus, Numbers::after(&held.corpus));
    let mut store = held.store.borrow_mut();
    let sqlite = Sqlite::create(&world.path().join("one.sqlite"))?;
    let redb = Redb::create(&world.path().join("one.redb"))?;
    let fjall = Fjall::create(&world.path().join("one.fjall"))?;
    let mut raw = RawLog::new(world.path())?;
    let bytes = Cell::new(0);
    let before = store.view().nodes();
    let batches = || batches(&corpus, numbers.take(ONE), ONE, 1);
    let medians = Contest::new()
        .turn("ours", || {
            let journal = store.journal_bytes();
            let time = each(requests(&corpus, numbers.take(ONE), ONE)?, |request| {
                Ok(store.execute(request).map(drop)?)
            })?;
            bytes.set((store.journal_bytes() - journal) / ONE);
            Ok(time)
        })
        .turn("raw", || {
            let (times, _) = raw.measure(bytes.get().max(800) as usize, ONE as usize)?;
            Ok(times.value_at_quantile(0.5) as f64 / 1e9)
        })
        .turn("SQLite", || {
            each(batches()?, |b| sqlite.insert(&b.events, &b.edges))
        })
        .turn("redb", || each(batches()?, |batch| redb.write(&batch)))
        .turn("fjall", || each(batches()?, |batch| fjall.write(&batch)))
        .run()?;
    same(
        list::INGEST_ONE,
        &(store.view().nodes() - before),
        &(8 * ONE),
    )?;
    let peers = ["SQLite", "redb", "fjall"].into_iter();
    findings.add(Measurement {
        row: list::INGEST_ONE,
        ours: medians.of("ours"),
        limit: medians.of("raw"),
        peers: peers
            .filter_map(|name| Some((name, medians.of(name)?)))
            .collect(),
        note: format!("{} bytes of journal an event", bytes.get()),
        ..Measurement::default()
    });
    Ok(())
}

/// 64 callers.
pub(super) fn many(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.written()?;
    let (corpus, numbers) = (held.corpus, Numbers::after(&held.corpus));
    let store = RefCell::new(held.store.borrow_mut());
    let paths = ["many.sqlite", "many.redb", "many.fjall"].map(|name| world.path().join(name));
    drop(Sqlite::create(&paths[0])?);
    let redb = Redb::create(&paths[1])?;
    let fjall = Fjall::create(&paths[2])?;
    let raw = Raw::new(&world.path().join("raw.many"))?;
    let of_peers = || batches(&corpus, numbers.take(MANY_OF_PEERS), MANY_OF_PEERS, 1);
    let frame = world.calibration.frame_bytes;
    let before = store.borrow().view().nodes();
    let medians = Contest::new()
        .turn("ours", || {
            let requests = requests(&corpus, numbers.take(MANY), MANY)?;
            let mut store = store.borrow_mut();
            let store = &mut **store;
            group::rate(requests, |group| {
                store.commit(&group).iter().map(Result::is_ok).collect()
            })
        })
        .turn("raw log", || {
            let frames = vec![vec![0x5a; frame]; MANY as usize];
            let mut at = 0;
            group::rate(frames, |group| {
                let bytes = group.concat();
                let is_done = raw.append(&mut at, &bytes).is_ok();
                vec![is_done; group.len()]
            })
        })
        .turn("SQLite", || {
            threads(of_peers()?, FEW, || {
                let sqlite = Sqlite::open(&paths[0])?;
                Ok(move |batch: &Batch| sqlite.insert(&batch.events, &batch.edges))
            })
        })
        .turn("redb", || {
            threads(of_peers()?, FEW, || Ok(|batch: &Batch| redb.write(batch)))
        })
        .turn("fjall", || {
            threads(of_peers()?, 64, || Ok(|batch: &Batch| fjall.write(batch)))
        })
        .run()?;
    same(
        list::INGEST_STORE,
        &(store.borrow().view().nodes() - before),
        &(8 * MANY),
    )?;
    let peers = ["SQLite", "redb", "fjall"].into_iter();
    findings.add(Measurement {
        row: list::INGEST_STORE,
        ours: medians.of("ours"),
        limit: medians.of("raw log"),
        peers: peers
            .filter_map(|name| Some((name, medians.of(name)?)))
            .collect(),
        note: "the limit is a raw log with as many callers in the same rounds".into(),
        ..Measurement::default()
    });
    Ok(())
}

/// Batches a second by threads, each of which has a writer of its own and commits batch by batch.
fn threads<W: Fn(&Batch) -> Outcome<()>>(
    batches: Vec<Batch>,
    threads: u64,
    writer: impl Fn() -> Outcome<W> + Sync,
) -> Outcome<f64> {
    let shares: Vec<_> = batches
        .chunks(batches.len().div_ceil(threads as usize))
        .collect();
    // The clock starts when all have opened their files.
    let ready = Barrier::new(shares.len() + 1);
    thread::scope(|scope| {
        let (writer, ready) = (&writer, &ready);
        let write = |share: &[Batch]| {
            let opened = writer().map_err(|e| e.to_string());
            ready.wait();
            let write = opened?;
            let mut batches = share.iter();
            batches.try_for_each(|batch| write(batch).map_err(|e| e.to_string()))
        };
        let running: Vec<_> = shares
            .iter()
            .map(|share| scope.spawn(move || write(share)))
            .collect();
        ready.wait();
        let began = Instant::now();
        for one in running {
            one.join().map_err(|_| "a peer's thread panicked")??;
        }
        Ok(batches.len() as f64 / began.elapsed().as_secs_f64())
    })
}

/// A preallocated file, to which groups are appended.
struct Raw(File);

impl Raw {
    const BYTES: u64 = 16 << 20;

    fn new(path: &Path) -> Outcome<Self> {
        let file = File::create(path)?;
        file.write_all_at(&vec![0; Self::BYTES as usize], 0)?;
        file.sync_all()?;
        Ok(Self(file))
    }

    fn append(&self, at: &mut u64, bytes: &[u8]) -> std::io::Result<()> {
        if *at + bytes.len() as u64 > Self::BYTES {
            *at = 0;
        }
        self.0.write_all_at(bytes, *at)?;
        *at += bytes.len() as u64;
        self.0.sync_data()
    }
}
