//! `stalls`: compares the latency of writes while a job runs with that while none does.
//!
//! One caller writes single events over the daemon's socket, one after the other, all the time. Meanwhile each job runs
//! in turn, with a pause before and after it; a write counts for a job that ran at any moment of it. Each job first
//! gets work: expired events, idle sessions, an ended session.
//!
//! Measured before: how long a writer works at each portion of a job (`portions`).

mod portions;

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_locks::LockResultExt;
use amem_store::{Mutation, Request, Store};
use tokio::task::JoinSet;

use crate::batch::batch;
use crate::data::{self, Random};
use crate::empty;
use crate::latency::peers::Peers;

const BRAIN: &str = "b";
/// Events in one request.
const BATCH: u64 = 1_000;
/// Bytes of journal after which the brain is checkpointed while it is filled.
const JOURNAL_MAX: u64 = 1 << 30;
/// Sessions that are opened at the same time.
const IN_FLIGHT: u64 = 64;
/// The pause before and after a job.
const STRETCH: Duration = Duration::from_millis(1_500);
/// The age at which a job handles an idle or ended session.
const REST: Duration = Duration::from_millis(1_100);
const SETTINGS: &str = r#"{"embed":false,"jobs":{"decay":"off","expire":"off","close_sessions":"off","compress":"off",
    "scrub":"off","session_idle":"1s","compress_after":"1s"}}"#;

/// A job and its label.
const JOBS: [(v1::JobKind, &str); 6] = [
    (v1::JobKind::Decay, "decay"),
    (v1::JobKind::Expiry, "expiry"),
    (v1::JobKind::CloseSessions, "close sessions"),
    (v1::JobKind::Compression, "compression"),
    (v1::JobKind::Scrub, "scrub"),
    (v1::JobKind::Checkpoint, "checkpoint"),
];

/// A write: when it began, and how long it took.
type Writes = Arc<Mutex<Vec<(Instant, Duration)>>>;

/// The figures of a job.
#[derive(Default)]
struct Row {
    took: Vec<Duration>,
    with: Vec<Duration>,
    without: Vec<Duration>,
    did: String,
}

/// Makes a brain of `nodes` events below `folder`, and measures; `much` is the work of each job.
pub(crate) fn run(nodes: u64, much: u64, rounds: u32, folder: &Path) -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir_in(folder)?;
    let brains = dir.path().join("brains");
    std::fs::create_dir_all(&brains)?;
    let (held, mut store) = empty::brain(&brains)?;
    fill(&mut store, nodes)?;
    portions::run(&mut store, much)?;
    store.checkpoint()?;
    store.close()?;
    drop(held);
    let peers = Peers::start(dir.path())?;
    let runtime = tokio::runtime::Runtime::new()?;
    let rows = runtime.block_on(measure(&peers, much, rounds))?;
    println!(
        "{nodes} events, {much} to do for each job, {rounds} rounds; writes of one caller, ms"
    );
    println!(
        "{:<16}{:>9} {:<10}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "job", "took", "", "writes", "p50", "p99", "p99.9", "max"
    );
    for ((_, name), row) in JOBS.iter().zip(rows) {
        print(name, row);
    }
    Ok(())
}

fn fill(store: &mut Store, nodes: u64) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(1);
    while store.view().nodes() < nodes {
        let first = store.view().nodes();
        let events = batch(&mut random, first, BATCH.min(nodes - first));
        store.execute(Request::new(Mutation::Ingest(events)))?;
        if store.journal_bytes() > JOURNAL_MAX {
            store.checkpoint()?;
        }
    }
    store.checkpoint()?;
    Ok(())
}

async fn measure(peers: &Peers, much: u64, rounds: u32) -> Result<Vec<Row>, Box<dyn Error>> {
    let client = Client::connect_unix(&peers.daemon_socket).await?;
    let settings = v1::SetSettingsRequest {
        brain: BRAIN.into(),
        settings_json: SETTINGS.into(),
        ..Default::default()
    };
    client.memory().set_settings(settings).await?;
    let mut rows: Vec<Row> = JOBS.iter().map(|_| Row::default()).collect();
    for round in 0..rounds {
        for ((kind, _), row) in JOBS.iter().zip(&mut rows) {
            prepare(&client, *kind, much, round).await?;
            observe(&client, &peers.daemon_socket, *kind, row).await?;
        }
    }
    Ok(rows)
}

