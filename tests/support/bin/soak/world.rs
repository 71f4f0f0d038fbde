//! What all that goes on has in common: the brains, how long calls take, and what was wrong.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_locks::LockResultExt;
use amem_tests::daemon::DaemonHome;
use amem_tests::ledger::Receipt;
use hdrhistogram::Histogram;
use tonic::{Code, Response, Status};

use crate::noted::MixedBrain;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Brains to which only writers with ledgers add events.
pub(crate) const LEDGERS: [&str; 3] = ["ledger-0", "ledger-1", "ledger-2"];
/// The brain of sessions, summaries and erases.
pub(crate) const MIXED: &str = "mixed";
/// The brain whose file is put into the folder again and again.
pub(crate) const SEED: &str = "seed";
/// Events of that.
pub(crate) const SEED_EVENTS: u64 = 200;
/// Writers of each brain with a ledger.
const WRITERS: usize = 2;
/// Requests of a writer, at most: in a day no more than in an hour or so, as all are held in memory in the end.
const REQUESTS_MAX: u32 = 100_000;
/// How long a request may stay without an answer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) place: DaemonHome,
    pub(crate) client: Client,
    pub(crate) seed: u64,
    /// How long it all takes.
    pub(crate) lasts: Duration,
    pub(crate) ended: AtomicBool,
    /// A file of the brain that is put into the folder.
    pub(crate) seed_file: PathBuf,
    times: Mutex<BTreeMap<&'static str, Histogram<u64>>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    wrong: Mutex<Vec<String>>,
    noted: Mutex<MixedBrain>,
}

/// New events of these texts.
pub(crate) fn events(texts: impl IntoIterator<Item = String>) -> Vec<v1::NewEvent> {
    let event = |text| v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text,
        ..Default::default()
    };
    texts.into_iter().map(event).collect()
}

/// A text that a merge brings into the mixed brain.
pub(crate) fn brought(n: u64) -> String {
    format!("brought from elsewhere: {n}")
}

impl World {
    /// Makes the brains.
    pub(crate) async fn new(
        place: DaemonHome,
        seed: u64,
        lasts: Duration,
    ) -> Result<Self, Failure> {
        let client = Client::connect_unix(place.socket()).await?;
        for brain in LEDGERS.into_iter().chain([MIXED, SEED]) {
            let request = v1::CreateBrainRequest {
                brain: brain.into(),
                ..Default::default()
            };
            client.brains().create_brain(request).await?;
        }
        let request = v1::IngestRequest {
            brain: SEED.into(),
            events: events((0..SEED_EVENTS).map(brought)),
            ..Default::default()
        };
        client.memory().ingest(request).await?;
        let request = v1::CheckpointBrainRequest { brain: SEED.into() };
        client.brains().checkpoint_brain(request).await?;
        let seed_file = place.run().join("seed.amem");
        fs::copy(place.folder().join(format!("{SEED}.amem")), &seed_file)?;
        Ok(Self {
            place,
            client,
            seed,
            lasts,
            ended: AtomicBool::new(false),
            seed_file,
            times: Mutex::default(),
            counts: Mutex::default(),
            wrong: Mutex::default(),
            noted: Mutex::default(),
        })
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Notes what should not be.
    pub(crate) fn wrong(&self, what: String) {
        let mut wrong = self.wrong.lock().unpoisoned();
        if wrong.len() < 1000 {
            wrong.push(what);
        }
    }

    pub(crate) fn all_wrong(&self) -> Vec<String> {
        self.wrong.lock().unpoisoned().clone()
    }

    /// Leaves what is known of the mixed brain.
    pub(crate) fn note(&self, noted: MixedBrain) {
        *self.noted.lock().unpoisoned() = noted;
    }

    pub(crate) fn noted(&self) -> MixedBrain {
        self.noted.lock().unpoisoned().clone()
    }

    pub(crate) fn add(&self, what: &'static str) {
        *self.counts.lock().unpoisoned().entry(what).or_default() += 1;
    }

    pub(crate) fn count(&self, what: &'static str) -> u64 {
        self.counts
            .lock()
            .unpoisoned()
            .get(what)
            .copied()
            .unwrap_or(0)
    }

    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = self.counts.lock().unpoisoned();
        counts.iter().map(|(what, count)| (*what, *count)).collect()
    }

