//! `latency`: how long calls over the daemon's Unix socket take, beside what no daemon can go below.
//!
//! In one run, in turn: a bare echo of tonic with messages of the same size, `GetEvents` of one event, `Ingest` of one
//! event, and an fdatasync of as many bytes as an ingest adds to the journal; with one caller and with 64 calls in
//! flight on one connection. Daemon and echo are processes of their own.

pub(crate) mod echo;
pub(crate) mod peers;
mod table;

use std::error::Error;
use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use hdrhistogram::Histogram;
use prost::Message;
use tonic::Status;

use crate::data::Random;
use peers::{Peers, RawLog};
use table::Row;

/// Calls in flight where there are many.
const MANY: usize = 64;
/// Events of the brain that is asked.
const EVENTS: u64 = 10_000;
const BRAIN: &str = "latency";

/// What is measured, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Echo,
    Get,
    Ingest,
    Fdatasync,
}

/// Each row: what is called, and how many calls are in flight.
const ROWS: [(What, usize); 7] = [
    (What::Echo, 1),
    (What::Get, 1),
    (What::Ingest, 1),
    (What::Fdatasync, 1),
    (What::Echo, MANY),
    (What::Get, MANY),
    (What::Ingest, MANY),
];

/// Measures, and prints a table.
pub(crate) fn run(rounds: u32, calls: usize, folder: &Path) -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir_in(folder)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let peers = Peers::start(dir.path())?;
    let mut bench = runtime.block_on(Bench::new(&peers, dir.path()))?;
    let mut rows: Vec<Row> = ROWS.iter().map(|_| Row::default()).collect();
    // The first round warms up. Each begins with another row, so that none has always the same one before it.
    for round in 0..=rounds as usize {
        for at in 0..ROWS.len() {
            let at = (at + round) % ROWS.len();
            let (what, in_flight) = ROWS[at];
            let calls = if in_flight == 1 { calls } else { 10 * calls };
            let measured = runtime.block_on(bench.measure(what, in_flight, calls))?;
            if round > 0 {
                rows[at].add(measured)?;
            }
        }
    }
    println!(
        "{rounds} rounds in turn, {EVENTS} events at first, an answer of {} bytes, {} bytes of journal an ingest",
        bench.answer.encoded_len(),
        bench.frame_bytes
    );
    table::print(&ROWS.map(|(what, n)| (what.name(), n)), &rows);
    Ok(())
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Echo => "tonic echo",
            Self::Get => "GetEvents, one event",
            Self::Ingest => "Ingest, one event, durable",
            Self::Fdatasync => "fdatasync of an ingest's bytes",
        }
    }
}

/// What the calls need.
struct Bench {
    daemon: Client,
    echo: Client,
    answer: v1::GetEventsResponse,
    frame_bytes: usize,
    raw: RawLog,
    random: Random,
}

impl Bench {
    /// Makes the brain, and sees how large its messages are.
    async fn new(peers: &Peers, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let daemon = Client::connect_unix(&peers.daemon_socket).await?;
        let echo = Client::connect_unix(&peers.echo_socket).await?;
        let create = v1::CreateBrainRequest {
            brain: BRAIN.into(),
            vectors: Some(v1::VectorOptions::default()),
            ..Default::default()
        };
        daemon.brains().create_brain(create).await?;
        for first in (0..EVENTS).step_by(1000) {
            let mut request = ingest(first);
            request.events = (first..first + 1000).map(event).collect();
            daemon.memory().ingest(request).await?;
        }
        let checkpoint = v1::CheckpointBrainRequest {
            brain: BRAIN.into(),
        };
        daemon.brains().checkpoint_brain(checkpoint).await?;
        let before = journal_bytes(&daemon).await?;
        let probes = 100;
        for n in 0..probes {
            daemon.memory().ingest(ingest(n)).await?;
        }
        let frame_bytes = ((journal_bytes(&daemon).await? - before) / probes) as usize;
        let answer = daemon.queries().get_events(get(0)).await?.into_inner();
        Ok(Self {
            daemon,
            echo,
            answer,
            frame_bytes,
            raw: RawLog::new(folder)?,
            random: Random::new(1),
        })
    }

    async fn measure(
        &mut self,
        what: What,
        in_flight: usize,
        calls: usize,
    ) -> Result<(Histogram<u64>, Duration), Box<dyn Error>> {
        let first = self.random.below(EVENTS);
        match what {
            What::Fdatasync => self.raw.measure(self.frame_bytes, calls),
            What::Echo => {
                let (channel, message) = (self.echo.channel(), self.answer.clone());
                measure(in_flight, calls, move |_| {
                    let (channel, message) = (channel.clone(), message.clone());
                    async move { echo::call(channel, message).await.map(drop) }
                })
                .await
            }
            What::Get => {
                let client = self.daemon.clone();
                measure(in_flight, calls, move |n| {
                    // 7919 is prime to the number of events: each is asked for, in no order.
                    let (client, id) = (client.clone(), (first + 7919 * n) % EVENTS);
                    async move { client.queries().get_events(get(id)).await.map(drop) }
                })
                .await
            }
            What::Ingest => {
                let client = self.daemon.clone();
                measure(in_flight, calls, move |n| {
                    let client = client.clone();
                    async move { client.memory().ingest(ingest(n)).await.map(drop) }
                })
                .await
            }
        }
    }
}

/// Calls with a fixed number in flight, each timed; and the time of all.
pub(crate) async fn measure<F>(
    in_flight: usize,
    calls: usize,
    call: impl Fn(u64) -> F + Clone + Send + Sync + 'static,
) -> Result<(Histogram<u64>, Duration), Box<dyn Error>>
where
    F: Future<Output = Result<(), Status>> + Send,
{
    let began = Instant::now();
    let callers: Vec<_> = (0..in_flight)
        .map(|caller| {
            let call = call.clone();
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(calls / in_flight + 1);
                for n in (caller..calls).step_by(in_flight) {
                    let at = Instant::now();
                    call(n as u64).await?;
                    times.push(at.elapsed());
                }
                Ok::<_, Status>(times)
            })
        })
        .collect();
    let mut all = table::histogram()?;
    for caller in callers {
        for time in caller.await?? {
            all.record(time.as_nanos() as u64)?;
        }
    }
    Ok((all, began.elapsed()))
}

fn event(n: u64) -> v1::NewEvent {
    let subject = ["deploys", "reviews", "releases", "incidents"][n as usize % 4];
    v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: format!("note {n}: what the team agreed about {subject} in this week's meeting"),
        ..Default::default()
    }
}

fn ingest(n: u64) -> v1::IngestRequest {
    v1::IngestRequest {
        brain: BRAIN.into(),
        events: vec![event(n)],
        ..Default::default()
    }
}

fn get(id: u64) -> v1::GetEventsRequest {
    v1::GetEventsRequest {
        brain: BRAIN.into(),
        event_ids: vec![id],
        ..Default::default()
    }
}

async fn journal_bytes(client: &Client) -> Result<u64, Box<dyn Error>> {
    let status = client.admin().get_status(v1::GetStatusRequest {}).await?;
    let brains = status.into_inner().brains;
    let brain = brains.first().ok_or("the daemon has no open brain")?;
    Ok(brain.journal_bytes)
}
