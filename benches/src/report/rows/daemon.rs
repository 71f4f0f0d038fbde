//! The daemon, as a process of its own, over its Unix socket: one event, ingest by 64 callers and in bulk, its memory.
//!
//! The limit of a call is an echo of tonic in the same rounds, with messages as large as the answer, or as the request
//! where that is the larger one. Compared: texts with the data, and how many events there are after an ingest.
//! Memory beyond the mapping is the system's anonymous and shared memory, after reads and a search and before writes.

use std::sync::Arc;
use std::time::Instant;

use amem_client::{Client, v1};
use amem_store::import;
use prost::Message;
use tokio::runtime::Runtime;

use super::super::corpus::{Corpus, Vectors};
use super::super::list;
use super::super::measure::{Contest, Outcome, same, slack};
use super::super::table::{Findings, Measurement, duration};
use super::super::world::{World, open_folder, options};
use super::bulk::BATCH;
use super::ingest::Numbers;
use super::messages;
use super::new_event::batch;
use crate::latency::peers::{Peers, RawLog};
use crate::latency::{self, echo};
use crate::memory;

const BRAIN: &str = "served";
const MANY: usize = 64;
/// Calls of a turn: of one caller, and of many.
const CALLS: (usize, usize) = (1_000, 20_000);
/// Calls of a turn beside another caller.
const BESIDE_CALLS: usize = 4_000;
/// Ingests of a turn.
const INGESTS: usize = 64 * 40;
/// Batches of a turn.
const BATCHES: u64 = 16;

/// The clients of the calls.
struct CallSetup {
    runtime: Runtime,
    peers: Peers,
    client: Client,
    echo: Client,
    corpus: Corpus,
    numbers: Numbers,
}

/// All rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let corpus = world.corpus(Vectors::Clustered);
    let folder = world.path().join("daemon");
    // The daemon's folder has one owner at a time.
    import(
        &open_folder(&folder.join("brains"))?,
        BRAIN,
        &options(),
        &corpus,
    )?;
    let peers = Peers::start(&folder)?;
    let runtime = Runtime::new()?;
    let client = runtime.block_on(Client::connect_unix(&peers.daemon_socket))?;
    let echo = runtime.block_on(Client::connect_unix(&peers.echo_socket))?;
    let served = CallSetup {
        runtime,
        peers,
        client,
        echo,
        numbers: Numbers::after(&corpus),
        corpus,
    };
    served.get(findings)?;
    served.beside_similar(findings)?;
    served.memory(findings)?;
    served.ingest(findings)?;
    served.bulk(RawLog::new(world.path())?, findings)
}

impl CallSetup {
    fn get(&self, findings: &mut Findings) -> Outcome<()> {
        let nodes = self.corpus.nodes;
        let ask = |id| {
            let client = self.client.clone();
            self.runtime
                .block_on(async move { client.queries().get_events(get(id)).await })
        };
        let mut answer = v1::GetEventsResponse::default();
        for id in (0..nodes).step_by((nodes / 10) as usize) {
            answer = ask(id)?.into_inner();
            let texts: Vec<_> = answer
                .events
                .iter()
                .map(|event| event.text.clone())
                .collect();
            same("GetEvents", &texts, &vec![self.corpus.text(id)])?;
        }
        let client = self.client.clone();
        // 7919 is prime to the number of events: each is asked for, in no order.
        let call = move |n: u64| {
            let (client, id) = (client.clone(), 7_919 * n % nodes);
            async move { client.queries().get_events(get(id)).await.map(drop) }
        };
        let echo = self.echo_of(answer);
        let medians = Contest::new()
            .turn("echo", || Ok(self.calls(1, CALLS.0, echo.clone())?.0))
            .turn("get", || Ok(self.calls(1, CALLS.0, call.clone())?.0))
            .turn("echoes", || Ok(self.calls(MANY, CALLS.1, echo.clone())?.1))
            .turn("gets", || Ok(self.calls(MANY, CALLS.1, call.clone())?.1))
            .run()?;
        for (row, ours, limit) in [
            (list::GET_ONE, "get", "echo"),
            (list::GET_MANY, "gets", "echoes"),
        ] {
            findings.add(Measurement {
                row,
                ours: medians.of(ours),
                limit: medians.of(limit),
                ..Measurement::default()
            });
        }
        Ok(())
    }