/// One job among writes.
async fn observe(
    client: &Client,
    socket: &Path,
    kind: v1::JobKind,
    row: &mut Row,
) -> Result<(), Box<dyn Error>> {
    let (writes, stop) = (Writes::default(), Arc::new(AtomicBool::new(false)));
    let writer = tokio::spawn(write(
        Client::connect_unix(socket).await?,
        writes.clone(),
        stop.clone(),
    ));
    tokio::time::sleep(STRETCH).await;
    let began = Instant::now();
    row.did = match kind {
        v1::JobKind::Checkpoint => {
            let request = v1::CheckpointBrainRequest {
                brain: BRAIN.into(),
            };
            let made = client.brains().checkpoint_brain(request).await?;
            format!("generation {}", made.into_inner().generation)
        }
        _ => {
            let request = v1::RunJobRequest {
                brain: BRAIN.into(),
                kind: kind.into(),
            };
            client.admin().run_job(request).await?.into_inner().message
        }
    };
    let ended = Instant::now();
    tokio::time::sleep(STRETCH).await;
    stop.store(true, Ordering::Relaxed);
    writer.await??;
    row.took.push(ended - began);
    for &(at, took) in writes.lock().unpoisoned().iter() {
        if at < ended && at + took > began {
            row.with.push(took)
        } else {
            row.without.push(took)
        }
    }
    Ok(())
}

async fn write(client: Client, writes: Writes, stop: Arc<AtomicBool>) -> Result<(), tonic::Status> {
    let mut random = Random::new(2);
    while !stop.load(Ordering::Relaxed) {
        let request = ingest(vec![event(&mut random, None, "")]);
        let began = Instant::now();
        client.memory().ingest(request).await?;
        let took = began.elapsed();
        let mut writes = writes.lock().unpoisoned();
        writes.push((began, took));
    }
    Ok(())
}

/// Creates work for a job.
async fn prepare(
    client: &Client,
    kind: v1::JobKind,
    much: u64,
    round: u32,
) -> Result<(), Box<dyn Error>> {
    match kind {
        v1::JobKind::Expiry => {
            let past = r#"{"expires_at":"2020-01-01T00:00:00Z"}"#;
            events(client, much, None, past).await?;
        }
        v1::JobKind::CloseSessions => {
            let mut opening = JoinSet::new();
            for first in 0..IN_FLIGHT {
                let client = client.clone();
                opening.spawn(async move {
                    for at in (first..much).step_by(IN_FLIGHT as usize) {
                        open(&client, format!("idle {round} {at}")).await?;
                    }
                    Ok::<_, tonic::Status>(())
                });
            }
            while let Some(opened) = opening.join_next().await {
                opened??;
            }
            tokio::time::sleep(REST).await;
        }
        v1::JobKind::Compression => {
            let session_id = open(client, format!("long {round}")).await?;
            events(client, much, Some(session_id), "").await?;
            let close = v1::CloseSessionRequest {
                brain: BRAIN.into(),
                session_id,
                ..Default::default()
            };
            client.memory().close_session(close).await?;
            tokio::time::sleep(REST).await;
        }
        _ => {}
    }
    Ok(())
}

async fn open(client: &Client, key: String) -> Result<u32, tonic::Status> {
    let request = v1::OpenSessionRequest {
        brain: BRAIN.into(),
        key,
        ..Default::default()
    };
    let opened = client.memory().open_session(request).await?;
    Ok(opened.into_inner().session_id)
}

async fn events(
    client: &Client,
    count: u64,
    session_id: Option<u32>,
    attributes: &str,
) -> Result<(), tonic::Status> {
    let mut random = Random::new(3);
    for first in (0..count).step_by(BATCH as usize) {
        let events = (first..count.min(first + BATCH))
            .map(|_| event(&mut random, session_id, attributes))
            .collect();
        client.memory().ingest(ingest(events)).await?;
    }
    Ok(())
}

fn event(random: &mut Random, session_id: Option<u32>, attributes: &str) -> v1::NewEvent {
    v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: data::text(random),
        session_id,
        attributes_json: attributes.into(),
        ..Default::default()
    }
}

fn ingest(events: Vec<v1::NewEvent>) -> v1::IngestRequest {
    v1::IngestRequest {
        brain: BRAIN.into(),
        events,
        ..Default::default()
    }
}

fn print(name: &str, row: Row) {
    let longest = row.took.iter().max().copied().unwrap_or_default();
    let took = format!("{:.0} ms", ms(longest));
    for (told, took, which, mut times) in [
        (name, took.as_str(), "without", row.without),
        ("", "", "with", row.with),
    ] {
        times.sort_unstable();
        let at = |share: f64| {
            let last = times.len().saturating_sub(1);
            let at = (times.len() as f64 * share) as usize;
            times.get(at.min(last)).map_or(0.0, |time| ms(*time))
        };
        println!(
            "{told:<16}{took:>9} {which:<10}{:>8}{:>8.2}{:>8.2}{:>8.2}{:>8.2}",
            times.len(),
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0)
        );
    }
    println!("                 {}", row.did);
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
