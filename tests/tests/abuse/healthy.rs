//! Callers that are well-behaved: they read and write at their pace, and none of their calls may fail.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amem_client::{Client, Tls, v1};
use hdrhistogram::Histogram;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Events that are there before all.
const EVENTS: u64 = 4000;
/// Callers that read, each on a connection of its own.
const READERS: u64 = 2;
/// How long a caller does something else between two calls.
const PACE: Duration = Duration::from_millis(2);

/// How long calls took in a span of time.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) get_p50: Duration,
    pub(crate) get_p99: Duration,
    pub(crate) ingest_p50: Duration,
    pub(crate) ingest_p99: Duration,
}

/// Microseconds.
type Times = Arc<Mutex<Histogram<u64>>>;

/// How they reach the daemon.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// By its socket.
    Socket(PathBuf),
    /// By TLS: an address, a token, and the authority.
    Tls(String, String, Tls),
}

impl Way {
    /// Connects one.
    pub(crate) async fn connect(&self) -> Client {
        match self {
            Self::Socket(path) => Client::connect_unix(path).await.unwrap(),
            Self::Tls(address, token, tls) => {
                let connected = Client::connect_tcp(address, Some(token), Some(tls.clone()));
                connected.await.unwrap()
            }
        }
    }
}

/// The callers.
pub(crate) struct Healthy {
    runtime: Runtime,
    ended: Arc<AtomicBool>,
    gets: Times,
    ingests: Times,
    callers: Vec<JoinHandle<()>>,
}

fn times() -> Times {
    Arc::new(Mutex::new(Histogram::new(3).unwrap()))
}

fn ingest(brain: &str, texts: impl Iterator<Item = String>) -> v1::IngestRequest {
    let event = |text| v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text,
        ..Default::default()
    };
    v1::IngestRequest {
        brain: brain.into(),
        events: texts.map(event).collect(),
        ..Default::default()
    }
}

impl Healthy {
    /// Makes the brain, and starts them.
    pub(crate) fn start(way: &Way, brain: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let client = runtime.block_on(way.connect());
        runtime.block_on(async {
            let request = v1::CreateBrainRequest {
                brain: brain.into(),
                ..Default::default()
            };
            client.brains().create_brain(request).await.unwrap();
            let text = |n| format!("event {n} of a brain that others would like to read in peace");
            for first in (0..EVENTS).step_by(500) {
                let request = ingest(brain, (first..first + 500).map(text));
                client.memory().ingest(request).await.unwrap();
            }
        });
        let mut healthy = Self {
            ended: Arc::new(AtomicBool::new(false)),
            gets: times(),
            ingests: times(),
            callers: Vec::new(),
            runtime,
        };
        for reader in 0..READERS {
            healthy.call(
                way,
                healthy.gets.clone(),
                brain,
                move |client, brain, n| async move {
                    let request = v1::GetEventsRequest {
                        brain,
                        event_ids: (0..10)
                            .map(|at| (n * 37 + at * 11 + reader) % EVENTS)
                            .collect(),
                        ..Default::default()
                    };
                    let answer = client.queries().get_events(request).await.unwrap();
                    assert_eq!(answer.into_inner().events.len(), 10);
                },
            );
        }
        healthy.call(
            way,
            healthy.ingests.clone(),
            brain,
            |client, brain, n| async move {
                let request = ingest(&brain, std::iter::once(format!("noted meanwhile: {n}")));
                client.memory().ingest(request).await.unwrap();
            },
        );
        healthy
    }

    /// Starts one that calls again and again.
    fn call<F>(
        &mut self,
        way: &Way,
        times: Times,
        brain: &str,
        one: impl Fn(Client, String, u64) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let client = self.runtime.block_on(way.connect());
        let (brain, ended) = (brain.to_owned(), self.ended.clone());
        self.callers.push(self.runtime.spawn(async move {
            for n in 0.. {
                let begun = Instant::now();
                one(client.clone(), brain.clone(), n).await;
                let took = begun.elapsed().as_micros() as u64;
                times.lock().unwrap().record(took.max(1)).unwrap();
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                tokio::time::sleep(PACE).await;
            }
        }));
    }

    /// Lets them go on for a while; how long their calls took.
    pub(crate) fn window(&self, span: Duration) -> Window {
        for times in [&self.gets, &self.ingests] {
            times.lock().unwrap().reset();
        }
        std::thread::sleep(span);
        let failed = self.callers.iter().any(JoinHandle::is_finished);
        assert!(!failed, "a caller that is well-behaved was not served");
        let at = |times: &Times, q| {
            let times = times.lock().unwrap();
            assert!(!times.is_empty(), "nobody was answered for {span:?}");
            Duration::from_micros(times.value_at_quantile(q))
        };
        Window {
            get_p50: at(&self.gets, 0.5),
            get_p99: at(&self.gets, 0.99),
            ingest_p50: at(&self.ingests, 0.5),
            ingest_p99: at(&self.ingests, 0.99),
        }
    }

    /// Ends them; none may have failed.
    pub(crate) fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        for caller in self.callers {
            self.runtime.block_on(caller).unwrap();
        }
    }
}