    /// The slowest calls of one caller while another one continuously compares all vectors.
    fn beside_similar(&self, findings: &mut Findings) -> Outcome<()> {
        let nodes = self.corpus.nodes;
        let client = self.client.clone();
        let call = move |n: u64| {
            let (client, id) = (client.clone(), 7_919 * n % nodes);
            async move { client.queries().get_events(get(id)).await.map(drop) }
        };
        let p99 = |call| -> Outcome<f64> {
            let calls = latency::measure(1, BESIDE_CALLS, call);
            let (times, _) = self.runtime.block_on(calls)?;
            Ok(times.value_at_quantile(0.99) as f64 / 1e9)
        };
        let medians = Contest::new()
            .turn("alone", || p99(call.clone()))
            .turn("beside", || {
                let heavy = self.runtime.spawn(compare(self.client.clone(), nodes));
                let measured = p99(call.clone());
                heavy.abort();
                match self.runtime.block_on(heavy) {
                    Ok(ended) => Err(format!("similar ended: {ended:?}").into()),
                    Err(_) => measured,
                }
            })
            .run()?;
        findings.add(Measurement {
            row: list::GET_BESIDE,
            ours: medians.of("beside"),
            limit: medians.of("alone"),
            note: "the limit is the p99 without another caller, in the same rounds".into(),
            ..Measurement::default()
        });
        Ok(())
    }

    fn memory(&self, findings: &mut Findings) -> Outcome<()> {
        let search = v1::SearchRequest {
            brain: BRAIN.into(),
            text: self.corpus.text(7),
            ..Default::default()
        };
        self.runtime
            .block_on(self.client.queries().search(search))?;
        let id = self.peers.daemon_id().ok_or("the daemon has no process")?;
        let (own, mapped) = memory::of(id)?;
        findings.add(Measurement {
            row: list::MEMORY,
            ours: Some(own),
            note: format!("{mapped:.0} MiB of files mapped"),
            ..Measurement::default()
        });
        Ok(())
    }

    fn ingest(&self, findings: &mut Findings) -> Outcome<()> {
        let requests = || -> Arc<[v1::IngestRequest]> {
            let first = self.numbers.take(INGESTS as u64);
            let request =
                |number| messages::ingest(BRAIN, batch(&self.corpus, number, 1, self.corpus.nodes));
            (first..first + INGESTS as u64).map(request).collect()
        };
        let bytes = requests().first().map_or(0, Message::encoded_len);
        let event = v1::Event {
            text: "x".repeat(bytes),
            ..Default::default()
        };
        let echo = self.echo_of(v1::GetEventsResponse {
            events: vec![event],
            ..Default::default()
        });
        let before = self.nodes()?;
        let medians = Contest::new()
            .turn("ours", || {
                let (client, requests) = (self.client.clone(), requests());
                let call = move |n: u64| {
                    let (client, request) = (client.clone(), requests[n as usize].clone());
                    async move { client.memory().ingest(request).await.map(drop) }
                };
                Ok(self.calls(MANY, INGESTS, call)?.1)
            })
            .turn("echo", || Ok(self.calls(MANY, INGESTS, echo.clone())?.1))
            .run()?;
        same(
            list::INGEST_GRPC,
            &(self.nodes()? - before),
            &(8 * INGESTS as u64),
        )?;
        findings.add(Measurement {
            row: list::INGEST_GRPC,
            ours: medians.of("ours"),
            limit: medians.of("echo"),
            note: format!("the limit is an echo of {bytes} bytes, as many as a request has"),
            ..Measurement::default()
        });
        Ok(())
    }