    fn took(&self, call: &'static str, time: Duration) {
        let mut times = self.times.lock().unpoisoned();
        // It grows as it has to.
        let new = || Histogram::new(3).unwrap_or_else(|e| panic!("three digits: {e}"));
        let histogram = times.entry(call).or_insert_with(new);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
        if let Err(why) = histogram.record(micros) {
            self.wrong(format!("{call} took {time:?}: {why}"));
        }
    }

    /// Asks until there is an answer; nothing if it is refused, which is wrong, or if the end comes first.
    pub(crate) async fn done<T>(
        &self,
        call: &'static str,
        ask: impl AsyncFn() -> Result<Response<T>, Status>,
    ) -> Option<T> {
        let began = Instant::now();
        loop {
            let asked = Instant::now();
            let status = match ask().await {
                Ok(answer) => {
                    self.took(call, asked.elapsed());
                    return Some(answer.into_inner());
                }
                Err(status) => status,
            };
            if !Self::passes(&status) {
                self.wrong(format!("{call}: {status}"));
                return None;
            }
            if self.has_ended() {
                return None;
            }
            if began.elapsed() > PATIENCE {
                self.wrong(format!("{call}: not answered for {PATIENCE:?}: {status}"));
                return None;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// True of what will be answered later.
    pub(crate) fn passes(status: &Status) -> bool {
        // A refusal carries details, a connection that was lost none.
        let passes = matches!(status.code(), Code::Unavailable | Code::ResourceExhausted);
        passes || status.details().is_empty()
    }

    pub(crate) fn tell_latencies(&self, said: &mut String) {
        for (call, times) in self.times.lock().unpoisoned().iter() {
            let at = |q| times.value_at_quantile(q) as f64 / 1000.0;
            let _ = write!(
                said,
                "\n{call:20} {:9} answers, p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, most {:.1} ms",
                times.len(),
                at(0.5),
                at(0.99),
                at(0.999),
                times.max() as f64 / 1000.0
            );
        }
    }
}

/// The writers with ledgers, as processes.
pub(crate) struct Writers(Vec<(usize, Writer)>);

struct Writer {
    child: Child,
    ledger: PathBuf,
}

impl Writers {
    /// Those of a half: they wait at least so long after each request.
    pub(crate) fn start(world: &World, half: &str, pause: Duration) -> Result<Self, Failure> {
        let program = std::env::current_exe()?.with_file_name("amem-writer");
        let pause = (world.lasts / REQUESTS_MAX).max(pause);
        let mut writers = Vec::new();
        for n in 0..LEDGERS.len() * WRITERS {
            let (brain, name) = (n / WRITERS, format!("writer-{n} of the {half} half"));
            let ledger = world.place.run().join(format!("{half}-{n}"));
            let mut command = Command::new(&program);
            command.arg(world.place.socket()).arg(LEDGERS[brain]);
            command.arg(name);
            command
                .arg((world.seed + n as u64).to_string())
                .arg(&ledger);
            command.arg(format!("pause={}", pause.as_millis()));
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            let child = command.spawn()?;
            writers.push((brain, Writer { child, ledger }));
        }
        Ok(Self(writers))
    }

    /// Lets each be answered what it asked; gives the ledgers of each brain.
    pub(crate) fn end(mut self) -> Result<Vec<Vec<Vec<Receipt>>>, Failure> {
        for (_, writer) in &mut self.0 {
            drop(writer.child.stdin.take());
        }
        let mut ledgers: Vec<_> = LEDGERS.map(|_| Vec::new()).into();
        for (brain, writer) in &mut self.0 {
            let status = writer.child.wait()?;
            if !status.success() {
                return Err(format!("a writer of {}: {status}", LEDGERS[*brain]).into());
            }
            let ledger = fs::read_to_string(&writer.ledger)?;
            let told = ledger.lines().map(serde_json::from_str);
            ledgers[*brain].push(told.collect::<Result<Vec<Receipt>, _>>()?);
        }
        Ok(ledgers)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