    fn bulk(&self, mut raw: RawLog, findings: &mut Findings) -> Outcome<()> {
        let before = self.nodes()?;
        let medians = Contest::new()
            .turn("ours", || {
                let first = self.numbers.take(BATCH * BATCHES);
                let batch = |n| batch(&self.corpus, first + n * BATCH, BATCH, self.corpus.nodes);
                let batches: Vec<_> = (0..BATCHES)
                    .map(|n| messages::ingest(BRAIN, batch(n)))
                    .collect();
                self.runtime.block_on(async {
                    let brain = self.client.brain(BRAIN).await?;
                    let mut refused = None;
                    let began = Instant::now();
                    brain
                        .ingest_all(batches, |_, outcome| {
                            refused = outcome.err().or(refused.take())
                        })
                        .await?;
                    let took = began.elapsed().as_secs_f64();
                    match refused {
                        Some(refusal) => Err(refusal.to_string().into()),
                        None => Ok((BATCH * BATCHES) as f64 / took),
                    }
                })
            })
            .turn("raw", || {
                let (times, _) = raw.measure(BATCH as usize, 20)?;
                Ok(times.value_at_quantile(0.5) as f64 / 1e9)
            })
            .run()?;
        let sync = medians.of("raw").unwrap_or_default();
        same(
            list::BULK_GRPC,
            &(self.nodes()? - before),
            &(8 * BATCH * BATCHES),
        )?;
        findings.add(Measurement {
            row: list::BULK_GRPC,
            ours: medians.of("ours"),
            slack: slack(sync) / BATCH as f64,
            note: format!("the goal allows for a sync of {}", duration(sync)),
            ..Measurement::default()
        });
        Ok(())
    }

    /// The median of a call in seconds, and calls a second.
    fn calls<F>(
        &self,
        in_flight: usize,
        calls: usize,
        call: impl Fn(u64) -> F + Clone + Send + Sync + 'static,
    ) -> Outcome<(f64, f64)>
    where
        F: Future<Output = Result<(), tonic::Status>> + Send,
    {
        let (times, took) = self
            .runtime
            .block_on(latency::measure(in_flight, calls, call))?;
        let median = times.value_at_quantile(0.5) as f64 / 1e9;
        Ok((median, calls as f64 / took.as_secs_f64()))
    }

    /// A call of the echo.
    fn echo_of(
        &self,
        message: v1::GetEventsResponse,
    ) -> impl Fn(u64) -> std::pin::Pin<Box<dyn Future<Output = Result<(), tonic::Status>> + Send>>
    + Clone
    + Send
    + Sync
    + 'static
    + use<> {
        let channel = self.echo.channel();
        move |_| {
            let (channel, message) = (channel.clone(), message.clone());
            Box::pin(async move { echo::call(channel, message).await.map(drop) })
        }
    }

    /// Events of the brain.
    fn nodes(&self) -> Outcome<u64> {
        let request = v1::GetStatusRequest {};
        let status = self
            .runtime
            .block_on(self.client.admin().get_status(request))?;
        let brains = status.into_inner().brains;
        let brain = brains.iter().find(|brain| brain.brain == BRAIN);
        Ok(brain.ok_or("the daemon has closed the brain")?.events)
    }
}

/// Calls Similar for one event after the other, until a call is refused.
async fn compare(client: Client, nodes: u64) -> tonic::Status {
    for n in 0.. {
        let request = v1::SimilarRequest {
            brain: BRAIN.into(),
            like: Some(v1::similar_request::Like::EventId(7_919 * n % nodes)),
            ..Default::default()
        };
        if let Err(refusal) = client.queries().similar(request).await {
            return refusal;
        }
    }
    tonic::Status::unknown("no call is left")
}

fn get(id: u64) -> v1::GetEventsRequest {
    v1::GetEventsRequest {
        brain: BRAIN.into(),
        event_ids: vec![id],
        ..Default::default()
    }
}
